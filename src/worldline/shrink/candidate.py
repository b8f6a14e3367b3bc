"""Running a candidate: what is wanted of a run, under the network as it is declared.

A step that cannot happen is absent, and is left out; what was executed counts, up to the
first state that violates. So every run that comes out of here is a real one. It begins
where the candidate first differs from the run that it was made of.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.shrink.matching import Matching, Rung
from worldline.shrink.steps import DELIVERIES, Sending, ShrunkStep, Size, size_of
from worldline.shrink.target import ShrinkTarget
from worldline.shrink.transit import Transit
from worldline.worlds.remembered import (
    Parcel,
    RememberedEvent,
    RememberedRun,
    RememberedState,
)
from worldline.worlds.remembering import RememberingWorld
from worldline.worlds.world import Snapshot

BEFORE = -1
"""The place of whatever sent a message before the run begins."""

_FEWEST_BETWEEN = 16
"""Steps between two marks: to make one takes about as long as so many steps."""


class Candidate(NamedTuple):
    """What is tried: steps of the best run, in any order, or new ones; how they match."""

    wanted: Sequence[ShrunkStep]
    matching: Matching


class Mark(NamedTuple):
    """A state on a run, to begin candidates in."""

    place: int
    moment: RememberedState
    transit: Transit


@final
@dataclass(frozen=True, slots=True)
class ShrunkRun:
    """A run that violates what it is to violate, in its last step.

    Attributes
    ----------
    steps
        What was executed.
    size
        How large it is.
    marks
        Some of its states, in order; the first is that before it.
    """

    steps: tuple[ShrunkStep, ...]
    size: Size
    marks: tuple[Mark, ...]


@final
class CandidateRunner:
    """Runs candidates from one initial state.

    Parameters
    ----------
    system
        The system, whose network and budgets decide what can happen.
    snapshot
        The state in which runs begin.
    target
        What they are to violate.

    Attributes
    ----------
    executed
        Events that have been executed so far, for whatever.
    """

    def __init__(
        self, system: System, snapshot: Snapshot, target: ShrinkTarget
    ) -> None:
        self.world = RememberingWorld(system)
        self.world.restore(snapshot)
        self.executed = 0
        self._snapshot = snapshot
        self._target = target
        target.begin(self.world)
        transit = Transit(system)
        number = 0
        for index in range(len(system.ids)):
            for envelope in self.world.cells[system.layout.inbox(index)].envelopes():
                transit.add((BEFORE, number), Parcel(index, envelope))
                number += 1
        self._first = Mark(0, self.world.moment(), transit)

    def of_system(self, system: System) -> CandidateRunner:
        """Return one for another system with the same nodes, which begins likewise."""
        other = CandidateRunner(system, self._snapshot, copy.copy(self._target))
        other.executed = self.executed
        return other

    def of_schedule(
        self, schedule: Iterable[tuple[Event, Choices]]
    ) -> ShrunkRun | None:
        """Return a recorded run; None if it does not violate what it is to violate."""
        steps = [
            ShrunkStep(self.world.known(event), choices, None, place)
            for place, (event, choices) in enumerate(schedule)
        ]
        matching = Matching("as it was", (Rung.CONTENT,), flushes=False)
        ended = self.run(steps, matching, None)
        return None if ended is None else self.marked(ended, None)

    def step(self, event: Event, choices: Choices = ()) -> ShrunkStep:
        """Return a step that is of no run: found by what it says."""
        return ShrunkStep(self.world.known(event), choices, None, BEFORE)

    def run(
        self, wanted: Sequence[ShrunkStep], matching: Matching, base: ShrunkRun | None
    ) -> tuple[ShrunkStep, ...] | None:
        """Run a candidate; return what was executed, if that violates the target.

        Parameters
        ----------
        wanted
            Steps of `base`, in any order, or new ones.
        base
            Where the steps are from; a run that is larger is given up.
        """
        steps, is_met = self.executed_of(wanted, matching, base)
        return steps if is_met else None

    def executed_of(
        self, wanted: Sequence[ShrunkStep], matching: Matching, base: ShrunkRun | None
    ) -> tuple[tuple[ShrunkStep, ...], bool]:
        """Run a candidate; return what was executed, and whether it violates the target.

        Parameters are those of `run`.
        """
        attempt = _Attempt(self, matching, base, wanted)
        is_met = attempt.go()
        self.executed += attempt.cost
        return tuple(attempt.steps), is_met

    def marked(
        self,
        steps: tuple[ShrunkStep, ...],
        base: ShrunkRun | None,
        places: Collection[int] | None = None,
    ) -> ShrunkRun:
        """Return an executed run with marks; those that `base` has, are taken from it.

        Parameters
        ----------
        places
            Where the marks are; None for those of `base`, and as many as are worth it.
        """
        shared = 0 if base is None else _shared(steps, base.steps)
        old = () if base is None else base.marks
        marks = [self._first, *(mark for mark in old if 0 < mark.place <= shared)]
        if places is not None:
            missing = min(
                {*places} - {mark.place for mark in marks}, default=len(steps)
            )
            marks = [m for m in marks if m.place in places and m.place < missing]
        world, last = self.world, marks[-1]
        world.go_back(last.moment)
        transit = last.transit.copy()
        apart = max(_FEWEST_BETWEEN, len(steps) // 32)
        for step in steps[last.place : -1]:
            run = world.happen(step.known, step.choices)
            assert run is not None, step
            note(transit, world, step.known, run, step.sending, step.place)
            self.executed += 1
            place = step.place + 1
            is_due = place - marks[-1].place >= apart
            if is_due if places is None else place in places:
                marks.append(Mark(place, world.moment(), transit.copy()))
        return ShrunkRun(steps, size_of(steps), tuple(marks))

    def states(self, run: ShrunkRun) -> list[tuple[Frozen, ...]]:
        """Return the state before each step of a run, and after the last."""
        world = self.world
        world.go_back(run.marks[0].moment)
        states: list[tuple[Frozen, ...]] = [world.snapshot()]
        for step in run.steps:
            world.happen(step.known, step.choices)
            states.append(world.snapshot())
        self.executed += len(run.steps)
        return states

    def outcomes(
        self, run: ShrunkRun
    ) -> tuple[list[tuple[Event, Outcome]], Snapshot | None]:
        """Return what each step of a run did, and the last state; None after a failure."""
        world = self.world
        world.go_back(run.marks[0].moment)
        done: list[tuple[Event, Outcome]] = []
        for step in run.steps:
            happened = world.happen(step.known, step.choices)
            assert happened is not None, step
            done.append((step.known.event, happened.outcome))
        return done, None if world.failure is not None else world.snapshot()


def _shared(steps: Sequence[ShrunkStep], others: Sequence[ShrunkStep]) -> int:
    """Return how many steps two runs have in common, from the beginning."""
    for place, (one, other) in enumerate(zip(steps, others, strict=False)):
        if one.known is not other.known or one.choices != other.choices:
            return place
    return min(len(steps), len(others))


def is_taken(
    executed: Sequence[ShrunkStep], best: ShrunkRun, *, sideways: bool
) -> bool:
    """Say whether an executed run takes the place of the best one.

    Parameters
    ----------
    sideways
        Whether one that is as large does, if it is another.
    """
    size = size_of(executed)
    if size < best.size:
        return True
    if size.length != best.size.length or not sideways:
        return False
    return any(
        one.known is not other.known
        for one, other in zip(executed, best.steps, strict=True)
    )


def note(
    transit: Transit,
    world: RememberingWorld,
    known: RememberedEvent,
    run: RememberedRun,
    sending: Sending | None,
    place: int,
) -> None:
    """Note what a step that has happened took, sent and lost."""
    event = known.event
    kind = event.kind
    if event.envelope is not None:
        if kind.takes_message:
            transit.take(known.index, event.envelope, sending)
        elif kind.doubles_message:
            transit.double(known.index, event.envelope, sending)
    if run.parcels:
        transit.put(place, run.parcels)
    if kind.flushes:
        transit.look_again(world)


@final
class _Attempt:
    """One candidate while it runs."""

    def __init__(
        self,
        runner: CandidateRunner,
        matching: Matching,
        base: ShrunkRun | None,
        wanted: Sequence[ShrunkStep],
    ) -> None:
        self._world = runner.world
        self._target = runner._target
        self._matching = matching
        self._wanted = wanted
        begin = runner._first
        before: tuple[ShrunkStep, ...] = ()
        self._most: int | None = None
        if base is not None:
            shared = 0
            for one, other in zip(wanted, base.steps, strict=False):
                if one is not other:
                    break
                shared += 1
            begin = [m for m in base.marks if m.place <= shared][-1]
            before = base.steps[: begin.place]
            self._most = base.size.deliveries
        self._from = begin.place
        self.steps: list[ShrunkStep] = [*before]
        self._moved = {place: place for place in range(begin.place)}
        self._moved[BEFORE] = BEFORE
        self._deliveries = size_of(before).deliveries
        self._world.go_back(begin.moment)
        self._transit = begin.transit.copy()

    @property
    def cost(self) -> int:
        """Events that were executed."""
        return len(self.steps) - self._from

    def go(self) -> bool:
        """Run; say whether the target was met, and no later than it was before."""
        if self._target.is_met():
            return True
        for step in self._wanted[self._from :]:
            known = step.known
            if known.event.kind is Kind.DELIVER:
                met = self._deliver(step)
            else:
                sending = self._sending(step)
                met = self._happen(known, step.choices, sending, step.place)
            if met:
                return True
            if self._world.failure is not None or self._is_too_long():
                return False
        return False

    def _is_too_long(self) -> bool:
        return self._most is not None and self._deliveries > self._most

    def _sending(self, step: ShrunkStep) -> Sending | None:
        if step.sending is None:
            return None
        moved = self._moved.get(step.sending[0])
        return None if moved is None else (moved, step.sending[1])

    def _deliver(self, step: ShrunkStep) -> bool:
        """Deliver what matches, after what stands before it, if that is to be."""
        event, sending = step.known.event, self._sending(step)
        to, envelope = step.known.index, event.envelope
        assert envelope is not None
        for rung in self._matching.rungs:
            mailing = self._transit.find(rung, to, envelope, sending)
            if mailing is not None:
                return self._deliver_item(step, to, mailing)
        return False

    def _deliver_item(
        self, step: ShrunkStep, to: int, mailing: tuple[Sending, Envelope]
    ) -> bool:
        world = self._world
        mailbox = world.cells[world.system.layout.inbox(to)]
        if self._matching.flushes and not mailbox.is_ready(mailing[1]):
            queue = self._transit.queue(to, mailing[1].src)
            ahead = queue[: queue.index(mailing)] if mailing in queue else []
            for sending, envelope in ahead:
                if mailbox.is_ready(mailing[1]):
                    break
                first = world.delivery(Parcel(to, envelope))
                if self._happen(first, (), sending, None):
                    return True
                if world.failure is not None or self._is_too_long():
                    return False
        known = world.delivery(Parcel(to, mailing[1]))
        return self._happen(known, step.choices, mailing[0], step.place)

    def _happen(
        self,
        known: RememberedEvent,
        choices: Choices,
        sending: Sending | None,
        wanted: int | None,
    ) -> bool:
        """Let an event happen, if it can; say whether the target is met then."""
        world = self._world
        run = world.happen(known, choices)
        if run is None:
            return False
        place = len(self.steps)
        if known.event.envelope is not None:
            # Of equal messages nobody knows which one it was; so it is the same for
            # whoever runs the same events.
            sending = self._oldest(known)
        taken = run.outcome.choices
        self.steps.append(ShrunkStep(known, taken, sending, place))
        if known.event.kind in DELIVERIES:
            self._deliveries += 1
        if wanted is not None and wanted >= 0:
            self._moved[wanted] = place
        note(self._transit, world, known, run, sending, place)
        return self._target.is_met()

    def _oldest(self, known: RememberedEvent) -> Sending | None:
        """Return the sending of the message that an event is about."""
        envelope = known.event.envelope
        assert envelope is not None
        for sending, other in self._transit.queue(known.index, envelope.src):
            if other == envelope:
                return sending
        return None
