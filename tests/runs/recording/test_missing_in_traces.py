"""Traces of recordings of which something is missing: they claim no more than the replay."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.rounds import C
from tests.runs.recording.simulated import scribe_of

import worldline as wl
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.model.verdicts import Verdict
from worldline.runs.loading import as_recorded
from worldline.runs.recording.replay import replay_recording
from worldline.show.steps import steps
from worldline.trace.format import read


@wl.gauge(initial=0)
def steps_so_far(value: int, step: Any, view: wl.View) -> int:
    return value + 1


@wl.liveness(confidence=lambda view: view.gauge("steps_so_far") / 1_000_000)
def many_at_c(view: wl.View) -> bool:
    return bool(view[C].kept > 1_000)


SYSTEM = rounds.system(properties=[many_at_c, rounds.few_at_b], gauges=[steps_so_far])


def recorded(missing: str) -> Path:
    """Return a recording that lacks a journal, the end of one, or nothing."""
    scribe = scribe_of(SYSTEM, seconds=20, rate=0.0)
    if missing == "end":
        turns = scribe.lives[2][0].turns
        del turns[len(turns) // 2 :]
    scribe.write(folder := Path("run"))
    if missing == "journal":
        shutil.rmtree(folder / "c")
    return folder


def opened(trace: Path) -> Session:
    read_ = read(trace)
    return Session(Timeline(read_, as_recorded(read_.header, SYSTEM)))


@pytest.mark.parametrize("missing", ["nothing", "end", "journal"])
def test_a_trace_says_what_the_replay_of_its_recording_said(missing: str):
    found = replay_recording(recorded(missing), SYSTEM)
    assert found.trace is not None
    again = wl.replay(found.trace, SYSTEM)
    assert again.reproduced
    assert found.exit_code == again.exit_code == 3
    assert (again.undecided, again.unknown) == (found.undecided, found.unknown)
    assert again.unknown == (() if missing == "nothing" else ("many_at_c",))
    rows = {row.name: row for row in again.properties}
    for row in found.properties:
        assert rows[row.name].verdict is row.verdict
        assert rows[row.name].explanation == row.explanation
        assert [span.first for span in rows[row.name].spans] == [
            span.first for span in row.spans
        ]
    end = read(found.trace).end
    assert end is not None
    assert end.verdict == Verdict.UNKNOWN.value
    said = "\n".join(steps(read(found.trace)))
    why = "not known" if again.unknown else "false at the end, and not due"
    assert f"UNKNOWN: many_at_c {why}" in said
    assert "LIVE" not in said
    assert "violates nothing" not in said


@wl.safety
def some_keep_much(view: wl.View) -> bool:
    return not view.for_each_node(lambda view, node: view[node].kept < 1_000_000)


def test_what_all_known_nodes_do_is_not_said_of_all():
    system = rounds.system(properties=[some_keep_much])
    found = replay_recording(recorded("journal"), system)
    assert found.properties[0].verdict is Verdict.UNKNOWN
    assert found.trace is not None
    assert wl.replay(found.trace, system).unknown == ("some_keep_much",)
    shutil.rmtree("run")
    whole = replay_recording(recorded("nothing"), system)
    assert whole.properties[0].verdict is Verdict.VIOLATED


def test_where_nothing_is_open_a_trace_says_that_the_run_violates_nothing():
    system = rounds.system(properties=[rounds.few_at_b])
    found = replay_recording(recorded("nothing"), system)
    assert found.trace is not None
    assert "LIVE: this run violates nothing" in "\n".join(steps(read(found.trace)))
    assert wl.replay(found.trace, system).exit_code == found.exit_code == 0


def test_a_trace_says_from_where_on_a_node_is_not_known():
    found = replay_recording(recorded("end"), SYSTEM)
    assert found.trace is not None
    lost = read(found.trace).header.options["unseen"]["nodes"]["c"]
    assert f"  not known c after step {lost}" in list(steps(read(found.trace)))
    session = opened(found.trace)
    for step, is_known in ((lost, True), (lost + 1, False), (3, True)):
        (state,) = session.state(step, ["c"])
        assert (state.owns["(status)"] == "up") is is_known
        assert (state.owns["(status)"] == "not known") is not is_known
    network = session.state(lost + 1)[-1]
    assert network.owns["(gauges)"] == ["steps_so_far: not known"]
    (status,) = session.status(["many_at_c"])
    assert status.spans[-1].first == lost + 1
    assert "it reads c, of which nothing is known" in str(status.spans[-1].value)
    with pytest.raises(wl.UsageError, match="many_at_c is not known after step"):
        session.explain(lost + 1, "many_at_c")
    assert session.explain(lost, "many_at_c") is not None


def test_a_debugger_invents_no_state_for_a_node_without_a_journal():
    found = replay_recording(recorded("journal"), SYSTEM)
    assert found.trace is not None
    session = opened(found.trace)
    last = session.timeline.last
    (state,) = session.state(last, ["c"])
    assert (state.fields, state.owns) == ({}, {"(status)": "not known"})
    assert all(event.node != "c" for event in session.possible(last))
    (status,) = session.status(["many_at_c"])
    assert [type(span.value) for span in status.spans] == [str]


def test_a_window_says_what_was_known_by_its_end():
    folder = recorded("end")
    whole = replay_recording(folder, SYSTEM, out=Path("whole.wl"))
    lost = read(Path("whole.wl")).header.options["unseen"]["nodes"]["c"]
    before = replay_recording(folder, SYSTEM, window=(5, lost), out=Path("part.wl"))
    assert whole.unknown == before.unknown == ("many_at_c",)
    part = read(Path("part.wl"))
    assert "unseen" not in part.header.options
    assert part.end is not None
    assert (part.end.undecided, part.end.unknown) == (("many_at_c",), ())
    behind = replay_recording(
        folder, SYSTEM, window=(lost + 2, lost + 9), out=Path("part.wl")
    )
    assert behind.window == (lost + 2, lost + 9)
    part = read(Path("part.wl"))
    assert part.header.options["unseen"]["nodes"] == {"c": None}
    assert wl.replay(Path("part.wl"), SYSTEM).unknown == ("many_at_c",)
    lines = list(steps(part))
    assert "  not known c" in lines
    assert "  nothing is known of c" in lines


@pytest.mark.parametrize("said", [3, {"nodes": ["c"]}, {"nodes": {"x": 1}}])
def test_a_trace_that_lacks_nodes_which_are_none_is_refused(said: Any):
    found = replay_recording(recorded("end"), SYSTEM)
    assert found.trace is not None
    header = read(found.trace).header
    options = {**header.options, "unseen": said}
    with pytest.raises(wl.InputError, match="which are none of its nodes"):
        as_recorded(dataclasses.replace(header, options=options), SYSTEM)
