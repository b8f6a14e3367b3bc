"""Searching on from a recorded run: where it begins, what may happen, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.search.dying import Asker, Request, asker, climber
from tests.search.walks.test_walks import facts
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_trace

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.model.faults import FaultBudget
from worldline.model.semantics.layout import Layout
from worldline.runs.prefix import Prefix, beginning_after
from worldline.runs.record import Ending, record
from worldline.runs.schedule import schedule_of
from worldline.trace.format import read, write
from worldline.worlds.direct import DirectWorld
from worldline.zoo import twophase

HOLDS, UNKNOWN, VIOLATED = wl.Verdict.HOLDS, wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED
SEARCHES = [{"engine": "python"}, {"engine": "native"}, {"threads": 3}]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(system: wl.System, *events: wl.events.Pattern, file: str = "run.wl") -> Path:
    """Record a run; it ends in nothing special."""
    world = DirectWorld(system)
    boot = [(event, world.step(event).choices) for event in world.boot_events()]
    prologue = world.prepare(system.prologue)
    done = []
    for pattern in events:
        event = next(e for e in world.enabled() if pattern.matches(e))
        done.append((event, world.step(event, pattern.choices).choices))
    ending = Ending(None, None, UNKNOWN)
    trace = record(
        DirectWorld(system), boot, prologue, done, ending=ending, engine="test", seed=0
    )
    write(trace, file)
    return Path(file)


def lost(system: wl.System) -> Path:
    """Record how the first request is lost."""
    a, b = system.ids
    return run(system, wl.events.call(a, Asker.ask), wl.events.drop(b, Request))


def patient() -> wl.System:
    return asker(patient=True)


# ------------------------------------------------------------------------- where it begins


def test_faults_may_happen_again_however_many_have():
    assert wl.check(patient()).verdict is HOLDS
    report = wl.check(patient(), from_=lost(patient()))
    assert report.expect_violated("is_heard").steps == 2
    assert "from step 2 of run.wl on" in str(report)


def test_the_trace_has_the_whole_run_and_replays():
    report = wl.check(patient(), from_=lost(patient()), out="both-lost.wl")
    found = report.expect_violated("is_heard").trace
    assert found is not None
    trace = read(found)
    phases = [(step.phase, step.kind) for step in trace.steps]
    assert phases == [
        ("boot", "start"),
        ("boot", "start"),
        ("prologue", "call"),
        ("prologue", "drop"),
        ("run", "timer"),
        ("run", "drop"),
    ]
    assert wl.replay(found, patient()).reproduced


def test_a_search_may_go_on_from_what_such_a_search_has_found():
    wl.check(patient(), from_=lost(patient()), out="both-lost.wl")
    assert wl.check(patient(), from_="both-lost.wl:-1").verdict is HOLDS
    for step, left in ((0, 2), (1, 1), (2, 0)):
        report = wl.check(patient(), from_=f"both-lost.wl:{step}")
        assert report.expect_violated("is_heard").steps == left


@pytest.mark.parametrize("search", [wl.check, wl.walk, wl.predict])
def test_a_search_may_go_on_from_calls_that_no_workload_has(search: Any):
    @wl.node
    class Lamp:
        turns: int = 0

        @wl.call
        def turn(self, ctx: wl.Context, by: int) -> None:
            self.turns += by

    @wl.safety
    def it_was_not_turned_far(view: wl.View) -> bool:
        return bool(view[lamp].turns < 9)

    (lamp,) = wl.ids("a")
    one = wl.wait_until(lambda self: self.turns > 0, name="on")
    system = wl.System(
        {lamp: Lamp()},
        workload=[
            wl.script(lamp, [one, wl.invoke(Lamp.turn, 3), wl.invoke(Lamp.turn, 3)])
        ],
        properties=[it_was_not_turned_far],
        name="lamp",
    )
    deployed = system.under_recording()
    world = DirectWorld(deployed)
    boot = [(event, world.step(event).choices) for event in world.boot_events()]
    calls = [wl.Event(wl.Kind.CALL, lamp, name="turn", payload=(by,)) for by in (4, 3)]
    done = [(event, world.step(event).choices) for event in calls]
    ending = Ending(None, None, UNKNOWN)
    trace = record(
        DirectWorld(deployed), boot, [], done, ending=ending, engine="run", seed=0
    )
    write(trace, "run.wl")
    (row,) = search(system, from_="run.wl").properties
    assert (row.verdict, row.steps) == (VIOLATED, 1)
    assert wl.replay(row.trace, system).reproduced


def test_step_0_is_where_every_search_begins():
    expected = wl.check(patient(), keep_going=True)
    found = wl.check(patient(), from_=f"{lost(patient())}:0", keep_going=True)
    assert (found.states, found.generated) == (expected.states, expected.generated)
    assert found.assumptions[:-1] == expected.assumptions
    assert "from step 0 of run.wl on" in found.assumptions[-1]


def test_a_file_may_be_named_like_a_step():
    lost(patient()).rename("run.wl:1")
    assert Prefix.of("run.wl:1") == (Path("run.wl:1"), None)
    assert Prefix.of("run.wl:2") == (Path("run.wl"), 2)
    assert Prefix.of(Path("run.wl:2")) == (Path("run.wl:2"), None)


def test_walks_go_on_from_a_run():
    file = lost(patient())
    report = wl.walk(patient(), depth=4, from_=file)
    assert report.critical is not None
    assert (report.critical.step, report.critical.certainty) == (2, "certified")
    assert report.violated is not None
    assert report.violated.trace is not None
    assert len(read(report.violated.trace).steps) == 6
    assert wl.replay(report.violated.trace, patient()).reproduced
    assert report.live_trace is not None
    assert wl.replay(report.live_trace, patient()).reproduced


def test_a_walk_after_its_critical_transition_begins_dead():
    wl.walk(climber(), depth=2, seed=5, max_steps=40, out="fall.wl")
    dead = wl.walk(climber(), from_="fall.wl:30")
    assert dead.critical is not None
    assert dead.critical.step == 0
    alive = wl.walk(climber(), from_="fall.wl:29")
    assert alive.critical is not None
    assert alive.critical.step == 1


@pytest.mark.parametrize("name", share(list(VARIANTS), every=4, first=1))
def test_the_state_is_that_of_the_run_but_for_the_budgets(name: str):
    system = VARIANTS[name]()
    trace = random_trace(system, seed=4, length=15)
    write(trace, "random.wl")
    boot, prologue, done = schedule_of(trace, system)
    for step in (0, 1, len(done) // 2, len(done) - 1):
        world = DirectWorld(system)
        for event, choices in [*boot, *prologue, *done[:step]]:
            world.step(event, choices)
        expected = list(world.snapshot())
        expected[Layout.BUDGET] = FaultBudget(system.faults).freeze()
        (start,) = beginning_after(
            VARIANTS[name](), Prefix(Path("random.wl"), step)
        ).starts
        assert list(start.snapshot or ()) == expected


# ----------------------------------------------------------------- engines and reductions


@pytest.mark.parametrize("options", SEARCHES)
def test_no_engine_and_no_thread_changes_the_result(options: dict[str, Any]):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))
    report = wl.check(patient(), from_=lost(patient()), out="x.wl", **options)
    lines = [f"{step.step} {step.kind}" for step in read("x.wl").steps]
    assert lines == ["-3 start", "-2 start", "-1 call", "0 drop", "1 timer", "2 drop"]
    assert (report.states, report.generated) == (4, 4)


@pytest.mark.parametrize("options", [{"engine": "native"}, {"threads": 3}])
def test_no_engine_and_no_worker_changes_walks(options: dict[str, Any]):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))

    def found(**chosen: Any) -> Any:
        begin: dict[str, Any] = {"from_": "run.wl:1", "until": ["is_heard"]}
        first = wl.walk(patient(), depth=4, traces=False, **begin, **chosen)
        second = wl.walk(patient(), depth=4, from_="run.wl", traces=False, **chosen)
        return facts(first), facts(second)

    lost(patient())
    assert found(**options) == found(engine="python")


def test_a_symmetric_system_may_begin_where_its_nodes_differ():
    system = twophase.system(n=3)
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    done = []
    for _ in range(4):
        event = world.enabled()[0]
        done.append((event, world.step(event).choices))
    boot = [(event, ()) for event in DirectWorld(system).boot_events()]
    ending = Ending(None, None, UNKNOWN)
    trace = record(
        DirectWorld(system), boot, [], done, ending=ending, engine="test", seed=0
    )
    write(trace, "four.wl")
    begin: dict[str, Any] = {"from_": "four.wl", "properties": ["consistency"]}
    whole = wl.check(twophase.system(n=3), symmetry=False, **begin)
    folded = wl.check(twophase.system(n=3), **begin)
    assert whole.verdict is folded.verdict is HOLDS
    assert 1 < folded.states <= whole.states


# -------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("step", [-1, 3, 99])
def test_a_step_that_is_not_there_is_refused(step: int):
    file = lost(patient())
    with pytest.raises(wl.UsageError, match=rf"no step {step} .* from 0 to 2"):
        wl.check(patient(), from_=f"{file}:{step}")


def test_a_run_of_another_system_is_refused():
    file = lost(patient())
    with pytest.raises(wl.InputError, match="the trace has the nodes a, b"):
        wl.check(climber(), from_=file)


def test_a_run_of_other_parameters_is_refused():
    file = lost(patient())
    with pytest.raises(
        wl.UsageError, match="the fault budget drops was 1, now it is 2"
    ):
        wl.check(asker(patient=True, drops=2), from_=file)


def test_a_run_that_goes_otherwise_now_is_refused(monkeypatch: pytest.MonkeyPatch):
    file = lost(patient())
    a = patient().ids[0]
    changed = patient()
    changed.prologue = (wl.events.call(a, Asker.ask),)
    monkeypatch.setattr(changed, "workload", ())
    monkeypatch.setattr(changed, "scripts", [[], []])
    with pytest.raises(
        wl.InputError, match=r"at step 1, call ask.*, happened, and now"
    ):
        wl.check(changed, from_=file)


def test_nothing_follows_a_failure():
    rash = asker(rash=True)
    wl.check(asker(rash=True), out="failed.wl")
    with pytest.raises(wl.UsageError, match=r"step 2 .* fails; .*failed.wl:1"):
        wl.check(rash, from_="failed.wl")
    assert wl.check(asker(rash=True), from_="failed.wl:1").verdict is VIOLATED


def test_what_is_no_trace_is_refused():
    Path("x.wl").write_text("no trace")
    with pytest.raises(wl.InputError):
        wl.check(patient(), from_="x.wl")
    with pytest.raises(wl.InputError, match=r"y\.wl"):
        wl.check(patient(), from_="y.wl:3")
