"""The run of one seed, judged as it goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from operator import attrgetter
from typing import final

from worldline.engine.bounds import bound_that_ended
from worldline.model.gauges import first_instruments, fold
from worldline.model.properties import Property, PropertyKind
from worldline.runs.lamport import LamportClock
from worldline.runs.spans import SpanWatch
from worldline.search.simulating.recording import Recording
from worldline.search.simulating.sampling import Sampler
from worldline.search.simulating.tally import FAILED, Question, SeedTally
from worldline.worlds.lasting import lasting, made_to_last
from worldline.worlds.simulation import Simulation
from worldline.worlds.standing import Standing, StandingAnswer

_LOOK = 256
"""Events between two looks at time and memory."""


@final
class JudgedRun:
    """One run in which properties are judged.

    Parameters
    ----------
    look
        Raises if the time or memory of the process is used up.
    detailed
        Whether to keep the spans in which properties are false, and not only to count
        them.
    lamport
        Whether to keep the Lamport times of steps, though no gauge asks for them.
    """

    def __init__(
        self,
        question: Question,
        seed: int,
        look: Callable[[], None],
        *,
        detailed: bool = False,
        lamport: bool = False,
    ) -> None:
        self.tally = SeedTally(seed)
        self._question = question
        self._look = look
        self._companions = question.companions_of(seed)
        with made_to_last():
            self.simulation = Simulation(
                question.system,
                question.conditions,
                seed,
                look,
                companions=self._companions,
            )
        world, gauges = self.simulation.world, question.system.gauges
        self._instruments = first_instruments(gauges)
        world.attach(self._instruments)
        self._sampler: Sampler | None = None
        if question.sample is not None:
            parts = self.simulation, self._instruments, question.sample
            self._sampler = Sampler(*parts)
        self._standing = Standing(world, world.series)
        world.then = self._standing.settle_at
        # What is asked seldom is compared as seldom, for all that happened in between.
        self._standing_late = Standing(world, world.series)
        self._touched: set[int] = set()
        self._first = question.system.layout.first
        self._watches = {
            number: SpanWatch(prop, world, detailed=detailed, series=world.series)
            for number, prop in enumerate(question.wanted)
            if prop.kind is PropertyKind.LIVENESS
        }
        lamport = lamport or any(one.asks_lamport for one in gauges)
        self._lamport = LamportClock(world) if lamport else None
        self._step: tuple[int, int | None] = (0, None)
        self._numbers = {watch: number for number, watch in self._watches.items()}
        self._followed = list(self._watches.values())
        self._followed_late: list[SpanWatch] = []
        self._at_once = [
            (number, self._standing_of(prop).of_property(prop))
            for number, prop in enumerate(question.wanted)
        ]
        self._late: list[tuple[int, StandingAnswer[bool]]] = []
        self._is_sorted = question.interval is None
        self._keep: Callable[[], None] = lambda: None
        self._ticks = 0
        self._is_safety = [p.kind is PropertyKind.SAFETY for p in question.wanted]

    def run(self, recording: Recording | None = None) -> SeedTally:
        """Run to the first violation, or to the end."""
        tally, simulation = self.tally, self.simulation
        with lasting() as keep, simulation.world.series:
            self._keep = keep
            ended = bound_that_ended(lambda: self._judge_and_run(recording))
        tally.bound = ended or tally.bound
        for number, watch in self._watches.items():
            watch.end()
            tally.alarms[number], tally.spans[number] = watch.alarms, watch.spans()
        tally.befell = simulation.befell
        tally.virtual = self._instruments.time
        if tally.violated is None:
            tally.virtual = simulation.now
        if self._sampler is not None:
            self._sampler.end(tally.virtual)
            tally.samples = self._sampler.samples
        if self._question.tell is not None:
            tally.told = self._question.tell(self._companions)
        tally.sent, tally.lost = simulation.courier.sent, simulation.courier.lost
        return tally

    def _judge_and_run(self, recording: Recording | None) -> None:
        """Judge where no node has started yet, if that is a state, and run."""
        is_state = self._question.system.boot == "events"
        if not (is_state and self._at_once and self._violates()):
            self._run(recording)

    def _run(self, recording: Recording | None) -> None:
        question, simulation, tally = self._question, self.simulation, self.tally
        system, interval = question.system, question.interval
        boots = len(system.ids) if system.boot == "before" else 0
        agenda, instruments = simulation.agenda, self._instruments
        advance, world, last = simulation.advance, simulation.world, question.events
        nodes, forms, answers = self._standing.unsettled
        watches, has_watches = self._standing.watches, bool(self._watches)
        count, tick, done = 0, 0.0, 0
        until = question.seconds if interval is None else 0.0
        follows = bool(
            question.system.gauges or self._lamport or self._watches or self._sampler
        )
        while True:
            if self._followed:
                has_happened = self._advance(until)
            else:
                has_happened = advance(until)
                instruments.time = agenda.now
            if not has_happened:
                if self._is_over(until):
                    return
                tick += interval or 0.0
                until = min(tick, question.seconds)
                continue
            count += 1
            if recording is not None:
                happened = simulation.event, simulation.outcome(), simulation.now
                recording.add(*happened, simulation.steer)
            if world.failure is not None:
                tally.events = max(0, count - boots)
                tally.violated = FAILED
                return
            if follows:
                self._take(count - boots)
            if count >= boots:
                tally.events = done = count - boots
                # What `_violates` asks first, and mostly this is all: its node was looked
                # at in the same go.
                stands = (
                    simulation.alone is not None
                    and not (nodes or forms or answers or watches.is_used)
                    and not has_watches
                    and self._is_sorted
                )
                if not stands and self._at_once and self._violates():
                    return
            if done == last:
                tally.bound = None if self._is_due_at_end() else "events"
                return
            if not count % _LOOK:
                self._pause()

    def _pause(self) -> None:
        """Look at time and memory, and forget what was touched if nobody asks for it."""
        self._look()
        if not self._late:
            self.simulation.world.touched.clear()

    def _advance(self, until: float) -> bool:
        """Let the next thing happen; say whether anything did before a time was over.

        Nothing does, either, where something is due before.
        """
        simulation, instruments = self.simulation, self._instruments
        while (
            _is_any_false(self._followed)
            and (planned := simulation.planned(until)) is not None
        ):
            if planned > simulation.now:
                instruments.time = math.nextafter(planned, 0.0)
                if self._is_due(self._followed):
                    return False
            if simulation.advance(planned):
                instruments.time = simulation.now
                return True
        has_happened = simulation.advance(until)
        instruments.time = simulation.agenda.now
        return has_happened

    def _is_over(self, time: float) -> bool:
        """Judge at a time at which nothing happens; say whether the run is over."""
        if self.tally.violated is not None:
            return True
        self._ticks += 1
        if not self._ticks % _LOOK:
            self._look()
        if self._violates_late() or self._is_due(self._followed_late):
            return True
        if self._ticks == 1:
            self._keep()  # all has been asked by now, of all nodes
        if time < self._question.seconds:
            return False
        # Since the last event nothing has changed but the time.
        if not self._is_due(self._followed) and self._at_once:
            self._violates()
        return True

    def _take(self, step: int) -> None:
        """Take the last event into gauges and samples."""
        sampler = self._sampler
        if sampler is not None:
            sampler.go_on(self._instruments.time)
        self._fold(step)
        if sampler is not None:
            sampler.note(max(0, step))

    def _fold(self, step: int) -> None:
        """Fold the last event into the gauges."""
        simulation, gauges = self.simulation, self._question.system.gauges
        if not gauges and self._lamport is None:
            self._step = (step, None)
            return
        clock, lamport = self._lamport, None
        if clock is not None:
            lamport = clock.tick(step, simulation.event, simulation.outcome())
        self._step = (step, lamport)
        if gauges:
            self._standing.look_again(self._take_touched())
            timed, series = simulation.timed_step(lamport), simulation.world.series
            view = self._standing.view
            fold(gauges, self._instruments, timed, view, series, number=step)

    def _is_due_at_end(self) -> bool:
        """Say whether something is due where the run ends with its last event.

        Nobody asks in the midst of a moment: what else happens in it may change the state.
        """
        is_over = self.simulation.planned(self.simulation.now) is None
        return is_over and self._is_due(self._followed)

    def _is_due(self, watches: list[SpanWatch]) -> bool:
        """Say whether something is due by now that was false when it was asked last."""
        if not watches:
            return False
        sure = [watch for watch in watches if watch.is_sure()]
        if sure:
            now, due = self._instruments.time, []
            for watch in sure:
                self._instruments.time = now
                due.append((watch.deadline(), self._numbers[watch]))
            # The run ends with the first of them, and the others are not so sure by then.
            self._instruments.time, self.tally.violated = min(due)
            for watch in watches:
                watch.is_sure()
        for watch in watches:
            watch.note()
        return bool(sure)

    def _violates(self) -> bool:
        """Ask, of what is asked after each event, what may have changed with the last.

        Returns
        -------
        bool
            Whether a property is violated.
        """
        standing, watches = self._standing, self._watches
        if self._question.system.gauges:
            # To fold them, everything was looked at but they themselves.
            stands = standing.stands(())
        elif self.simulation.alone is None or standing.watches.is_used:
            stands = standing.stands(self._take_touched())
        else:
            stands = standing.is_as_before()
        # Of a property that is false and may be, its deadline comes nearer.
        is_waiting = watches and _is_any_false(watches.values())
        if stands and self._is_sorted and not is_waiting:
            return False
        return self._asks(self._at_once)

    def _violates_late(self) -> bool:
        """Do the same with what is asked at intervals."""
        if not self._late:
            return False
        self._take_touched()
        stands = self._standing_late.stands([*self._touched, *self._touched_alone()])
        self._touched.clear()
        if stands and not _is_any_false(self._watches.values()):
            return False
        return self._asks(self._late)

    def _asks(self, asked: list[tuple[int, StandingAnswer[bool]]]) -> bool:
        """Ask each of them; say whether a property is violated."""
        for number, answer in asked:
            holds, is_safety = answer.value(), self._is_safety[number]
            if number in self._watches:
                step, lamport = self._step
                self._watches[number].look(holds=holds, step=step, lamport=lamport)
                continue
            if not holds and is_safety:
                self.tally.violated = number
                return True
            if holds and not is_safety:
                self.tally.reached.setdefault(number, self.tally.events)
        if not self._is_sorted:
            self._sort()
        return False

    def _take_touched(self) -> set[int]:
        """Return the columns that were touched since somebody took them last.

        Of plain handlers those of the last: nobody has to take them after each.
        """
        world, alone = self.simulation.world, self.simulation.alone
        touched, world.touched = world.touched, set()
        if self._late:
            self._touched |= touched
        if alone is not None:
            local = self._first + 3 * alone
            touched.update((local, local + 1))
        return touched

    def _touched_alone(self) -> Iterator[int]:
        """Yield the columns that plain handlers touched since somebody asked last."""
        simulation, first = self.simulation, self._first
        touched, simulation.touched = (
            simulation.touched,
            bytearray(len(simulation.touched)),
        )
        for index in compress(range(len(touched)), touched):
            yield first + 3 * index
            yield first + 3 * index + 1

    def _standing_of(self, prop: Property) -> Standing:
        """Return where a property will probably be asked, as to move it takes long."""
        seldom = self._question.interval is not None and not prop.names_forms
        return self._standing_late if seldom else self._standing

    def _sort(self) -> None:
        """Ask after each event only for what is about each node by itself."""
        self._is_sorted = True
        answers, self._at_once = self._at_once, []
        for number, answer in answers:
            prop = self._question.wanted[number]
            several, standing = (
                (self._at_once, self._standing)
                if answer.has_elements
                else (self._late, self._standing_late)
            )
            if not answer.is_of(standing):
                answer.retire()
                answer = standing.of_property(prop)
            several.append((number, answer))
        self.tally.seldom = tuple(number for number, _ in self._late)
        followed, self._followed = self._followed, []
        for watch in followed:
            # Of the late ones nobody knows whether they are still false.
            watch.is_sampled = self._numbers[watch] in self.tally.seldom
            those = self._followed_late if watch.is_sampled else self._followed
            those.append(watch)


_IS_FALSE = attrgetter("is_false")


def _is_any_false(watches: Iterable[SpanWatch]) -> bool:
    """Say whether a property was false when it was looked at last."""
    return any(map(_IS_FALSE, watches))
