"""Windows of long runs: traces that begin in a state of the run, with what was known there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.runs.recording import rounds
from tests.runs.recording.simulated import record

import worldline as wl
from worldline.runs.recording import kept
from worldline.runs.recording import replay as replaying
from worldline.runs.recording.replay import replay_recording
from worldline.trace.format import read

GAUGED = """\
import worldline as wl
from tests.runs.recording.rounds import A

@wl.gauge(initial=0)
def steps(value, step, view):
    return value + 1

@wl.safety
def seldom(view):
    return view.gauge("steps") < 120
"""


@pytest.mark.parametrize(
    "network", [wl.datagrams(), wl.datagrams(loss=False), wl.streams(buffer=20)]
)
def test_a_window_is_replayed_from_its_state(network: Any):
    system = rounds.system(network, properties=[])
    folder = record(Path("run"), system, seconds=30, rate=0.0)
    found = replay_recording(folder, system, window=(50, 70))
    assert found.window == (50, 70)
    assert found.trace is not None
    trace = read(found.trace)
    assert (trace.header.begins, len(trace.run)) == ("state", 21)
    assert wl.replay(found.trace, system).reproduced
    whole = replay_recording(folder, system, out=Path("whole.wl"))
    steps = read(whole.trace or "").run[49:70]
    assert [(s.node, s.kind, s.time, s.changes) for s in steps] == [
        (s.node, s.kind, s.time, s.changes) for s in trace.run
    ]


def test_of_a_long_run_the_last_steps_before_its_violation_are_kept_with_gauges(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(kept, "WHOLE", 60)
    monkeypatch.setattr(kept, "_STRETCH", 20)
    monkeypatch.setattr(kept, "_LAST", 2)
    monkeypatch.setattr(replaying, "WHOLE", 60)
    Path("asked.py").write_text(GAUGED)
    system = rounds.system(properties=[])
    folder = record(Path("run"), system, seconds=60, rate=0.0)
    found = replay_recording(folder, system, predicates=Path("asked.py"))
    last = found.expect_violated("seldom").steps
    assert found.window is not None
    assert found.window[1] == last
    assert 40 <= found.window[1] - found.window[0] + 1 <= 60
    assert found.trace is not None
    again = wl.replay(found.trace, system, predicates="asked.py")
    assert again.reproduced
    assert [row.verdict for row in again.properties] == [wl.Verdict.VIOLATED]
    quiet = replay_recording(folder, system)
    assert quiet.trace is None
    assert "ask for some with --window FIRST:LAST" in quiet.no_trace


def test_of_a_run_whose_trace_would_be_large_fewer_steps_are_kept(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(kept, "_STRETCH", 20)
    monkeypatch.setattr(replaying, "_SAMPLE", 10)
    monkeypatch.setattr(replaying, "LARGEST", 20_000)
    Path("asked.py").write_text(GAUGED)
    system = rounds.system(properties=[])
    folder = record(Path("run"), system, seconds=60, rate=0.0)
    found = replay_recording(folder, system, predicates=Path("asked.py"))
    assert found.window is not None
    first, last = found.window
    assert last == found.expect_violated("seldom").steps
    assert first > 1
    assert found.trace is not None
    assert wl.replay(found.trace, system, predicates="asked.py").reproduced
    quiet = replay_recording(folder, system)
    assert quiet.no_trace.startswith("the trace would be large; ask for some")
    asked = replay_recording(folder, system, window=(1, 100))
    assert asked.window == (1, 100)


@wl.safety
def few_at_a(view: wl.View) -> bool:
    return bool(view[rounds.A].kept < 5)


@wl.safety
def fewer_at_b(view: wl.View) -> bool:
    return bool(view[rounds.B].kept < 15)


def test_a_window_may_be_behind_the_first_violation():
    system = rounds.system(properties=[few_at_a, fewer_at_b])
    folder = record(Path("run"), system, seconds=60, rate=0.0)
    found = replay_recording(folder, system)
    first = found.expect_violated("few_at_a").steps
    second = found.expect_violated("fewer_at_b").steps
    assert first is not None
    assert second is not None
    assert found.window == (1, first)
    # The later one as well, if it is asked for.
    later = replay_recording(folder, system, prop="fewer_at_b", out=Path("later.wl"))
    assert later.window == (1, second)
    assert wl.replay("later.wl", system).property_name == "fewer_at_b"
    behind = replay_recording(
        folder, system, window=(first + 1, second), out=Path("behind.wl")
    )
    assert (behind.window, behind.offset) == ((first + 1, second), first + 1)
    assert f"its step 1 is step {first + 1}" in str(behind)
    assert wl.replay("behind.wl", system).property_name == "fewer_at_b"
    window = first + 1, second - 1
    between = replay_recording(folder, system, window=window, out=Path("between.wl"))
    assert between.window == window
    end = read("between.wl").end
    assert end is not None
    assert end.explanation is not None
    assert end.explanation.message == "the run violates few_at_a before this end"


def test_what_was_true_in_all_states_is_told_from_what_nobody_knows():
    @wl.liveness
    def some_at_a(view: wl.View) -> bool:
        return bool(view[rounds.A].kept > 3)

    properties = [fewer_at_b, some_at_a, rounds.few_at_c()]
    system = rounds.system(properties=properties)
    folder = record(Path("run"), system, seconds=12, rate=0.0)
    (folder / "c" / "1-0.wlj").unlink()
    found = replay_recording(folder, system)
    said = str(found)
    assert f"fewer_at_b  safety: true after each of {found.run_steps} steps" in said
    assert "some_at_a   liveness: true at the end" in said
    assert "few_at_c    safety: not known from step 0 on: it reads c" in said
    assert found.to_json()["properties"][0]["verdict"] == "unknown"
