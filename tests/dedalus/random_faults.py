"""Scopes and faults for random programs: some, or all of a small scope."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

from hypothesis import strategies as st

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
)

SEMANTICS = (CrashSemantics.MUTE, CrashSemantics.HALT)


@st.composite
def small_scopes(draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b")) -> Scope:
    """Return a scope whose fault sets can all be run, a few hundred."""
    late = draw(st.integers(0, 3)) == 0
    return Scope(
        nodes,
        draw(st.integers(3, 4)),
        2 if late else draw(st.integers(1, 3)),
        draw(st.integers(0, 2)),
        draw(st.sampled_from(SEMANTICS)),
        draw(st.integers(1, 2)) if late else 0,
    )


@st.composite
def scopes(
    draw: st.DrawFn, nodes: tuple[str, ...] = ("a", "b", "c"), delay: int = 0
) -> Scope:
    """Return a scope in which faults have time to show; delays are up to `delay`."""
    semantics, late = draw(st.sampled_from(SEMANTICS)), draw(st.integers(0, delay))
    return Scope(nodes, 5, 4, 2, semantics, late)


@st.composite
def fault_sets(draw: st.DrawFn, scope: Scope, most: int = 4) -> FaultSet:
    """Return faults of a scope, up to `most` of them losses and delays."""
    chosen: set[Fault] = set()
    crashing = st.lists(
        st.sampled_from(scope.nodes), unique=True, max_size=scope.crashes
    )
    for node in draw(crashing):
        chosen.add(Crash(draw(st.integers(1, scope.eot)), node))
    pairs = st.sampled_from(list(permutations(scope.nodes, 2)))
    links = st.tuples(st.integers(1, scope.eff - 1), pairs)
    for time, (src, dst) in draw(st.lists(links, unique=True, max_size=most)):
        if scope.delay and draw(st.booleans()):
            chosen.add(Delay(time, src, dst, draw(st.integers(1, scope.delay))))
        else:
            chosen.add(Loss(time, src, dst))
    return frozenset(chosen)


def all_fault_sets(scope: Scope, largest: int | None = None) -> Iterator[FaultSet]:
    """Yield every fault set of a scope up to a size, those with fewer faults first."""
    everywhere: list[list[Fault]] = [
        [Loss(t, n, m), *(Delay(t, n, m, by) for by in range(1, scope.delay + 1))]
        for t in range(1, scope.eff)
        for n, m in permutations(scope.nodes, 2)
    ]
    if scope.crashes:
        everywhere += [
            [Crash(t, node) for t in range(1, scope.eot + 1)] for node in scope.nodes
        ]
    sizes = len(everywhere) if largest is None else min(largest, len(everywhere))
    for size in range(sizes + 1):
        for chosen in combinations(everywhere, size):
            if sum(isinstance(at[0], Crash) for at in chosen) <= scope.crashes:
                yield from map(frozenset, product(*chosen))


def smallest_by_force(
    checked: CheckedProgram, scope: Scope, largest: int | None = None
) -> set[FaultSet]:
    """Return the smallest fault sets up to a size that break a program: run them all."""
    compiled = compile_program(checked)
    found: set[FaultSet] = set()
    for faults in all_fault_sets(scope, largest):
        if any(smaller <= faults for smaller in found):
            continue
        run = evaluate(compiled, faults, scope.eot, scope.semantics)
        if run.rows("pre", scope.eot).keys() - run.rows("post", scope.eot).keys():
            found.add(faults)
    return found


def owes_by_force(checked: CheckedProgram, scope: Scope) -> bool:
    """Say whether any fault set leads to a run that owes something: run them all."""
    compiled = compile_program(checked)
    return any(
        evaluate(compiled, faults, scope.eot, scope.semantics).rows("pre", scope.eot)
        for faults in all_fault_sets(scope)
    )
