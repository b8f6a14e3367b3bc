"""Liveness by a fixpoint over sets of states: nothing in common with components.

A state lies on a fair run for ever exactly if it is in the greatest set of states from
each of which, without leaving the set, every condition can be met (again): E. A. Emerson
and C.-L. Lei, "Efficient model checking in fragments of the propositional mu-calculus",
LICS 1986. A condition is met by arriving in some states, or by some edges.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Set
from typing import Any

State = Hashable
Edge = tuple[State, Any, frozenset[Any], State]
"""From, event (None: a fault), timers that begin anew, to (None: the event fails)."""


def fair_states(edges: list[Edge], bad: Set[State]) -> set[State]:
    """The states of fair runs for ever that are in a bad state again and again."""
    able: dict[State, set[Any]] = {}
    for state, event, _, _ in edges:
        able.setdefault(state, set()).add(event)
    left: set[State] = set(able)

    def met(event: Any) -> Callable[[Edge], bool]:
        return lambda edge: (
            event == edge[1] or event in edge[2] or event not in able[edge[3]]
        )

    events = {event for _, event, _, _ in edges if event is not None}
    conditions = [lambda edge: edge[3] in bad, *map(met, events)]
    while True:
        before = set(left)
        for condition in conditions:
            inside = [e for e in edges if e[0] in left and e[3] in left]
            good = {edge[0] for edge in inside if condition(edge)}
            while more := {e[0] for e in inside if e[3] in good} - good:
                good |= more
            left &= good
        if left == before:
            return left


def is_violated(edges: list[Edge], states: Set[State], bad: Set[State]) -> bool:
    """Say whether a fair run for ever, or one that stops, is bad in the end."""
    going_on = {edge[0] for edge in edges if edge[1] is not None}
    return bool(bad & (states - going_on)) or bool(fair_states(edges, bad))
