"""Liveness by a fixpoint over sets of states: nothing in common with components.

A state lies on a fair run for ever exactly if it is in the greatest set of states from
each of which, without leaving the set, every condition can be met (again): E. A. Emerson
and C.-L. Lei, "Efficient model checking in fragments of the propositional mu-calculus",
LICS 1986. A condition is met by arriving in some states, or by some edges.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from typing import Any

from tests.oracle.explorer import Oracle

from worldline.model.events import Origin
from worldline.model.execute import Failure
from worldline.model.properties import Property

State = Hashable
Edge = tuple[State, Any, State]
"""From, class (None: a fault), to (None: the event fails)."""


def fair_states(edges: list[Edge], bad: Set[State]) -> set[State]:
    """The states of fair runs for ever that are in a bad state again and again."""
    able: dict[State, set[Any]] = {}
    for state, kind, _ in edges:
        able.setdefault(state, set()).add(kind)
    left: set[State] = set(able)

    def met(kind: Any) -> Callable[[Edge], bool]:
        return lambda edge: edge[1] == kind or kind not in able[edge[2]]

    kinds = {kind for _, kind, _ in edges if kind is not None}
    conditions = [lambda edge: edge[2] in bad, *map(met, kinds)]
    while True:
        before = set(left)
        for condition in conditions:
            inside = [e for e in edges if e[0] in left and e[2] in left]
            good = {edge[0] for edge in inside if condition(edge)}
            while more := {a for a, _, b in inside if b in good} - good:
                good |= more
            left &= good
        if left == before:
            return left


def is_violated(edges: list[Edge], states: Set[State], bad: Set[State]) -> bool:
    """Say whether a fair run for ever, or one that stops, is bad in the end."""
    going_on = {state for state, kind, _ in edges if kind is not None}
    return bool(bad & (states - going_on)) or bool(fair_states(edges, bad))


def space(
    oracle: Oracle, known: Property, limit: int
) -> tuple[list[Edge], set[State], set[State]]:
    """All edges and states of a system, and those in which a property is false.

    Raises
    ------
    AssertionError
        If there are more than `limit` states.
    """
    first = [(oracle.identity(state), state) for state in oracle.initial()]
    states: set[State] = {one for one, _ in first}
    pending, edges, bad = list(dict(first).items()), [], set()
    while pending:
        one, state = pending.pop()
        if not known.judge(oracle.view(state)).holds:
            bad.add(one)
        for event, _, after in oracle.successors(state):
            kind = None if event.origin is Origin.FAULT else event.fairness
            other = None if isinstance(after, Failure) else oracle.identity(after)
            edges.append((one, kind, other))
            if other is not None and other not in states:
                states.add(other)
                pending.append((other, after))
        assert len(states) <= limit
    return list(dict.fromkeys(edges)), states, bad
