"""Breadth-first exploration of a whole state space, with everything counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.oracle.explorer import Oracle

from worldline.model.kinds import Origin
from worldline.model.properties import PropertyKind
from worldline.model.semantics.execute import Failure


@dataclass
class Counts:
    """What an exploration found.

    Attributes
    ----------
    distinct, generated
        Different states; initial states and transitions, failing ones included.
    depth
        States on the longest of the shortest paths; an initial state has depth 1.
    edges
        Different pairs of a state and a successor.
    maximal_paths
        Paths from an initial state to one without successors, told apart by their
        events and choices; None if the space has a cycle.
    violated
        The least depth at which each safety property, and each kind of failure, is
        violated.
    deadlocks
        States in which nothing but faults can happen although the system is not done.
    """

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    edges: int = 0
    maximal_paths: int | None = 0
    violated: dict[str, int] = field(default_factory=dict)
    deadlocks: int = 0


def explore(oracle: Oracle, *, limit: int = 1_000_000) -> Counts:
    """Explore everything that can be reached.

    Raises
    ------
    AssertionError
        If there are more than `limit` states.
    """
    counts = Counts()
    states = {oracle.identity(state): state for state in oracle.initial()}
    counts.generated = len(oracle.initial())
    initial, level = list(states), list(states)
    graph: dict[Any, list[Any]] = {}
    while level:
        counts.depth += 1
        reached: dict[Any, None] = {}
        for one in level:
            judge(oracle, states[one], counts)
            graph[one] = []
            for _, _, after in oracle.successors(states[one]):
                counts.generated += 1
                if isinstance(after, Failure):
                    counts.violated.setdefault(after.kind, counts.depth + 1)
                    graph[one].append(None)
                    continue
                other = oracle.identity(after)
                graph[one].append(other)
                if other not in states:
                    states[other] = after
                    reached[other] = None
        assert len(states) <= limit
        level = list(reached)
    counts.distinct = len(states)
    counts.edges = sum(len(set(successors)) for successors in graph.values())
    counts.maximal_paths = count_paths(graph, initial)
    return counts


def judge(oracle: Oracle, state: Any, counts: Counts) -> None:
    """Check the safety properties in one state, and whether it is a deadlock."""
    view = oracle.view(state)
    for known in oracle.system.properties:
        if known.kind is PropertyKind.SAFETY and not known.judge(view).holds:
            counts.violated.setdefault(known.name, counts.depth)
    if all(event.origin is Origin.FAULT for event in oracle.enabled(state)):
        counts.deadlocks += not is_done(oracle, state)


def is_done(oracle: Oracle, state: Any) -> bool:
    view = oracle.view(state)
    if oracle.system.done is not None:
        return bool(oracle.system.done(view))
    alive = [
        node
        for node, one in zip(view.nodes, state.nodes, strict=True)
        if one.status != "down" or state.left["restarts"] != 0
    ]
    in_flight = any(state.wire.parcels(node) for node in alive)
    return all(map(view.is_finished, view.nodes)) and not in_flight


def count_paths(graph: dict[Any, list[Any]], initial: list[Any]) -> int | None:
    """Count maximal paths by removing states without predecessors, one by one."""
    missing = dict.fromkeys(graph, 0)
    for successors in graph.values():
        for other in successors:
            if other is not None:
                missing[other] += 1
    paths = dict.fromkeys(graph, 0)
    for one in initial:
        paths[one] += 1
    ready, total, removed = [one for one in graph if not missing[one]], 0, 0
    while ready:
        one = ready.pop()
        removed += 1
        total += paths[one] * (graph[one].count(None) + (graph[one] == []))
        for other in graph[one]:
            if other is not None:
                paths[other] += paths[one]
                missing[other] -= 1
                if not missing[other]:
                    ready.append(other)
    return total if removed == len(graph) else None
