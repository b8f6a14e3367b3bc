"""Replays of runs that had a clock: deadlines again, and predicates from a file."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.runs.lamp import is_off, lamp, off, since_five, since_twenty, switched_at

import worldline as wl
from worldline.trace.format import read, write

PREDICATES = """\
import worldline as wl
from tests.runs.lamp import LAMP, since_twenty, switched_at

@wl.gauge(initial=0)
def switches(value, step, view):
    return value + (step.event.name == "switch")

@wl.liveness(confidence=since_twenty)
def is_off(view):
    assert not view[LAMP].is_on, f"on for the {view.gauge('switches')}. time"

@wl.safety
def seldom(view):
    return view.gauge("switches") < 3

@wl.sometimes
def lit(view):
    return view[LAMP].is_on
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("asked.py").write_text(PREDICATES)


def recorded(system: wl.System, seconds: float = 60) -> Path:
    """Record the violation of a simulated run."""
    found = wl.simulate(system, seconds=seconds, out="run.wl")
    assert found.trace is not None
    return found.trace


def test_a_deadline_is_reproduced():
    path = recorded(lamp())
    end = read(path).end
    assert end is not None
    assert end.span is not None
    assert (end.time, end.span.due, end.span.until) == (15.0, 15.0, 15.0)
    found = wl.replay(path, lamp())
    assert (found.reproduced, found.exit_code) == (True, 1)
    assert "deadline: false since step 3 (10 s), and sure at 15 s" in found.explanation


def test_with_another_confidence_it_is_due_no_more():
    path = recorded(lamp())
    found = wl.replay(path, lamp(off(since_twenty)))
    assert (found.reproduced, found.exit_code) == (False, 2)
    assert "is false at the end, but its confidence is 0.25" in found.explanation
    found = wl.replay(path, lamp(wl.liveness(is_off)))
    assert "is_off has no confidence any more" in found.explanation


def test_a_property_that_asks_for_the_time_is_judged_again_and_not_without_times():
    @wl.safety
    def early(view: wl.View) -> bool:
        return is_off(view) or view.time < 10

    path = recorded(lamp(early))
    assert wl.replay(path, lamp(early)).reproduced
    trace = read(path)
    timeless = [dataclasses.replace(step, time=None) for step in trace.steps]
    write(dataclasses.replace(trace, steps=tuple(timeless)), "timeless.wl")
    found = wl.replay("timeless.wl", lamp(early))
    assert not found.reproduced
    assert "property early reads the time" in found.explanation
    assert found.explanation.endswith("and the trace has no times")


def test_predicates_of_a_file_are_judged_after_each_step():
    path = recorded(lamp())
    found = wl.replay(path, lamp(), predicates="asked.py")
    assert (found.verdict, found.exit_code) == (wl.Verdict.VIOLATED, 1)
    rows = {row.name: row for row in found.properties}
    assert list(rows) == ["is_off", "seldom", "lit"]
    assert found.notes[-1] == "is_off is that of asked.py, in the place of the system's"
    # The file's own confidence is 5 / 20 where the recorded run ends, after 15 s.
    off_row = rows["is_off"]
    assert off_row.verdict is wl.Verdict.UNKNOWN
    assert [(s.time, s.until) for s in off_row.spans] == [(1.0, 3.0), (10.0, 15.0)]
    assert [s.explanation.splitlines()[0] for s in off_row.spans] == [
        "on for the 1. time",
        "on for the 3. time",
    ]
    assert [s.confidence for s in off_row.spans] == [pytest.approx(0.1), 0.25]
    assert off_row.spans[1].gauges == {"switched_at": 10.0, "switches": 3}
    assert found.undecided == ("is_off",)
    assert (rows["seldom"].verdict, rows["seldom"].steps) == (wl.Verdict.VIOLATED, 3)
    assert (rows["lit"].verdict, rows["lit"].steps) == (wl.Verdict.HOLDS, 1)
    assert found.command.endswith("--predicates asked.py")


@pytest.mark.parametrize(
    ("is_on", "code"), [("view[LAMP].is_on", 3), ("view[LAMP].switched < 0", 0)]
)
def test_without_a_violation_it_depends_on_what_is_false_at_the_end(
    is_on: str, code: int
):
    text = PREDICATES.replace("< 3", "< 9").replace(
        "not view[LAMP].is_on", f"not ({is_on})"
    )
    Path("asked.py").write_text(text)
    path = recorded(lamp())
    found = wl.replay(path, lamp(), predicates="asked.py")
    assert (found.verdict, found.exit_code) == (wl.Verdict.UNKNOWN, code)
    said = (
        "is_off false at the end, and not due" if code else "this run violates nothing"
    )
    assert str(found).startswith(f"lamp: {said}\n")


def test_a_deadline_of_the_file_is_met_in_the_middle_of_a_run():
    @wl.safety
    def never(view: wl.View) -> bool:
        return view.time < 20

    path = recorded(lamp(never, off(since_twenty)))
    Path("asked.py").write_text(
        "import worldline as wl\nfrom tests.runs.lamp import is_off, since_five\n"
        "strict = wl.liveness(confidence=since_five)(lambda view: is_off(view))\n"
    )
    found = wl.replay(path, lamp(never, off(since_twenty)), predicates="asked.py")
    rows = {row.name: row for row in found.properties}
    assert rows["never"].verdict is wl.Verdict.VIOLATED
    assert rows["never"].steps == 4
    strict = rows["<lambda>"]
    assert (strict.verdict, strict.steps) == (wl.Verdict.VIOLATED, 3)
    assert [(s.time, s.due, s.until) for s in strict.spans] == [
        (1.0, None, 3.0),
        (10.0, 15.0, 20.0),
    ]


def test_what_asks_for_times_is_not_judged_where_the_trace_has_none():
    @wl.safety
    def always_off(view: wl.View) -> bool:
        return is_off(view)

    found = wl.check(lamp(always_off, off(since_five)), out="run.wl")
    assert found.trace is not None
    replayed = wl.replay(found.trace, lamp(always_off), predicates="asked.py")
    rows = {row.name: row for row in replayed.properties}
    assert rows["always_off"].verdict is wl.Verdict.VIOLATED
    assert rows["seldom"].explanation == (
        "not judged: it asks for times, and the trace has none"
    )
    assert rows["lit"].verdict is wl.Verdict.HOLDS
    assert switched_at.name == "switched_at"
