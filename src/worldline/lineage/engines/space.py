"""All faults of a scope, one by one and in sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
)


def places(scope: Scope) -> list[list[Fault]]:
    """Return what may happen to each link in each round, and to each node.

    Of the faults of one place, a fault set has one at most.
    """
    return [*_links(scope), *(crashes(scope, node) for node in scope.nodes)]


def losses(scope: Scope) -> list[Loss]:
    """Return all losses, by time."""
    return [
        Loss(time, src, dst)
        for time in range(1, scope.eff)
        for src in scope.nodes
        for dst in scope.nodes
        if src != dst
    ]


def crashes(scope: Scope, node: str) -> list[Fault]:
    """Return the crashes of a node, by time."""
    if not scope.crashes or node not in scope.may_crash:
        return []
    return [
        Crash(time, node, until, reaches)
        for time in range(1, scope.eot + 1)
        for until in _ends(scope, time)
        for reaches in _reached(scope, node)
    ]


def fault_sets(scope: Scope) -> Iterator[FaultSet]:
    """Yield every fault set of a scope, those with fewer faults first.

    Of those with as many, the ones with a crash in the last round come last.
    """
    everywhere = [faults for faults in places(scope) if faults]
    for size in range(len(everywhere) + 1):
        for is_late in (False, True) if scope.crashes else (False,):
            for chosen in combinations(everywhere, size):
                if sum(isinstance(at[0], Crash) for at in chosen) <= scope.crashes:
                    sets = map(frozenset, product(*chosen))
                    yield from (s for s in sets if scope.ends_in_crash(s) is is_late)


def _links(scope: Scope) -> list[list[Fault]]:
    return [
        [loss, *_delays(scope, loss.time, loss.src, loss.dst)] for loss in losses(scope)
    ]


def _delays(scope: Scope, time: int, src: str, dst: str) -> list[Fault]:
    return [Delay(time, src, dst, by) for by in range(1, scope.delay + 1)]


def _ends(scope: Scope, time: int) -> list[int | None]:
    return [None, *(range(time + 1, scope.eot + 1) if scope.recovery else ())]


def _reached(scope: Scope, node: str) -> Sequence[tuple[str, ...]]:
    if scope.semantics is not CrashSemantics.PARTIAL:
        return [()]
    others = [other for other in scope.nodes if other != node]
    return [
        some for size in range(len(others) + 1) for some in combinations(others, size)
    ]
