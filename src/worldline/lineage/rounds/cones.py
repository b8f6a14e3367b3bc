"""The supports of what held in a run in rounds: its causal past, and its light cone.

A verdict read the values of some fields; each was written last in some round. In the
fast mode the support is what caused that writing: the messages of its causal past.
In the complete mode it is every possible cause of another: every message that
could, at one hop in a round, have told something to a node that was read.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 4:
the fast mode with messages for tuples. The light cone is ours.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import final

from worldline.injection.formula import Formula, Injected, Some, Spared
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Fault,
    FaultSet,
    Loss,
    Scope,
    in_order,
)
from worldline.lineage.rounds.promises import FAILURE, Judge, Promise, due
from worldline.lineage.rounds.scheduler import RoundWorld
from worldline.model.semantics.layout import ColumnKind
from worldline.model.view import ColumnRead


@final
class Cones:
    """One run, watched: who wrote what when, and which verdict read what.

    Parameters
    ----------
    rounds
        The run, before its first round.
    scope, faults
        The question, and what this run is under.
    """

    def __init__(self, rounds: RoundWorld, scope: Scope, faults: FaultSet) -> None:
        self._scope = scope
        self._faults = faults
        self._system = rounds.system
        self._breaks = rounds.breaks
        self._count = len(scope.nodes)
        self._written: dict[tuple[int, str], list[int]] = {}
        self._reads: dict[Promise, list[ColumnRead]] = {}
        self._sent = rounds.sent
        before = self._locals(rounds)
        for number in range(1, scope.eot + 1):
            rounds.play(number)
            if rounds.world.failure is not None:
                break
            after = self._locals(rounds)
            self._compare(before, after, number)
            before = after
            judge = Judge(rounds)
            for prop in due(self._system, scope, number):
                judge.holds(prop)
                self._reads[Promise(number, prop.name)] = list(judge.reads)

    def past(self, goal: Promise) -> Formula:
        """Return: some loss or crash in the causal past of what the verdict read."""
        until: dict[int, int] = {}
        faults: set[Fault] = set()
        for node, number in self._sources(goal):
            until[node] = max(number, until.get(node, 0))
        seen: dict[int, int] = {}
        while until:
            node, last = until.popitem()
            if seen.get(node, 0) >= last:
                continue
            for mail in self._sent:
                arrived = mail.arrived
                if mail.dst == node and arrived is not None and arrived <= last:
                    if mail.src != node and not mail.silenced:
                        faults |= set(self._loss(mail.round, mail.src, node))
                    until[mail.src] = max(mail.round, until.get(mail.src, 0))
            seen[node] = last
        for node, last in seen.items():
            faults |= set(self._crashes(node, last))
        faults -= self._faults
        return Some(tuple(Injected(fault) for fault in in_order(frozenset(faults))))

    def light(self, goal: Promise) -> Formula:
        """Return: some loss in the light cone, some crash that matters, or less.

        A set of faults that is this run's and more, but has nothing of the cone, gives
        every node that is in the cone the same messages in the same rounds, by
        induction over rounds; so the verdict reads the same. A set that lacks one of
        this run's faults may give another run altogether: so ``Spared`` is needed. On
        streams both ends of a connection learn of each other within a round, so there
        every fault is in the cone.
        """
        end = goal.round
        read = self._read_nodes(goal)
        faults: set[Fault] = set()
        speaks: dict[int, int] = {}
        for mail in self._sent:
            if mail.src == mail.dst or mail.lost or mail.silenced:
                continue
            far = 1 if mail.dst in read else 2
            if mail.round + far <= end or self._breaks:
                faults |= set(self._loss(mail.round, mail.src, mail.dst))
            if mail.round < end:
                speaks[mail.src] = max(mail.round, speaks.get(mail.src, 0))
        for node in range(self._count):
            last = speaks.get(node, 0)
            if node in read or self._breaks:
                last = end
            elif self._scope.recovery:
                last = end - 1
            faults |= set(self._crashes(node, last))
        faults -= self._faults
        parts: list[Formula] = [Injected(f) for f in in_order(frozenset(faults))]
        parts += [Spared(fault) for fault in in_order(self._faults)]
        return Some(tuple(parts))

    def _locals(self, rounds: RoundWorld) -> list[tuple[object, ...]]:
        return [
            kind.freeze(node)
            for kind, node in zip(self._system.types, rounds.world.nodes, strict=True)
        ]

    def _compare(
        self,
        before: list[tuple[object, ...]],
        after: list[tuple[object, ...]],
        number: int,
    ) -> None:
        for index, kind in enumerate(self._system.types):
            for name, old, new in zip(
                kind.identity, before[index][1:], after[index][1:], strict=True
            ):
                if old != new:
                    self._written.setdefault((index, name), []).append(number)

    def _sources(self, goal: Promise) -> Iterator[tuple[int, int]]:
        """Return the nodes that a verdict depends on, and until which round."""
        if goal.property == FAILURE:
            yield from ((node, goal.round) for node in range(self._count))
            return
        for read in self._reads[goal]:
            column = self._system.layout.columns[read.column]
            if column.kind is ColumnKind.LOCAL:
                times = self._written.get((column.index, str(read.detail[0])), [])
                earlier = [time for time in times if time <= goal.round]
                if earlier:
                    yield column.index, earlier[-1]
            elif column.kind is ColumnKind.HIDDEN:
                yield column.index, goal.round
            else:
                yield from ((node, goal.round) for node in range(self._count))

    def _read_nodes(self, goal: Promise) -> set[int]:
        """Return the nodes whose state a verdict read; messages are of all of them."""
        if goal.property == FAILURE:
            return set(range(self._count))
        nodes: set[int] = set()
        for read in self._reads[goal]:
            column = self._system.layout.columns[read.column]
            if column.kind not in (ColumnKind.LOCAL, ColumnKind.HIDDEN):
                return set(range(self._count))
            nodes.add(column.index)
        return nodes

    def _loss(self, time: int, src: int, dst: int) -> Iterator[Fault]:
        if self._scope.may_lose(time):
            yield Loss(time, self._scope.nodes[src], self._scope.nodes[dst])

    def _crashes(self, node: int, last: int) -> Iterator[Fault]:
        name = self._scope.nodes[node]
        if self._scope.crashes and name in self._scope.may_crash:
            for time in range(1, last + 1):
                yield from crashes_of(self._scope, name, time)


def crashes_of(scope: Scope, node: str, time: int) -> Iterable[Crash]:
    """Return every way in which a node may crash at the beginning of a round."""
    ends: list[int | None] = [None]
    if scope.recovery:
        ends += range(time + 1, scope.eot + 1)
    reached: list[tuple[str, ...]] = [()]
    if scope.semantics is CrashSemantics.PARTIAL:
        others = [name for name in scope.nodes if name != node]
        for size in range(1, len(others) + 1):
            reached += itertools.combinations(others, size)
    return [Crash(time, node, end, some) for end in ends for some in reached]
