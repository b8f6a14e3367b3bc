"""Recording: equal runs give equal files, whatever the process and its hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.systems import stack, workers
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold, clocks, granted_twice, lock, staged

import worldline as wl
from worldline.model.usercode import divergence
from worldline.runs.record import Ending, record
from worldline.runs.replay import replay
from worldline.trace.format import read, write
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from pathlib import Path
from tests.systems import VARIANTS
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold, granted_twice
from worldline.show.diagram import diagram
from worldline.trace.format import write
from worldline.show.steps import steps
place = Path(sys.argv[1])
traces = [both_hold(), granted_twice()]
traces += [random_trace(make(), 31) for make in VARIANTS.values()]
for number, trace in enumerate(traces):
    write(trace, place / f"{number}.wl")
    text = [*steps(trace), *diagram(trace)]
    (place / f"{number}.txt").write_text("\\n".join(text), "utf-8")
"""


@pytest.mark.nightly
def test_equal_runs_give_equal_bytes_in_every_process(tmp_path: Path):
    found = []
    for seed in ("0", "1", "77"):
        place = tmp_path / seed
        place.mkdir()
        subprocess.run(
            [sys.executable, "-c", PROGRAM, str(place)],
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        )
        found.append({p.name: p.read_bytes() for p in place.iterdir()})
    assert len(found[0]) > 40
    assert found[0] == found[1] == found[2]


def test_boot_and_prologue_come_before_step_one():
    trace = both_hold()
    assert [(s.step, s.phase) for s in trace.steps][:5] == [
        (-3, "boot"),
        (-2, "boot"),
        (-1, "boot"),
        (0, "prologue"),
        (1, "run"),
    ]
    assert trace.run == trace.steps[4:]


def test_the_end_counts_deliveries_and_externals_of_the_run():
    end = both_hold().end
    assert end is not None
    # Six of its twelve steps are deliver, timer or call; the call is external too,
    # beside a drop, a duplicate, a partition, a heal, a crash and a restart.
    assert (end.steps, end.deliveries, end.externals) == (12, 6, 7)


def test_the_header_says_how_the_system_was_declared():
    header = both_hold().header
    assert header.system == "lock"
    assert header.names == ("server", "alice", "bob")
    assert header.nodes[1].kind == "Client"
    assert header.nodes[1].fields == {
        "server": {"$node": "server"},
        "holds": False,
        "tries": 0,
    }
    assert header.network == {
        "name": "datagrams",
        "loss": True,
        "duplication": True,
        "reordering": True,
        "buffer": None,
    }
    assert header.faults["drops"] == 1
    assert header.faults["restarts"] is None
    assert header.cuts[0] == ("server",)
    assert [(p.name, p.kind) for p in header.properties] == [
        ("mutual_exclusion", "safety")
    ]
    assert (header.target, header.source, header.seed) == (None, None, 7)


def test_a_step_says_all_that_its_handler_did():
    step = both_hold().steps[3]
    assert (step.node, step.kind, step.name) == ("alice", "call", "acquire")
    assert (step.choices, step.widths, step.log) == ((2,), (3,), ("asked",))
    assert step.changes == {"tries": (0, 1)}
    [send] = step.sends
    assert (send.to, send.name, send.taken) == ("server", "Lock", True)
    assert send.message == {"$is": "Lock", "ticket": 30}
    [timer] = step.timers
    assert (timer.name, timer.after, timer.payload) == ("again", 2.5, None)


def test_what_a_failed_handler_did_is_void():
    last = granted_twice().steps[-1]
    assert last.result == "failed"
    assert last.failure is not None
    assert (last.failure.kind, last.failure.name) == ("exception", "KeyError")
    assert (last.changes, last.sends, last.timers) == ({}, (), ())


def test_parts_have_dotted_fields():
    trace = random_trace(stack(), 2)
    names = {name for step in trace.steps for name in step.changes}
    assert {"link.unacked", "link.next"} <= names
    assert "link" not in names


def test_an_event_that_cannot_happen_is_not_recorded():
    system = lock()
    restart = wl.Event(wl.Kind.RESTART, system.ids[1])
    with pytest.raises(NotEnabled, match="restart at alice is not enabled"):
        record(
            DirectWorld(system),
            [],
            [],
            [(restart, ())],
            ending=Ending(None, None, wl.Verdict.UNKNOWN),
            engine="test",
            seed=0,
        )


@wl.node
class Spinner:
    turns: int = 0

    @wl.call
    def spin(self, ctx: wl.Context) -> None:
        while True:
            self.turns += 1


def spinner() -> wl.System:
    [node] = wl.ids("s")
    return wl.System({node: Spinner()}, workload=[wl.script(node, [Spinner.spin])])


@pytest.mark.slow
def test_a_handler_that_diverges_is_recorded_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(divergence, "LINE_BUDGET", divergence.LINE_BUDGET // 20)
    system = spinner()
    [node] = system.ids
    call = wl.Event(wl.Kind.CALL, node, name="spin", payload=())
    boot = [(wl.Event(wl.Kind.START, node), ())]
    ending = Ending("divergence", "safety", wl.Verdict.VIOLATED)
    trace = record(
        DirectWorld(system),
        boot,
        [],
        [(call, ())],
        ending=ending,
        engine="test",
        seed=0,
    )
    failure = trace.steps[-1].failure
    assert failure is not None
    assert (failure.kind, failure.name) == ("divergence", "Spinner.spin")
    write(trace, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", spinner())
    assert found.reproduced
    assert found.explanation.startswith("Spinner.spin (")


def test_a_deadlock_is_replayed_as_one(tmp_path: Path):
    system = lock(network=wl.datagrams(loss=False), faults=wl.Faults(crashes=3))
    ending = Ending("deadlock", "safety", wl.Verdict.VIOLATED, "nothing can happen")
    patterns = [wl.events.crash(node) for node in system.ids]
    write(staged(system, patterns, ending), tmp_path / "trace.wl")
    trace = read(tmp_path / "trace.wl")
    assert trace.end is not None
    assert str(trace.end.explanation) == "nothing can happen"
    assert replay(tmp_path / "trace.wl", system).reproduced
    early = staged(system, patterns[:2], ending)
    write(early, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", system)
    assert not found.reproduced
    assert "call at bob acquire" in found.explanation


@pytest.mark.parametrize("verdict", [wl.Verdict.HOLDS, wl.Verdict.UNKNOWN])
def test_a_run_that_violates_nothing_is_reproduced(verdict: Any, tmp_path: Path):
    system = workers()
    world = DirectWorld(system)
    boot = [(event, world.step(event).choices) for event in world.boot_events()]
    ending = Ending("totals_are_small", "safety", verdict)
    trace = record(
        DirectWorld(system), boot, [], [], ending=ending, engine="test", seed=0
    )
    write(trace, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", workers())
    assert (found.reproduced, found.exit_code) == (True, 0)


@pytest.mark.slow
def test_a_long_run_replays_in_reasonable_time(tmp_path: Path):
    trace = random_trace(clocks("a", "b", "c"), 1, 1000)
    write(trace, tmp_path / "trace.wl")
    found = replay(tmp_path / "trace.wl", clocks("a", "b", "c"))
    assert found.reproduced
    assert found.steps_per_s > 500
