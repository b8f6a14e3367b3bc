"""Time and memory: looked at inside of whatever may take long."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.engine import bounds, room
from worldline.engine.bounds import BoundHit, Bounds, Meter, bound_that_ended
from worldline.engine.graph import Graph
from worldline.lineage.engines.trials import SearchBudget
from worldline.loading.loader import load

AT_ONCE = 1e-9


def test_where_the_kernel_comes_back_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch,
):
    system = load("zoo:twophase", {"n": "6"})
    options: dict[str, Any] = {"max_depth": 30, "traces": False}
    whole = wl.check(system, engine="native", **options)
    opened = []

    def often(meter: Meter) -> float | None:
        opened.append(meter)
        return None if len(opened) % 5 == 0 else 1e-5

    monkeypatch.setattr(Meter, "seconds_left", property(often))
    # What follows the search has all the time that it needs, however busy the machine.
    monkeypatch.setattr(Meter, "going_on", lambda meter: Meter(Bounds()))
    found = wl.check(system, engine="native", **options)
    assert len(opened) > 20
    assert (found.verdict, found.states, found.generated, found.depth) == (
        whole.verdict,
        whole.states,
        whole.generated,
        whole.depth,
    )


@pytest.mark.parametrize(
    ("engine", "depth_first"), [("native", False), ("python", False), ("python", True)]
)
def test_a_search_without_time_sees_next_to_nothing(engine: Any, depth_first: bool):
    found = wl.check(
        load("zoo:twophase", {"n": "7"}),
        engine=engine,
        depth_first=depth_first,
        max_depth=50,
        max_seconds=AT_ONCE,
        traces=False,
    )
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "seconds")
    assert found.states < 1000


@pytest.mark.parametrize("engine", ["native", "python"])
def test_walks_look_at_the_clock_inside_a_walk(engine: Any):
    found = wl.walk(
        load("zoo:brokentree", {}), engine=engine, max_seconds=AT_ONCE, traces=False
    )
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "seconds")


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_process_that_has_too_much_from_the_beginning_says_so(engine: Any):
    found = wl.check(load("zoo:toy", {}), engine=engine, max_memory=1, traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")
    (note,) = [note for note in found.notes if "--max-memory" in note]
    assert "before the search began" in note


@pytest.mark.parametrize("engine", ["native", "python"])
def test_walks_have_a_bound_on_memory(engine: Any):
    found = wl.walk(
        load("zoo:brokentree", {}), engine=engine, max_memory=1, traces=False
    )
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")
    assert any("--max-memory" in note for note in found.notes)


@pytest.mark.parametrize("engine", [None, "ldfi", "random", "exhaustive"])
def test_searches_for_faults_have_a_bound_on_memory(engine: str | None):
    found = wl.find_faults("zoo:redun-deliv", engine=engine, max_memory=1, traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")
    assert any("--max-memory" in note for note in found.notes)


def test_python_nodes_in_rounds_have_a_bound_on_memory():
    found = wl.find_faults("zoo:broadcast", max_memory=1, traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")


def test_a_stage_has_a_bound_on_memory():
    found = wl.check(
        load("zoo:toy", {}),
        until=[lambda view: False],
        max_memory=1,
        traces=False,
    )
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")


def test_a_search_that_is_given_nothing_is_bound_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(room, "_left_in_machine", lambda: 0)
    found = wl.check(load("zoo:twophase", {"n": "5"}), traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "memory")


def test_where_python_has_no_memory_the_bound_is_memory():
    def work() -> None:
        raise MemoryError

    assert bound_that_ended(work) == "memory"


def test_samples_are_checked_for_a_while_though_time_is_up():
    spent = Meter(Bounds(seconds=-1.0))
    with pytest.raises(BoundHit, match="seconds"):
        spent.check()
    spent.going_on().check()


def test_samples_that_take_too_long_make_a_verdict_unknown(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(bounds, "_GRACE_S", -1.0)
    monkeypatch.setattr(Meter, "seconds_left", property(lambda self: -1.0))
    found = wl.check(load("zoo:toy", {}), engine="python", max_seconds=60, traces=False)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "seconds")


def test_what_is_worked_out_of_a_graph_can_be_ended():
    graph = Graph()
    for state in range(2000):
        graph.meet(state - 1)
        graph.leave([((state + 1) % 2000, 0)])

    def ended() -> None:
        raise BoundHit("seconds")

    graph.components()
    graph.pulse = ended
    with pytest.raises(BoundHit):
        graph.components()
    with pytest.raises(BoundHit):
        [list(graph.edges(state)) for state in range(2000)]


def test_all_that_is_asked_of_faults_shares_one_budget():
    budget = SearchBudget(seconds=60).begun()
    assert budget.started() is budget.started()
    shorter = SearchBudget(seconds=1.0, meter=budget.meter).started()
    assert shorter.seconds_left is not None
    assert shorter.seconds_left <= 1.0
