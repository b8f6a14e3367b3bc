"""Components, fairness and lassos on small graphs, against a fixpoint over sets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.fair import Edge, fair_states, is_violated

from worldline.engine.graph import FAULT, NOWHERE, Graph
from worldline.engine.lasso import Fairness, Lasso

Arrow = tuple[int, int, int] | tuple[int, int, int, frozenset[int]]
"""From, event, to; and the events that are renewed, if any are."""


def graph_of(arrows: list[Arrow], cut: frozenset[int] = frozenset()) -> Graph:
    """What can be reached from state 0, renumbered as it is met."""
    graph, numbers, order = Graph(), {0: 0}, [0]
    graph.meet(-1)
    for name in order:
        edges: dict[tuple[int, int], None] = {}
        for start, event, end, *renewed in arrows:
            if start != name or name in cut:
                continue
            if end != NOWHERE and end not in numbers:
                numbers[end] = graph.meet(numbers[name])
                order.append(end)
            edges[numbers.get(end, NOWHERE), graph.label(event, *renewed)] = None
        graph.leave(edges, cut=name in cut)
    return graph


def components(graph: Graph) -> set[frozenset[int]]:
    numbers = graph.components()
    return {
        frozenset(s for s in range(graph.states) if numbers[s] == n) for n in numbers
    }


def reached(graph: Graph, state: int) -> set[int]:
    found, pending = {state}, [state]
    while pending:
        for target, _ in graph.edges(pending.pop()):
            if target >= 0 and target not in found:
                found.add(target)
                pending.append(target)
    return found


def edges_of(graph: Graph) -> list[Edge]:
    found: list[Edge] = []
    for state in range(graph.states):
        for end, label in graph.edges(state):
            event = None if graph.events[label] == FAULT else graph.events[label]
            renewed = graph.settled[label] - {event}
            found.append((state, event, renewed, None if end < 0 else end))
    return found


def edge(graph: Graph, target: int, event: int) -> tuple[int, int]:
    """An edge with an event that renews nothing."""
    return target, graph.label(event)


def check_lasso(graph: Graph, lasso: Lasso, bad: set[int]) -> None:
    """It is a path of the graph, comes round, is fair, and is bad on the way."""
    assert graph.parents[lasso.way[0]] < 0
    for one, other in zip(lasso.way, lasso.way[1:], strict=False):
        assert other in {target for target, _ in graph.edges(one)}
    at = lasso.way[-1]
    assert at in bad
    if not lasso.cycle:
        assert graph.is_final(at)
        return
    always: set[int] = graph.enabled(at)
    settled: set[int] = set()
    for target, label in lasso.cycle:
        assert (target, label) in set(graph.edges(at))
        settled |= graph.settled[label]
        always &= graph.enabled(target)
        at = target
    assert at == lasso.way[-1]
    assert always <= settled


def test_components_of_two_rings_and_a_bridge() -> None:
    graph = graph_of([(0, 0, 1), (1, 0, 0), (1, 0, 2), (2, 0, 3), (3, 0, 2)])
    assert components(graph) == {frozenset({0, 1}), frozenset({2, 3})}


def test_a_long_path_needs_no_recursion() -> None:
    length = 50_000
    graph = Graph()
    graph.meet(-1)
    for state in range(length):
        graph.meet(state)
        graph.leave([edge(graph, state + 1, 0)])
    graph.leave([edge(graph, 0, 0)])
    assert set(graph.components()) == {0}


def test_a_loop_that_starves_an_event_is_not_fair() -> None:
    graph = graph_of([(0, 0, 0), (0, 1, 1)])
    assert Fairness(graph).lasso(bytearray([1, 0])) is None


def test_a_loop_in_which_the_event_is_sometimes_disabled_is_fair() -> None:
    graph = graph_of([(0, 0, 1), (0, 1, 2), (1, 0, 0)])
    lasso = Fairness(graph).lasso(bytearray([1, 0, 0]))
    assert lasso == Lasso([0], [edge(graph, 1, 0), edge(graph, 0, 0)])


def test_a_loop_that_renews_an_event_owes_it_nothing() -> None:
    renews = frozenset({1})
    for loop in (0, FAULT):
        graph = graph_of([(0, loop, 0, renews), (0, loop, 0), (0, 0, 0), (0, 1, 1)])
        lasso = Fairness(graph).lasso(bytearray([1, 0]))
        assert lasso is not None
        assert (0, graph.label(loop, renews)) in lasso.cycle
        check_lasso(graph, lasso, {0})
    assert Fairness(graph_of([(0, 0, 0), (0, 1, 1)])).lasso(bytearray([1, 0])) is None


def test_a_fault_need_not_happen_but_can_be_part_of_a_cycle() -> None:
    graph = graph_of([(0, 0, 0), (0, FAULT, 1)])
    assert Fairness(graph).lasso(bytearray([1, 0])) == Lasso([0], [edge(graph, 0, 0)])
    graph = graph_of([(0, 0, 1), (1, FAULT, 0)])
    turning = Fairness(graph).lasso(bytearray([1, 0]))
    assert turning == Lasso([0], [edge(graph, 1, 0), edge(graph, 0, FAULT)])


def test_a_run_may_stop_where_only_faults_can_happen() -> None:
    fairness = Fairness(graph_of([(0, 0, 1), (1, FAULT, 2)]))
    assert fairness.lasso(bytearray([1, 1, 0])) == Lasso([0, 1], [])
    assert fairness.lasso(bytearray([1, 0, 0])) is None


def test_an_event_that_fails_is_owed_but_leads_nowhere() -> None:
    graph = graph_of([(0, 0, 0), (0, 1, NOWHERE)])
    assert Fairness(graph).lasso(bytearray([1])) is None
    assert not Fairness(graph).has_runs()


def test_no_run_stops_in_a_state_that_was_cut() -> None:
    fairness = Fairness(graph_of([(0, 0, 1)], frozenset({1})))
    assert fairness.lasso(bytearray([1, 1])) is None
    assert not fairness.has_runs()


names = st.integers(0, 6)
arrows = st.lists(
    st.tuples(
        names,
        st.integers(FAULT, 2),
        st.integers(NOWHERE, 6),
        st.frozensets(st.integers(0, 2), max_size=1),
    ),
    max_size=18,
)


searched = given(arrows, st.frozensets(names, max_size=1), st.integers(0, 127))


@searched
@settings(max_examples=150)
def test_fairness_agrees_with_the_fixpoint(
    arrows: list[Arrow], cut: frozenset[int], mask: int
) -> None:
    check_fairness(arrows, cut, mask)


@pytest.mark.nightly
@searched
@settings(max_examples=3_000)
def test_fairness_agrees_with_the_fixpoint_in_many_graphs(
    arrows: list[Arrow], cut: frozenset[int], mask: int
) -> None:
    check_fairness(arrows, cut, mask)


def check_fairness(arrows: list[Arrow], cut: frozenset[int], mask: int) -> None:
    graph = graph_of(arrows, cut)
    everything = set(range(graph.states))
    bad = {state for state in everything if mask >> state & 1}
    edges, uncut = edges_of(graph), {s for s in everything if not graph.cut[s]}
    lasso = Fairness(graph).lasso(bytearray(s in bad for s in range(graph.states)))
    assert (lasso is not None) == is_violated(edges, uncut, bad & uncut)
    if lasso is None:
        return
    check_lasso(graph, lasso, bad)
    final = {s for s in bad if graph.is_final(s)}
    recurring = {s for s in bad if s in fair_states(edges, {s})}
    nearest = min(len(graph.way_to(s)) for s in final | recurring)
    assert len(lasso.way) == nearest


@given(arrows)
def test_components_are_what_reaches_each_other(arrows: list[Arrow]) -> None:
    graph = graph_of(arrows)
    reach = {state: reached(graph, state) for state in range(graph.states)}
    assert components(graph) == {
        frozenset(b for b in reach[a] if a in reach[b]) for a in reach
    }
