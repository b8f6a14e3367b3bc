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
The search is first made with at most 0, 1, 2 and 3 faults: what breaks it so need not
be followed further. Without `every`, it ends with the first falsifier: of those with as few faults one
without a crash in the last round, if there is one. With it, the last
search keeps to the states from which a promise can still break.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TypeAlias, final

from worldline.engine.bounds import BoundHit, bound_that_ended
from worldline.injection.scope import Fault, FaultSet
from worldline.injection.stepper import Injection, RoundState, Stepper
from worldline.lineage.engines.loop import smallest
from worldline.lineage.engines.trials import FaultsProgress, SearchBudget, SearchResult
from worldline.model.counts import counted
from worldline.model.verdicts import Verdict

FIRST_LIMITS = (0, 1, 2, 3)
"""Most falsifiers have few faults, and few states can be reached with so few."""

_STEPS_BETWEEN_LOOKS = 1_024

MOST_SETS = 100_000
"""How many smallest falsifiers are kept before the search for all of them ends."""

_Ways: TypeAlias = list[int]
"""Fault sets, each as bits: there are very many of them."""


def states(
    stepper: Stepper,
    *,
    every: bool = False,
    budget: SearchBudget | None = None,
    progress: Callable[[FaultsProgress], None] | None = None,
) -> SearchResult:
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
    search = _Search(stepper, budget or SearchBudget(), progress, every=every)
    bound = bound_that_ended(search.run)
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
        budget: SearchBudget,
        progress: Callable[[FaultsProgress], None] | None,
        *,
        every: bool,
    ) -> None:
        self._stepper = stepper
        self._budget = budget
        self._meter = budget.started()
        self._progress = progress
        self._every = every
        self._began = time.monotonic()
        self._found: _Ways = []
        self._faults: list[Fault] = []
        self._late = 0
        self._bits: dict[Fault, int] = {}
        self._masks: dict[Injection, int] = {}
        self._states = 0
        self._steps = 0
        self._limit: int | None = None
        self._fatal: list[set[RoundState]] = []
        self._explored = 0
        self._unmet = {case.name: case for case in stepper.cases}
        self.rounds = 0

    def run(self) -> None:
        """Go through all rounds, with few faults first."""
        for limit in FIRST_LIMITS:
            self._limit = limit
            self._go_through()
            if self._found and not self._every:
                return
        self._limit = None
        if self._every:
            self._fatal = self._explore()
        self._go_through()

    def _go_through(self) -> None:
        follow = self._follow_all if self._every else self._follow_fewest
        self._states = self.rounds = 0
        level: dict[RoundState, _Ways] = {self._stepper.first(): [0]}
        self._meet(level, 0)
        for number in range(1, self._stepper.scope.eot + 1):
            level = self._judged(follow(level, number), number)
            self.rounds = number

    def _explore(self) -> list[set[RoundState]]:
        """Return, for each round, the states from which a promise can still break.

        The ways to all others, of which there may be very many, are of no interest.
        """
        levels: list[dict[RoundState, list[RoundState]]] = [{self._stepper.first(): []}]
        broken: list[set[RoundState]] = [set()]
        self._states = self.rounds = 0
        for number in range(1, self._stepper.scope.eot + 1):
            level: dict[RoundState, list[RoundState]] = {}
            for state in levels[-1]:
                self._check()
                if state in broken[-1]:
                    continue
                for following, _ in self._stepper.after(
                    state, number, every=False, room=None, pulse=self._check
                ):
                    self._tick()
                    before = level.setdefault(following, [])
                    if not before or before[-1] != state:
                        before.append(state)
            levels.append(level)
            self._meet(level, number)
            breaks = self._stepper.breaks
            broken.append({state for state in level if breaks(state, number)})
            self._states += len(level)
            self.rounds = number
        self._explored = self._states
        for number in range(len(levels) - 1, 0, -1):
            for state in broken[number]:
                broken[number - 1].update(levels[number][state])
        return broken

    def outcome(self, bound: str | None) -> SearchResult:
        """Return the answer."""
        ways = sorted(self._found, key=self._weight)
        falsifiers = smallest([self._set_of(way) for way in ways])
        if falsifiers:
            verdict = Verdict.VIOLATED
        elif bound is None and not self._unmet:
            verdict = Verdict.HOLDS
        else:
            verdict = Verdict.UNKNOWN
        count = self._explored or self._states
        notes = [f"{counted(count, 'state')} in {counted(self.rounds, 'round')}"]
        if bound is not None:
            eot = self._stepper.scope.eot
            notes = [
                f"{counted(self._states, 'state')}; "
                f"rounds 1..{self.rounds} of {eot} are decided"
                + (
                    ""
                    if self._limit is None
                    else f" for up to {counted(self._limit, 'fault')}"
                )
            ]
            if self._limit != 0 and not falsifiers:
                fewer = FIRST_LIMITS[-1] if self._limit is None else self._limit - 1
                notes.append(f"with up to {fewer} faults nothing breaks")
        return SearchResult(
            verdict=verdict,
            falsifiers=tuple(falsifiers if self._every else falsifiers[:1]),
            executions=self._stepper.executions,
            seconds=time.monotonic() - self._began,
            bound=bound,
            unmet=tuple(self._unmet.values()),
            notes=tuple(notes),
        )

    def _follow_fewest(
        self, level: dict[RoundState, _Ways], number: int
    ) -> dict[RoundState, _Ways]:
        """Return the next states, each with one way of the fewest faults."""
        most = self._limit
        if self._found:
            most = min(map(int.bit_count, self._found)) - 1
        fewest: dict[RoundState, int] = {}
        for state, (before,) in level.items():
            self._check()
            room = None if most is None else most - before.bit_count()
            if room is not None and room < 0:
                continue
            for following, faults in self._stepper.after(
                state, number, every=False, room=room, pulse=self._check
            ):
                self._tick()
                way = before | self._mask(faults)
                earlier = fewest.get(following)
                if earlier is None or self._weight(way) < self._weight(earlier):
                    fewest[following] = way
        return {state: [way] for state, way in fewest.items()}

    def _follow_all(
        self, level: dict[RoundState, _Ways], number: int
    ) -> dict[RoundState, _Ways]:
        """Return the next states, each with all ways that have no smaller one in them."""
        ways_to: dict[RoundState, _Ways] = {}
        limit = self._limit
        for state, ways in level.items():
            self._check()
            room = None
            if limit is not None:
                room = limit - min(map(int.bit_count, ways))
            for following, faults in self._stepper.after(
                state, number, every=True, room=room, pulse=self._check
            ):
                self._tick()
                more = self._mask(faults)
                if self._fatal and following not in self._fatal[number]:
                    continue
                earlier = ways_to.setdefault(following, [])
                for before in ways:
                    way = before | more
                    if limit is None or way.bit_count() <= limit:
                        _add(earlier, way)
        return {
            state: left for state, ways in ways_to.items() if (left := self._open(ways))
        }

    def _judged(
        self, level: dict[RoundState, _Ways], number: int
    ) -> dict[RoundState, _Ways]:
        """Take out the states that break a promise, and remember how to get there."""
        self._states += len(level)
        self._meet(level, number)
        kept: dict[RoundState, _Ways] = {}
        for state, ways in level.items():
            self._check()
            if self._stepper.breaks(state, number):
                for way in ways:
                    _add(self._found, way)
            else:
                kept[state] = ways
        if len(self._found) > MOST_SETS:
            raise BoundHit("falsifiers")
        return {
            state: left for state, ways in kept.items() if (left := self._open(ways))
        }

    def _meet(self, states: Iterable[RoundState], number: int) -> None:
        """Strike out the cases that have happened, and look at no more states then."""
        for state in states:
            if not self._unmet:
                return
            self._check()
            for name in self._stepper.met(state, number):
                self._unmet.pop(name, None)

    def _open(self, ways: _Ways) -> _Ways:
        """Return the ways that have no falsifier in them: others lead to no smallest."""
        if not self._every:
            return ways
        broken = self._found
        return [way for way in ways if not any(f & way == f for f in broken)]

    def _weight(self, way: int) -> int:
        """Return what is least for the ways to prefer: few faults, none of them late."""
        return 2 * way.bit_count() + bool(way & self._late)

    def _mask(self, faults: Injection) -> int:
        """Return faults as bits."""
        mask = self._masks.get(faults)
        if mask is None:
            mask = 0
            for fault in faults:
                if fault not in self._bits:
                    if self._stepper.scope.ends_in_crash(frozenset({fault})):
                        self._late |= 1 << len(self._faults)
                    self._bits[fault] = len(self._faults)
                    self._faults.append(fault)
                mask |= 1 << self._bits[fault]
            self._masks[faults] = mask
        return mask

    def _set_of(self, mask: int) -> FaultSet:
        return frozenset(
            fault for bit, fault in enumerate(self._faults) if mask >> bit & 1
        )

    def _tick(self) -> None:
        """Look at the budget from time to time."""
        self._steps += 1
        if self._steps % _STEPS_BETWEEN_LOOKS == 0:
            self._check()

    def _check(self) -> None:
        self._meter.check()
        budget = self._budget
        executions = self._stepper.executions
        if budget.executions is not None and executions > budget.executions:
            raise BoundHit("executions")
        if self._progress is not None:
            self._progress(
                FaultsProgress(
                    executions=executions,
                    found=len(self._found),
                    seconds=time.monotonic() - self._began,
                    phase=f"round {self.rounds + 1}",
                )
            )


def _add(sets: _Ways, new: int) -> None:
    """Add a set to those that have no other one in them."""
    for old in sets:
        if old & new == old:
            return
    sets[:] = [old for old in sets if new & old != new]
    sets.append(new)
