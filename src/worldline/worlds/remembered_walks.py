"""Random walks in the remembering world: like those over tables in every result.

Where states hardly ever come again, tables of them are filled and not read. What a
handler does at a local state comes again much sooner: it is run once, and only if its
event is chosen; the rest happens in place. Random numbers are drawn as over tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from worldline.engine.decisions import Decision
from worldline.engine.schedulers.protocol import Scheduler, Traits, below
from worldline.engine.schedulers.turns import WORDS, SchedulerSession, random_at
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, Reached, WalkEnd
from worldline.model.drawn import is_drawn
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.properties import Property
from worldline.model.usercode.divergence import Suspected
from worldline.worlds.offering import Offering
from worldline.worlds.remembered import RememberedEvent, RememberedRun
from worldline.worlds.remembering import RememberingWorld
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.verdict_classes import ALL_HOLD, VerdictClasses
from worldline.worlds.walks import CannotTell, arguments_drawn

Ran: TypeAlias = Callable[[RememberingWorld, RememberedEvent, RememberedRun], None]

MOST_RUNS = 100_000
"""Executions of handlers that are remembered; then all are forgotten."""


@final
class RememberedWalks:
    """Walks on where handlers are run once; see `DirectWalks` for other parameters.

    Parameters
    ----------
    ran
        Told of what is about to happen, once for each execution that is remembered.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        *,
        seed: int,
        most_steps: int,
        scheduler: Scheduler,
        traits: Callable[[Event], Traits],
        checks: list[Property],
        goal: Property | None = None,
        watches: list[Property] | None = None,
        look: Callable[[], None] | None = None,
        ran: Ran | None = None,
    ) -> None:
        self._tabulated = world
        self._system = world.system
        self._seed = seed
        self._traits = traits
        self._look, self._ran = look, ran
        self._checks, self._goal, self._watches = checks, goal, watches or []
        self.reached: dict[int, Reached] = {}
        self._before = 0  # the work before all was forgotten
        self._scheduler, self._most_steps = scheduler, most_steps
        self._begin_anew()

    def use(self, scheduler: Scheduler, most_steps: int) -> None:
        """Walk with another scheduler and another bound from now on."""
        self._scheduler, self._most_steps = scheduler, most_steps
        self._turns: SchedulerSession[RememberedEvent] = SchedulerSession(
            scheduler,
            lambda known: self._traits(known.event),
            seed=self._seed,
            most_steps=most_steps,
        )

    def _begin_anew(self) -> None:
        """Forget all that is remembered."""
        self._world = world = RememberingWorld(self._system)
        self._offering = Offering(world)
        self._judge = VerdictClasses(world, self._checks)
        self._watching: list[Decision] = [world.decision(p) for p in self._watches]
        self._good = None if self._goal is None else world.decision(self._goal)
        self.use(self._scheduler, self._most_steps)

    @property
    def work(self) -> int:
        """How often a handler was run, or properties were judged, so far."""
        return self._before + self._world.remembered + self._judge.judged

    def go_on(self, start: Row, row: Row, number: int, steps: int) -> Ended:
        """Return how a walk ends that has come to a row in so many steps.

        Parameters
        ----------
        start
            Where it began: there it begins again if its scheduler remembers more than
            the row.

        Raises
        ------
        CannotTell
            If a handler fails, whose outcome has a number in the tables only, or runs
            for so long that it may never return.
        """
        if self._turns.needs_the_beginning:
            row, steps = start, 0
        if self._world.remembered > MOST_RUNS:
            self._before = self.work
            self._begin_anew()
        self._world.restore(self._tabulated.decode(row))
        self._offering.forget()
        self._turns.begin(number)
        try:
            return self._walk(number, steps)
        except Suspected:
            raise CannotTell from None

    def _walk(self, number: int, steps: int) -> Ended:
        world, offering, judge = self._world, self._offering, self._judge
        turns, look = self._turns, self._look
        while True:
            if look is not None:
                look()
            if len(self.reached) < len(self._watching):
                self._note_reached(number, steps)
            false = judge.first_false()
            if false != ALL_HOLD:
                return Ended(number, WalkEnd.HIT, false, steps)
            if self._good is not None and world.verdict(self._good) is True:
                return Ended(number, WalkEnd.GOAL, 0, steps)
            if steps == self._most_steps:
                return Ended(number, WalkEnd.LIMIT, 0, steps)
            offered = [known for known in offering.all() if turns.weight(known)]
            chosen = turns.choose(offered, steps)
            if chosen is None:
                return Ended(number, WalkEnd.STUCK, 0, steps)
            run = world.run_of(chosen, ())
            if run.choices or _is_drawn(chosen.event):
                word = random_at(self._seed, number, steps * WORDS + 1)
                run = world.run_of(chosen, self._drawn(chosen, word))
            if not run.is_taken:
                run.is_taken = True
                if self._ran is not None:
                    self._ran(world, chosen, run)
            world.apply(chosen, run)
            if world.failure is not None:
                raise CannotTell
            offering.look_again(chosen, run)
            steps += 1

    def _note_reached(self, number: int, steps: int) -> None:
        for at, decision in enumerate(self._watching):
            if at not in self.reached and self._world.verdict(decision) is True:
                self.reached[at] = Reached(number, steps)

    def _drawn(self, known: RememberedEvent, word: int) -> Choices:
        """Draw one of all combinations of choices that a handler may make."""
        event = known.event
        if _is_drawn(event):
            # All combinations are as likely, and need not be run to be counted.
            drawn = arguments_drawn(event.payload, word)
            if len(self._world.run_of(known, drawn).choices) <= len(drawn):
                return drawn
        options = self._world.options(known)
        place = below(sum(weight for _, weight in options), word)
        for choices, weight in options:
            if place < weight:
                return choices
            place -= weight
        raise AssertionError("a place beyond all weights")


def _is_drawn(event: Event) -> bool:
    return event.kind is Kind.CALL and is_drawn(event.payload)
