"""Replays of traces of which no violation was recorded: safety is judged on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import COUNTER, run
from tests.runs.test_absent import state_file
from tests.runs.test_absent import system as holders

import worldline as wl
from worldline.trace.format import read, write

VIOLATED, UNKNOWN = wl.Verdict.VIOLATED, wl.Verdict.UNKNOWN


@pytest.fixture(autouse=True)
def _a_violation_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("check", "counter.py", "--out", "run.wl").status == 1


def save(step: str) -> Path:
    """Keep a state of the run."""
    run("debug", "run.wl", "counter.py", "-c", f"jump {step}; save here.wl")
    return Path("here.wl")


def test_a_state_that_violates_something_is_said_to():
    shown = run("show", save("end"))
    assert "a state, with no steps" in shown.out
    assert "violates nothing" not in shown.out
    state = read("here.wl")
    assert state.end is not None
    write(replace(state, end=replace(state.end, explanation=None)), "older.wl")
    assert "violates nothing" not in run("show", "older.wl").out
    result = run("replay", "here.wl", "counter.py")
    assert result.status == 1
    assert result.out.startswith("counter: VIOLATED replicas_agree_at_rest\n")
    assert "no violation was recorded" in result.out
    found = wl.replay("here.wl", "counter.py")
    assert (found.reproduced, found.verdict) == (True, VIOLATED)
    assert "this run violates nothing" not in found.explanation
    with pytest.raises(wl.PropertyFailed):
        found.expect_no_violation()
    assert run("check", "counter.py", "--from", "here.wl").status == 1


def test_a_state_that_violates_nothing_is_said_to_as_well():
    result = run("replay", save("1"), "counter.py")
    assert result.status == 0
    assert result.out.startswith(
        "counter: a state, with no steps, reproduced\n  this state violates nothing"
    )


def test_a_run_that_a_property_of_today_forbids_is_violated():
    trace = read("run.wl")
    assert trace.end is not None
    open_: dict[str, Any] = {
        "property": None,
        "kind": None,
        "verdict": "unknown",
        "explanation": None,
    }
    write(replace(trace, end=replace(trace.end, **open_)), "live.wl")
    write(replace(trace, end=None), "torn.wl")
    for file, words in {"live.wl": (), "torn.wl": ("--partial",)}.items():
        result = run("replay", file, "counter.py", *words)
        assert result.status == 1
        assert "VIOLATED replicas_agree_at_rest" in result.out
        assert run("replay", file, "counter.py", "-p", "fixed=true", *words).status != 1


def test_what_an_absent_node_hides_is_not_said_to_hold():
    made = holders()
    found = wl.replay(state_file(made, *made.ids[1:2]), made)
    assert (found.reproduced, found.verdict, found.exit_code) == (True, UNKNOWN, 3)
    assert "b_holds_nothing" in found.unknown
    assert "violates nothing" not in str(found)
