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

from worldline.model.absent import is_partial
from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.shrink.attempt import BEFORE, Attempt, note
from worldline.shrink.matching import Matching, Rung
from worldline.shrink.steps import ShrunkStep, Size, size_of
from worldline.shrink.target import ShrinkTarget
from worldline.shrink.transit import Transit
from worldline.shrink.wishes import Wanted
from worldline.worlds.remembered import RememberedState
from worldline.worlds.remembering import RememberingWorld
from worldline.worlds.world import Snapshot

_FEWEST_BETWEEN = 16
"""Steps between two marks: to make one takes about as long as so many steps."""


class Candidate(NamedTuple):
    """What is tried: steps of the best run, in any order, or new ones; how they match."""

    wanted: Sequence[ShrunkStep]
    matching: Matching


class Mark(NamedTuple):
    """A state on a run, to begin candidates in, after so many deliveries."""

    place: int
    moment: RememberedState
    transit: Transit
    deliveries: int = 0


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
    target
        Asked about the present state of its world.
    executed
        Events that have been executed so far, for whatever.
    assumed
        What the system assumes of each state from which a run goes on; None if nothing.
    """

    def __init__(
        self, system: System, snapshot: Snapshot, target: ShrinkTarget
    ) -> None:
        partial = snapshot if is_partial(system, snapshot) else None
        self.world = RememberingWorld(system, partial)
        self.world.restore(snapshot)
        self.executed = 0
        self._snapshot = snapshot
        self.target = target
        target.begin(self.world)
        assumed = assumption(system)
        self.assumed = None if assumed is None else self.world.decision(assumed)
        transit = Transit(system)
        number = 0
        for index in range(len(system.ids)):
            for envelope in self.world.cells[system.layout.inbox(index)].envelopes():
                transit.add((BEFORE, number), self.world.parcel(index, envelope))
                number += 1
        self._first = Mark(0, self.world.moment(), transit)

    def of_system(self, system: System) -> CandidateRunner:
        """Return one for another system with the same nodes, which begins likewise."""
        other = CandidateRunner(system, self._snapshot, copy.copy(self.target))
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
        self,
        wanted: Sequence[Wanted],
        matching: Matching,
        base: ShrunkRun | None,
        *,
        most: int | None = None,
    ) -> tuple[ShrunkStep, ...] | None:
        """Run a candidate; return what was executed, if that violates the target.

        Parameters
        ----------
        wanted
            Steps of `base`, in any order, or new ones.
        base
            Where the steps are from.
        most
            Deliveries, after which a run is given up; as many as `base` has, if nothing
            is said.
        """
        steps, is_met = self.executed_of(wanted, matching, base, most=most)
        return steps if is_met else None

    def executed_of(
        self,
        wanted: Sequence[Wanted],
        matching: Matching,
        base: ShrunkRun | None,
        *,
        most: int | None = None,
    ) -> tuple[tuple[ShrunkStep, ...], bool]:
        """Run a candidate; return what was executed, and whether it violates the target.

        Parameters are those of `run`.
        """
        begin = self._first
        before: tuple[ShrunkStep, ...] = ()
        if base is not None:
            begin = _last_shared(wanted, base)
            before = base.steps[: begin.place]
            most = base.size.deliveries if most is None else most
        attempt = Attempt(
            self.world,
            self.target,
            matching,
            wanted[begin.place :],
            before,
            begin.deliveries,
            most,
            self.assumed,
        )
        is_met = attempt.go(begin.moment, begin.transit.copy())
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
        transit, deliveries = last.transit.copy(), last.deliveries
        apart = max(_FEWEST_BETWEEN, len(steps) // 32)
        for step in steps[last.place : -1]:
            run = world.happen(step.known, step.choices)
            assert run is not None, step
            note(transit, world, step.known, run, step.sending, step.place)
            self.executed += 1
            place = step.place + 1
            deliveries += step.known.is_delivery
            is_due = place - marks[-1].place >= apart
            if is_due if places is None else place in places:
                state = world.moment()
                marks.append(Mark(place, state, transit.copy(), deliveries))
        return ShrunkRun(steps, size_of(steps), tuple(marks))

    def locals_left(self, run: ShrunkRun) -> list[Frozen]:
        """Return the local state of its node after each step; None if it has no node."""
        world = self.world
        world.go_back(run.marks[0].moment)
        left: list[Frozen] = []
        for step in run.steps:
            world.happen(step.known, step.choices)
            column = step.known.column
            left.append(None if column < 0 else world.frozen(column))
        self.executed += len(run.steps)
        return left

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


def assumption(system: System) -> Property | None:
    """Return what a system assumes of each state from which a run goes on."""
    if system.assume is None:
        return None
    return Property("assume", PropertyKind.SAFETY, system.assume, "predicate")


def _shared(steps: Sequence[ShrunkStep], others: Sequence[ShrunkStep]) -> int:
    """Return how many steps two runs have in common, from the beginning."""
    for place, (one, other) in enumerate(zip(steps, others, strict=False)):
        if one.known is not other.known or one.choices != other.choices:
            return place
    return min(len(steps), len(others))


def _last_shared(wanted: Sequence[Wanted], base: ShrunkRun) -> Mark:
    """Return the last mark of a run before a candidate begins to differ from it."""
    wanted, last = tuple(wanted), base.marks[0]
    for mark in base.marks[1:]:
        # Steps are equal only to themselves, and tuples are compared without Python code.
        if wanted[last.place : mark.place] != base.steps[last.place : mark.place]:
            break
        last = mark
    return last
