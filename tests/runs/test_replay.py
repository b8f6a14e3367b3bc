"""Replaying a trace: step by step the same, or the first difference is told."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.shares import share
from tests.systems import VARIANTS, players, workers
from tests.trace.runs import boot, random_run, random_trace

import worldline as wl
from worldline.model.system import SystemOrigin
from worldline.runs.record import Ending, record
from worldline.runs.replay import replay
from worldline.runs.schedule import schedule_of
from worldline.trace.format import read, write
from worldline.worlds.direct import DirectWorld


@pytest.mark.parametrize("variant", share(list(VARIANTS), every=3, first=2))
def test_a_recorded_run_replays(variant: str, tmp_path: Path):
    place = tmp_path / "trace.wl"
    for seed in range(4):
        system = VARIANTS[variant]()
        trace = random_trace(system, seed, 60)
        write(trace, place)
        found = replay(place, VARIANTS[variant]())
        assert str(found.divergence) == "None"
        assert found.reproduced
        assert found.verified == found.steps == len(trace.steps)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_schedule_of_a_trace_is_the_one_recorded(variant: str):
    system = VARIANTS[variant]()
    started, prologue, done, failure = random_run(system, 5, 40)
    ending = Ending(failure, None, wl.Verdict.UNKNOWN)
    trace = record(
        DirectWorld(system),
        started,
        prologue,
        done,
        ending=ending,
        engine="test",
        seed=5,
    )
    assert schedule_of(trace, system) == (started, prologue, done)


def caught_twice(tmp_path: Path, **options: Any) -> Path:
    """The trace of a violation of `nobody_catches_two`: found by hand."""
    system = players(**options)
    world = DirectWorld(system)
    started = boot(world)
    run = []
    while all(node.caught < 2 for node in world.nodes):
        event = world.enabled()[-1]
        run.append((event, world.step(event).choices))
    ending = Ending("nobody_catches_two", "safety", wl.Verdict.VIOLATED)
    trace = record(
        DirectWorld(system), started, [], run, ending=ending, engine="test", seed=None
    )
    write(trace, tmp_path / "trace.wl")
    return tmp_path / "trace.wl"


def test_a_violation_is_reproduced(tmp_path: Path):
    found = replay(caught_twice(tmp_path), players())
    assert found.reproduced
    assert found.exit_code == 1
    assert found.verdict is wl.Verdict.VIOLATED
    lines = str(found).splitlines()
    assert lines[:3] == [
        "players: VIOLATED nobody_catches_two, reproduced",
        "  view[node].caught < 2 is false for node = b",
        "    b.caught was 2",
    ]
    assert lines[3].startswith("  6 of 6 steps went as recorded, ")
    assert not found.source_changed
    assert found.notes == ()
    assert found.to_json()["property"] == "nobody_catches_two"
    assert found.to_json()["divergence"] is None


def test_an_end_that_is_no_violation_any_more_is_told(tmp_path: Path):
    system = players()
    harmless = wl.Property("nobody_catches_two", system.properties[0].kind, bool)
    system.properties = (harmless,)
    found = replay(caught_twice(tmp_path), system)
    assert not found.reproduced
    assert found.divergence is None
    assert found.explanation == "nobody_catches_two is true at the end"
    assert found.exit_code == 2
    system.properties = ()
    assert replay(caught_twice(tmp_path), system).explanation == (
        "players has no property 'nobody_catches_two': what the run violates was "
        "declared elsewhere; if a file of predicates has it, add --predicates FILE.py"
    )


def test_another_network_is_noted_and_the_run_diverges_there(tmp_path: Path):
    trace = random_trace(workers(network=wl.streams(buffer=1)), 1, 60)
    assert any(not send.taken for step in trace.steps for send in step.sends)
    write(trace, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", workers(network=wl.streams(buffer=5)))
    assert not found.reproduced
    assert found.notes == ("buffer of the network was 1, now it is 5",)
    assert found.divergence is not None
    assert found.divergence.what == "sends"
    assert "not taken: the buffer is full" in found.divergence.recorded
    assert "not taken: the buffer is full" not in found.divergence.happened
    assert "  note: buffer of the network was 1, now it is 5" in str(found)


CHANGES: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "changes": ({"changes": {}}, "changes", "none", " → "),
    "log": ({"log": ("x",)}, "log", "x", "nothing"),
    "lamport": ({"lamport": 99}, "order", "Lamport time 99", "Lamport time"),
    "timers": ({"timers": ()}, "timers", "none", "set timer"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_that_went_otherwise_is_told(change: str, tmp_path: Path):
    changes, what, recorded, happened = CHANGES[change]
    trace = random_trace(workers(), 3)
    wanted = next(
        number
        for number, step in enumerate(trace.steps)
        if any(getattr(step, name) != value for name, value in changes.items())
    )
    steps = list(trace.steps)
    steps[wanted] = dataclasses.replace(steps[wanted], **changes)
    write(dataclasses.replace(trace, steps=tuple(steps)), tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", workers())
    assert found.divergence is not None
    assert (found.divergence.step, found.divergence.what) == (steps[wanted].step, what)
    assert found.divergence.recorded == recorded
    assert happened in found.divergence.happened
    assert found.verified == wanted


def test_an_event_that_cannot_happen_is_told(tmp_path: Path):
    trace = random_trace(players(), 0, 1)
    deliver = dataclasses.replace(
        trace.steps[-1],
        kind="deliver",
        name="Ball",
        node="a",
        peer="b",
        payload={"$is": "Ball", "bounces": 1},
    )
    for payload, happened in (
        (
            {"$is": "Ball", "bounces": 1},
            "it cannot happen; what can is: call at a throw",
        ),
        ({"$is": "Bull"}, "names Bull, which"),
        (None, "there is no deliver event of 'Ball' at a about b with None"),
        ({"$is": "Ball", "bounces": {"$set": [[]]}}, "cannot be a value"),
        ({"$is": "Ball", "bounces": []}, "holds a list"),
    ):
        other = dataclasses.replace(deliver, payload=payload)
        steps = (*trace.steps[:-1], other)
        write(dataclasses.replace(trace, steps=steps), tmp_path / "trace.wl")
        found = replay(tmp_path / "trace.wl", players())
        assert found.divergence is not None
        assert found.divergence.what == "event"
        assert happened in found.divergence.happened


def test_a_trace_that_breaks_off_is_replayed_as_far_as_it_goes(tmp_path: Path):
    trace = random_trace(workers(), 2)
    short = dataclasses.replace(trace, steps=trace.steps[:7], end=None)
    write(short, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", workers())
    assert found.reproduced
    assert found.verdict is None
    assert found.exit_code == 0
    last = trace.steps[6].step
    assert found.explanation == (
        f"the trace is truncated after step {last}; it has no verdict"
    )


def test_a_system_with_other_nodes_is_refused(tmp_path: Path):
    place = caught_twice(tmp_path)
    with pytest.raises(wl.InputError, match="the trace has the nodes a, b, the system"):
        replay(place, workers(3))
    with pytest.raises(wl.UsageError, match=r"does not say from where .* system="):
        replay(place)


def test_a_changed_source_is_a_note(tmp_path: Path):
    system = players()
    system.origin = SystemOrigin("file.py", (), "0001")
    write(random_trace(system, 0, 4), tmp_path / "trace.wl")
    now = players()
    now.origin = SystemOrigin("file.py", (), "0002")
    found = replay(tmp_path / "trace.wl", now)
    assert found.reproduced
    assert found.source_changed
    assert "note: the source changed since this trace was recorded" in str(found)


MODULE = """
import worldline as wl

@wl.message
class Go:
    hops: int

@wl.node
class Ring:
    seen: int = 0
    @wl.call
    def begin(self, ctx):
        ctx.send(ctx.nodes[1], Go(3))
    @wl.on(Go)
    def go(self, ctx, src, msg):
        self.seen += 1
        if msg.hops:
            ctx.send(src, Go(msg.hops - 1))

@wl.safety
def nobody_sees_two(view):
    for node in view:
        assert view[node].seen < 2

def system(spare: int = 0):
    nodes = wl.ids("a", "b")
    return wl.System({n: Ring() for n in nodes},
                     workload=[wl.script(nodes[0], [Ring.begin])],
                     properties=[nobody_sees_two], name="ring")
"""


def test_a_system_is_loaded_from_where_the_caller_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from worldline.loading.loader import load

    monkeypatch.chdir(tmp_path)
    Path("ring.py").write_text(MODULE)
    report = wl.check(load("ring.py", {"spare": "1"}))
    [row] = report.properties
    assert row.trace is not None
    with pytest.raises(wl.UsageError, match=r"a run of ring.py, .*, 'ring.py'\)"):
        wl.replay(row.trace)
    found = wl.replay(row.trace, "ring.py")
    assert found.reproduced
    assert not found.source_changed
    header = read(row.trace).header
    assert (header.target, header.parameters) == ("ring.py", {"spare": "1"})
    Path("ring.py").write_text(MODULE.replace("self.seen += 1", "self.seen += 2"))
    found = wl.replay(row.trace, "ring.py", parameters={"spare": "2"})
    assert found.source_changed
    assert found.divergence is not None
    assert (found.divergence.recorded, found.divergence.happened) == (
        "seen: 0 → 1",
        "seen: 0 → 2",
    )


@pytest.mark.parametrize("verb", [wl.replay, wl.minimize])
def test_what_has_no_trace_is_told_so(verb: Any):
    with pytest.raises(wl.UsageError, match="the trace is None; give the path"):
        verb(None)
