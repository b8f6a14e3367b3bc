"""Level by level: every state that faults can lead to, once, with the fewest of them.

Runs that come to the same state after the same round have the same futures; so one
of them is enough, and of the faults that lead there the fewest. What is promised is
judged in every state; where none breaks a promise, none is broken within the scope.

Notes
-----
With `every`, a state keeps all smallest fault sets that lead to it. No smallest
falsifier is missed: were the part of it that is decided up to a round larger than
another way to the same state, that way would make it smaller. Every fault is decided
in one round: a loss where the message would arrive, a crash where it begins.
Without `every`, the search is first made with at most 0, 1, 2 and 3 faults, as long as
it finds nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias, final

from worldline.engine.bounds import BoundHit
from worldline.lineage.loop import smallest
from worldline.lineage.trials import NO_FAULTS, Budget, Outcome, Progress
from worldline.model.injection.scope import Fault, FaultSet
from worldline.model.injection.stepper import State, Stepper
from worldline.model.verdicts import Verdict

FIRST_LIMITS = (0, 1, 2, 3)
"""Most falsifiers have few faults, and few states can be reached with so few."""

MOST_SETS = 100_000
"""How many smallest falsifiers are kept before the search for all of them ends."""

_Ways: TypeAlias = list[FaultSet]
_Follow: TypeAlias = Callable[[dict[State, _Ways], int], dict[State, _Ways]]


def states(
    stepper: Stepper,
    *,
    every: bool = False,
    budget: Budget | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Search all states of all rounds for a broken promise.

    Parameters
    ----------
    every
        Whether to find all falsifiers that have no other one in them, not only one with
        the fewest faults.

    Returns
    -------
    Outcome
        HOLDS only if every level was finished. Its notes say how many states there are,
        and up to which round, if a bound was hit; `executions` counts the runs of code.

    Raises
    ------
    UsageError
        If the system does what the stepper cannot repeat.
    """
    search = _Search(stepper, budget or Budget(), progress, every=every)
    bound = None
    try:
        search.run()
    except BoundHit as hit:
        bound = hit.bound
    except KeyboardInterrupt:
        bound = "interrupted"
    return search.outcome(bound)


@final
class _Search:
    """One search.

    Attributes
    ----------
    rounds
        How many rounds are finished.
    """

    def __init__(
        self,
        stepper: Stepper,
        budget: Budget,
        progress: Callable[[Progress], None] | None,
        *,
        every: bool,
    ) -> None:
        self._stepper = stepper
        self._budget = budget
        self._progress = progress
        self._every = every
        self._began = time.monotonic()
        self._found: list[FaultSet] = []
        self._states = 0
        self._limit: int | None = None
        self.rounds = 0

    def run(self) -> None:
        """Go through all rounds; for one falsifier, with few faults first."""
        if self._every:
            self._go_through(self._follow_all)
            return
        for limit in (*FIRST_LIMITS, None):
            self._limit = limit
            self._go_through(self._follow_fewest)
            if self._found:
                return

    def _go_through(self, follow: _Follow) -> None:
        self._states = self.rounds = 0
        level: dict[State, _Ways] = {self._stepper.first(): [NO_FAULTS]}
        for number in range(1, self._stepper.scope.eot + 1):
            level = self._judged(follow(level, number), number)
            self.rounds = number
            if not level:
                return

    def outcome(self, bound: str | None) -> Outcome:
        """Return the answer."""
        falsifiers = smallest(self._found)
        if falsifiers:
            verdict = Verdict.VIOLATED
        else:
            verdict = Verdict.HOLDS if bound is None else Verdict.UNKNOWN
        notes = [f"{self._states:,} states in {self.rounds} rounds"]
        if bound is not None:
            eot = self._stepper.scope.eot
            notes = [
                f"{self._states:,} states; rounds 1..{self.rounds} of {eot} are decided"
                + ("" if self._limit is None else f" for up to {self._limit} faults")
            ]
            if not self._every and self._limit != 0:
                fewer = FIRST_LIMITS[-1] if self._limit is None else self._limit - 1
                notes.append(f"with up to {fewer} faults nothing breaks")
        return Outcome(
            verdict=verdict,
            falsifiers=tuple(falsifiers if self._every else falsifiers[:1]),
            executions=self._stepper.executions,
            seconds=time.monotonic() - self._began,
            bound=bound,
            notes=tuple(notes),
        )

    def _follow_fewest(
        self, level: dict[State, _Ways], number: int
    ) -> dict[State, _Ways]:
        """Return the next states, each with one way of the fewest faults."""
        most = self._limit
        if self._found:
            most = min(map(len, self._found)) - 1
        found: dict[State, tuple[Fault, ...]] = {}
        for state, ways in level.items():
            self._check()
            before = tuple(ways[0])
            room = None if most is None else most - len(before)
            if room is not None and room < 0:
                continue
            for following, faults in self._stepper.after(
                state, number, every=False, room=room
            ):
                known = found.get(following)
                if known is None or len(before) + len(faults) < len(known):
                    found[following] = (*before, *faults)
        return {state: [frozenset(faults)] for state, faults in found.items()}

    def _follow_all(self, level: dict[State, _Ways], number: int) -> dict[State, _Ways]:
        """Return the next states, each with all ways that have no smaller one in them."""
        found: dict[State, _Ways] = {}
        for state, ways in level.items():
            self._check()
            for following, faults in self._stepper.after(
                state, number, every=True, room=None
            ):
                known = found.setdefault(following, [])
                for before in ways:
                    _add(known, before.union(faults))
        for state, ways in found.items():
            found[state] = [way for way in ways if not self._is_beyond(way)]
        return {state: ways for state, ways in found.items() if ways}

    def _judged(self, level: dict[State, _Ways], number: int) -> dict[State, _Ways]:
        """Take out the states that break a promise, and remember how to get there."""
        self._states += len(level)
        kept: dict[State, _Ways] = {}
        for state, ways in level.items():
            self._check()
            if self._stepper.breaks(state, number):
                self._found += ways
            else:
                kept[state] = ways
        self._found = smallest(self._found)
        if len(self._found) > MOST_SETS:
            raise BoundHit("falsifiers")
        if self._every:
            # A way that has a falsifier in it leads to no smallest one.
            kept = {
                state: left
                for state, ways in kept.items()
                if (left := [way for way in ways if not self._is_beyond(way)])
            }
        return kept

    def _is_beyond(self, way: FaultSet) -> bool:
        return any(falsifier <= way for falsifier in self._found)

    def _check(self) -> None:
        seconds = time.monotonic() - self._began
        budget = self._budget
        if budget.seconds is not None and seconds > budget.seconds:
            raise BoundHit("seconds")
        executions = self._stepper.executions
        if budget.executions is not None and executions > budget.executions:
            raise BoundHit("executions")
        if self._progress is not None:
            self._progress(
                Progress(
                    executions=executions,
                    found=len(self._found),
                    seconds=seconds,
                    phase=f"round {self.rounds + 1}",
                )
            )


def _add(sets: _Ways, new: FaultSet) -> None:
    """Add a set to those that have no other one in them."""
    if not any(known <= new for known in sets):
        sets[:] = [known for known in sets if not new <= known]
        sets.append(new)
