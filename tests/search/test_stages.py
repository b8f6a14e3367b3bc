"""Searching in stages: to the nearest state of a goal, then on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.search.dying import A, B, asker, climber

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.trace.format import read
from worldline.zoo import brokentree, twophase

HOLDS, UNKNOWN, VIOLATED = wl.Verdict.HOLDS, wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lost(view: wl.View) -> bool:
    return view.is_finished(A) and not view.messages() and not view[B].heard


def never(view: wl.View) -> bool:
    return view[B].heard and not view.is_finished(A)


def patient(**options: Any) -> wl.System:
    return asker(patient=True, **options)


# ------------------------------------------------------------------------------- the goals


def test_the_search_begins_anew_in_the_nearest_state_of_the_goal():
    report = wl.check(patient(), until=[lost])
    assert report.expect_violated("is_heard").steps == 2
    assert (
        "from the first state where lost is true, 2 steps on" in report.assumptions[-1]
    )


def test_the_trace_has_all_stages_and_replays():
    report = wl.check(patient(), until=["is_asked", lost], out="x.wl")
    assert report.verdict is VIOLATED
    kinds = [step.kind for step in read("x.wl").steps if step.phase != "boot"]
    assert kinds == ["call", "drop", "timer", "drop"]
    assert wl.replay("x.wl", patient()).reproduced
    found = [one for one in report.assumptions if "from the first state" in one]
    assert ["is_asked is true, 1 step on" in found[0], "lost" in found[1]] == [True] * 2


def test_a_goal_that_is_true_at_once_changes_nothing():
    expected = wl.check(climber(), liveness=False)
    report = wl.check(climber(), until=[lambda view: True], liveness=False)
    assert report.states == expected.states
    assert "at once" in report.assumptions[-1]


def test_walks_begin_after_the_stages():
    report = wl.walk(patient(), depth=4, until=[lost])
    assert report.critical is not None
    assert report.critical.step == 2
    assert report.violated is not None
    assert report.violated.trace is not None
    assert wl.replay(report.violated.trace, patient()).reproduced
    assert any("lost is true" in note for note in report.notes)


def test_stages_go_on_from_a_run():
    wl.check(patient(), until=[lost], out="x.wl")
    report = wl.check(patient(), from_="x.wl:1", until=[lost], out="y.wl")
    assert report.expect_violated("is_heard").steps == 0
    assert len(read("y.wl").steps) == 6
    assert [one[:4] for one in report.assumptions[-2:]] == ["from", "then"]


def test_a_goal_may_single_out_a_symmetric_node():
    system = twophase.system(n=2)
    second = system.ids[-1]

    def is_told(view: wl.View) -> bool:
        return bool(view.messages(dst=second))

    report = wl.check(system, until=[is_told])
    assert report.verdict in (HOLDS, UNKNOWN, VIOLATED)
    assert "is_told" in " ".join([*report.notes, *report.assumptions])


@pytest.mark.parametrize("options", [{"engine": "python"}, {"threads": 3}])
def test_no_engine_and_no_thread_changes_the_result(options: dict[str, Any]):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))

    def found(**chosen: Any) -> Any:
        system = brokentree.system(bugs=("bt2",))
        root = system.ids[0]
        goal = lambda view: len(view[root].kids) == 2  # noqa: E731
        report = wl.check(system, until=[goal], out="x.wl", **chosen)
        return report.states, report.generated, read("x.wl").steps, report.notes

    assert found(**options) == found(engine="native", threads=1)


# -------------------------------------------------------------------------- no goal reached


@pytest.mark.parametrize("search", [wl.check, wl.walk])
def test_a_goal_that_no_state_satisfies_is_unknown(search: Any):
    report = search(patient(), until=[never], traces=False)
    assert (report.verdict, report.bound) == (UNKNOWN, "until")
    assert any("never is true in none of all" in note for note in report.notes)


def test_a_bound_before_the_goal_is_unknown():
    report = wl.check(climber(), until=["on_top"], max_depth=5)
    assert (report.verdict, report.bound) == (UNKNOWN, "depth")
    assert any("ended before it was true" in note for note in report.notes)


@pytest.mark.parametrize("search", [wl.check, wl.walk])
def test_a_violation_before_the_goal_is_reported(search: Any):
    report = search(patient(rash=True), until=["is_heard"])
    assert report.expect_violated("exception").steps == 2
    assert any("found in the search for is_heard" in note for note in report.notes)


def test_a_start_that_fails_is_reported():
    @wl.node
    class Broken:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            raise ValueError

    report = wl.check(wl.System({A: Broken()}), until=[lambda view: True])
    assert report.expect_violated("exception").steps == 0


def test_time_is_shared_by_all_stages():
    report = wl.check(climber(), until=["on_top"], max_seconds=1e-9)
    assert (report.verdict, report.bound) == (UNKNOWN, "seconds")


def test_a_goal_without_a_property_is_refused():
    with pytest.raises(wl.UsageError, match=r"no property 'summit' .* on_top"):
        wl.check(climber(), until=["summit"])
