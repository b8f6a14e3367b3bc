"""Causes of a promise broken by a program: differences to a good run, in words.

The first good run is the one without faults. Faults that do not show in what differs
from it have another part: they keep what would mend the outcome, or keep it owed. So
the run is compared with the one in which they alone are left out, which keeps all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias, final

from worldline.dedalus.differences import Differences
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.provenance import Fact
from worldline.dedalus.walk import CRASH, POST, PRE
from worldline.engine.bounds import BoundHit
from worldline.injection.scope import NO_FAULTS, Fault, FaultSet, Scope
from worldline.injection.subject import Goal, Pulse, Run
from worldline.lineage.explaining.cause import (
    FaultCause,
    bounded,
    missing_words,
    plain_cause,
)
from worldline.lineage.explaining.phrases import culprits, faults_phrase
from worldline.lineage.explaining.words import goal_words
from worldline.lineage.targets.fact_groups import FactGroup, FactWords, grouped
from worldline.lineage.targets.program_subject import DedalusSubject

_MOST_GOALS = 40
"""How many goals are explained; the others are counted."""
_MOST_SPARED = 30
"""How many faults are spared in turn, to see that each has its part in a lack."""

_Chain: TypeAlias = list[list[FactGroup]]
"""Differences by how far they are from a goal, the nearest first."""


def program_causes(subject: DedalusSubject, bad: Run, check: Pulse) -> list[FaultCause]:
    """Return why a run under a falsifier breaks its goals; those alike are together.

    Raises
    ------
    BoundHit
        If `check` says so.
    """
    teller = _Teller(subject, bad.faults, check)
    goals = sorted(bad.broken, key=repr)
    alike: dict[object, list[Goal]] = {}
    for goal in goals[:_MOST_GOALS]:
        alike.setdefault(_ends(teller.chains([goal])), []).append(goal)
    causes = [teller.told(some) for some in alike.values()]
    if more := goals[_MOST_GOALS:]:
        causes.append(plain_cause(more, bad.faults, subject.scope))
    return causes


def _ends(chains: list[_Chain]) -> object:
    """Return that by which causes are alike: what the faults themselves take away."""
    return frozenset(
        (group.relation, group.is_missing, frozenset(group.faults))
        for chain in chains
        for level in chain
        for group in level
        if group.faults
    )


@final
class _Teller:
    """Tells the causes of one run."""

    def __init__(self, subject: DedalusSubject, faults: FaultSet, check: Pulse) -> None:
        self._execute: Callable[[FaultSet], Execution] = cache(subject.execute)
        self._scope: Scope = subject.scope
        self._faults = faults
        self._check = check
        self._words = FactWords(self._execute(faults))
        self._compared: dict[FaultSet, Differences] = {}

    def chains(self, goals: Sequence[Goal]) -> list[_Chain]:
        """Return what goals miss, and then what keeps them owed or unmended."""
        rows = [goal for goal in goals if isinstance(goal, tuple)]
        roots = [
            Fact(name, row, self._scope.eot) for name in (POST, PRE) for row in rows
        ]
        chains: list[_Chain] = []
        spared, left = NO_FAULTS, self._faults
        while left:
            below = self._differences(spared).below(roots, self._check)
            named = {fault for one in below for fault in one.faults}
            if not named & left:
                break
            chains.append(_down_to_faults(grouped(below, self._execute(self._faults))))
            left -= named
            spared = self._faults - left
        return chains

    def _differences(self, kept: FaultSet) -> Differences:
        """Compare the run with one under some of its faults."""
        if kept not in self._compared:
            good, bad = self._execute(kept), self._execute(self._faults)
            self._compared[kept] = Differences(good, bad)
        return self._compared[kept]

    def told(self, goals: Sequence[Goal]) -> FaultCause:
        """Return the cause of goals that are alike, in words."""
        chains = self.chains(goals)
        phrase = faults_phrase(self._faults, self._scope)
        said = tuple(map(goal_words, goals))
        missing = missing_words(said)
        lack = self._lack(chains)
        if lack is not None:
            what = self._words.change(lack)
            because = self._upwards(chains[0], lack, missing)
        else:
            what = missing
            because = self._downwards(chains)
        return FaultCause(
            goals=said,
            what=what,
            faults=phrase,
            because=tuple(because),
            nodes=self._nodes(chains),
        )

    def _lack(self, chains: list[_Chain]) -> FactGroup | None:
        """Return what all the faults take away together, if that is one thing."""
        if len(chains) != 1 or len(self._faults) > _MOST_SPARED:
            return None
        # The nearest to the faults comes first.
        for group in (one for level in chains[0][::-1] for one in level):
            never = group.is_missing and self._words.never(group)
            if never and group.faults and group.relation not in (PRE, POST):
                try:
                    if all(self._is_mended(group, never, one) for one in self._faults):
                        return group
                except BoundHit:
                    return None
        return None

    def _is_mended(
        self, group: FactGroup, rows: Iterable[tuple[int | str, ...]], fault: Fault
    ) -> bool:
        """Say whether one of the rows is there if a fault is left out."""
        self._check()
        run = self._execute(self._faults - {fault})
        rounds = range(1, self._scope.eot + 1)
        return any(row in run.rows(group.relation, t) for row in rows for t in rounds)

    def _upwards(self, chain: _Chain, lack: FactGroup, missing: str) -> list[str]:
        """Return what follows from a lack, up to the goals."""
        own = lack.relation, lack.is_missing
        depth = next(n for n, level in enumerate(chain) if lack in level)
        between = [
            [one for one in level if (one.relation, one.is_missing) != own]
            for level in chain[1 : depth + 1]
        ]
        said = [
            ", and ".join(dict.fromkeys(map(self._words.change, level)))
            for level in between
            if level
        ]
        return bounded([f"so {line}" for line in (*said[::-1], missing)])

    def _downwards(self, chains: list[_Chain]) -> list[str]:
        """Return what goals rest on, down to the faults."""
        lines: list[str] = []
        for number, chain in enumerate(chains):
            # That `post` has no such row was said in the line itself.
            levels = chain[1:] if len(chain) > 1 else chain
            for place, level in enumerate(levels):
                word = "besides," if number and not place else "because"
                lines.append(f"{word} {self._level(level)}")
        return bounded(lines)

    def _level(self, level: list[FactGroup]) -> str:
        """Return differences that are equally far from a goal, with their faults."""
        said = []
        for group in level:
            change = self._words.change(group)
            if group.faults and group.relation != CRASH:
                phrase = faults_phrase(frozenset(group.faults), self._scope)
                change = (
                    f"{change}: {phrase}"
                    if len(level) == 1
                    else (f"{change} ({phrase})")
                )
            said.append(change)
        return ", and ".join(dict.fromkeys(said))

    def _nodes(self, chains: list[_Chain]) -> tuple[str, ...]:
        """Return whom it is about: who loses something, by what faults, then others."""
        groups = [one for chain in chains for level in chain for one in level]
        direct = [one for one in groups if one.faults and one.is_missing]
        nodes: dict[str, None] = {}
        for group in direct:
            nodes |= dict.fromkeys(self._words.losers(group))
        nodes |= dict.fromkeys(culprits(self._faults))
        for group in groups:
            nodes |= dict.fromkeys(self._words.places(group))
        return tuple(nodes)


def _down_to_faults(chain: _Chain) -> _Chain:
    """Return a chain without what lies behind the last of its faults."""
    last = max(n for n, level in enumerate(chain) if any(one.faults for one in level))
    return chain[: last + 1]
