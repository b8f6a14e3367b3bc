"""A broadcast as a subject with exact supports: who has the message, and thanks to whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Literal

from worldline.injection.formula import Every, Formula, Injected, Some
from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.injection.subject import (
    CoverPoint,
    Goal,
    Pulse,
    Run,
    SentMessage,
    never_interrupt,
)
from worldline.lineage.targets.program_subject import OWED

Kind = Literal["simple", "retry", "redundant"]


class Broadcast:
    """The first node tells the others: once, in every round, or all that know do.

    Whoever has not crashed and has the message owes it to all.
    """

    complete = True

    def __init__(self, scope: Scope, kind: Kind) -> None:
        self.scope = scope
        self._kind = kind
        self.runs: list[FaultSet] = []

    @property
    def cases(self) -> Sequence[CoverPoint]:
        return (OWED,)

    def run(self, faults: FaultSet) -> Run:
        self.runs.append(faults)
        first, *_ = nodes = self.scope.nodes
        # Of each node that has the message: what takes it away again.
        lost: dict[Goal, Formula] = {first: Some(())}
        sent = []
        for time in range(1, self.scope.eot):
            before = dict(lost)
            for src, dst in permutations(nodes, 2):
                if src in before and self._sends(src, time):
                    arrives = not is_cut(src, dst, time, faults)
                    sent.append(
                        SentMessage(
                            src, dst, time, "hello", time + 1 if arrives else None
                        )
                    )
                    if arrives:
                        link = Injected(Loss(time, src, dst))
                        cut = Some((before[src], link))
                        lost[dst] = Every((lost[dst], cut)) if dst in lost else cut
        crashed = {fault.node for fault in faults if isinstance(fault, Crash)}
        owed = nodes if set(lost) - crashed else ()

        def support(goal: Goal, check: Pulse = never_interrupt) -> Formula:
            check()
            return lost[goal]

        met = frozenset({OWED.name}) if owed else frozenset()
        return Run(faults, frozenset(owed), frozenset(lost), sent, support, met)

    def renamings(self) -> Sequence[dict[str, str]]:
        _, *others = self.scope.nodes
        orders = list(permutations(others))
        return [dict(zip(others, order, strict=True)) for order in orders[1:]]

    def _sends(self, node: str, time: int) -> bool:
        if self._kind == "redundant":
            return True
        return node == self.scope.nodes[0] and (time == 1 or self._kind == "retry")


def is_cut(src: str, dst: str, time: int, faults: FaultSet) -> bool:
    return Loss(time, src, dst) in faults or any(
        isinstance(fault, Crash) and fault.node == src and fault.time <= time
        for fault in faults
    )
