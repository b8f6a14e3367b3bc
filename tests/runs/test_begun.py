"""Every verb takes a trace that begins in a state, and what it finds begins there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.cli.command import run
from tests.runs.test_state import middle, recorded
from tests.search.dying import A, Asker, B, Request, asker
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_trace

import worldline as wl
from worldline.debug.commands import answer
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.runs.difference import first_difference
from worldline.runs.restoring import world_of
from worldline.runs.start import starts
from worldline.show.diagram import diagram
from worldline.show.exports import dot, mermaid, shiviz
from worldline.show.steps import steps
from worldline.trace.format import Trace, read, write
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld

HOLDS, UNKNOWN, VIOLATED = wl.Verdict.HOLDS, wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def kept(system: wl.System, *events: wl.events.Pattern, file: str = "state.wl") -> Path:
    """Keep the state to which events lead, as a file."""
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    for pattern in events:
        event = next(e for e in world.enabled() if pattern.matches(e))
        world.step(event, pattern.choices)
    write(recorded(system, take(world), []), file)
    return Path(file)


def patient() -> wl.System:
    return asker(patient=True)


def lost(system: wl.System) -> Path:
    return kept(system, wl.events.call(A, Asker.ask), wl.events.drop(B, Request))


def phases(file: Path | None) -> list[tuple[str, str]]:
    assert file is not None
    return [(step.phase, step.kind) for step in read(file).steps]


# ------------------------------------------------------------------------------ searching


@pytest.mark.parametrize("engine", ["python", "native", "auto"])
def test_a_violation_is_found_confirmed_recorded_and_replayed_from_the_file(
    engine: Any,
):
    report = wl.check(patient(), from_=lost(patient()), out="both.wl", engine=engine)
    found = report.expect_violated("is_heard")
    assert found.steps == 2
    assert "from the state in state.wl on, with every fault" in str(report)
    trace = read("both.wl")
    assert (trace.header.begins, trace.header.format) == ("state", 2)
    assert phases(found.trace) == [("run", "timer"), ("run", "drop")]
    assert trace.state is not None
    assert trace.state.budget["drops"] == 1
    Path("state.wl").unlink()
    replayed = wl.replay("both.wl", patient())
    assert (replayed.reproduced, replayed.verdict) == (True, VIOLATED)


def test_a_search_goes_on_from_a_run_that_began_in_a_state():
    wl.check(patient(), from_=lost(patient()), out="both.wl")
    report = wl.check(patient(), from_="both.wl:1", out="again.wl")
    assert phases(report.expect_violated("is_heard").trace) == [
        ("prologue", "timer"),
        ("run", "drop"),
    ]
    assert wl.replay("again.wl", patient()).reproduced
    report = wl.check(patient(), from_="again.wl:-1", out="third.wl")
    assert phases(report.expect_violated("is_heard").trace) == [
        ("run", "timer"),
        ("run", "drop"),
    ]
    with pytest.raises(wl.UsageError, match=r"no step -2 .* from -1 to 1"):
        wl.check(patient(), from_="again.wl:-2")


def test_stages_go_on_from_a_state():
    report = wl.check(
        patient(), from_=lost(patient()), until=[lambda view: bool(view.messages())]
    )
    assert phases(report.expect_violated("is_heard").trace) == [
        ("prologue", "timer"),
        ("run", "drop"),
    ]


def test_a_walk_for_liveness_begins_in_a_state():
    report = wl.walk(patient(), depth=4, from_=lost(patient()))
    assert report.critical is not None
    assert (report.critical.step, report.critical.certainty) == (2, "certified")
    assert report.violated is not None
    assert phases(report.violated.trace) == [("run", "timer"), ("run", "drop")]
    for file in (report.violated.trace, report.live_trace):
        assert file is not None
        assert wl.replay(file, patient()).reproduced


@wl.safety
def nobody_hears(view: wl.View) -> bool:
    return not view[B].heard


def quiet() -> wl.System:
    return patient().replace(properties=[nobody_hears], name="quiet")


@pytest.mark.parametrize("search", [wl.walk, wl.fuzz])
@pytest.mark.parametrize("engine", ["python", "native"])
def test_random_runs_begin_in_a_state(search: Any, engine: str):
    report = search(quiet(), from_=lost(quiet()), seed=1, out="heard.wl", engine=engine)
    assert report.verdict is VIOLATED
    assert phases(Path("heard.wl")) == [("run", "timer"), ("run", "deliver")]
    assert wl.replay("heard.wl", quiet()).reproduced


@wl.node
class Lamp:
    on: bool = False
    broken: bool = False

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Lamp.flip)

    @wl.call
    def kick(self, ctx: wl.Context) -> None:
        self.broken = True

    @wl.timer
    def flip(self, ctx: wl.Context) -> None:
        self.on = not self.on and not self.broken
        ctx.set_timer(Lamp.flip)


@wl.liveness
def it_shines(view: wl.View) -> bool:
    return bool(view[A].on)


def lamp() -> wl.System:
    work = [wl.script(A, [Lamp.kick])]
    return wl.System({A: Lamp()}, workload=work, properties=[it_shines], name="lamp")


def test_a_run_for_ever_is_found_and_replayed_from_a_state():
    begin = kept(lamp(), wl.events.call(A, Lamp.kick))
    report = wl.check(lamp(), from_=begin, out="dark.wl")
    found = report.expect_violated("it_shines")
    assert (found.steps, found.cycle) == (1, 1)
    assert [(step.step, step.kind) for step in read("dark.wl").steps] == [(1, "timer")]
    assert wl.replay("dark.wl", lamp()).reproduced
    assert any("then for ever" in line for line in steps(read("dark.wl")))


@pytest.mark.parametrize("name", share(list(VARIANTS), every=4))
def test_a_search_sees_what_one_after_the_run_sees(name: str):
    system = VARIANTS[name]()
    write(random_trace(system, seed=4, length=15), "run.wl")
    state, before, _ = middle(system, 4, 15, 15)
    write(recorded(system, state, []), "state.wl")
    options: dict[str, Any] = {"max_depth": 3, "traces": False}
    here, there = (
        wl.check(VARIANTS[name](), from_=begin, **options)
        for begin in ("state.wl", f"run.wl:{len(before)}")
    )
    assert here.states > 1
    assert (here.verdict, here.states, here.generated, here.depth) == (
        *(there.verdict, there.states, there.generated, there.depth),
    )


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans, st.integers(0, 99), st.integers(0, 8))
def test_whatever_is_found_from_a_state_replays(plan: Plan, seed: int, cut: int):
    check_found(plan, seed, cut)


@pytest.mark.nightly
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(plans, st.integers(0, 99), st.integers(0, 8))
def test_whatever_is_found_from_many_states_replays(plan: Plan, seed: int, cut: int):
    check_found(plan, seed, cut)


def check_found(plan: Plan, seed: int, cut: int) -> None:
    system = plan.build()
    assume(starts(system)[0].failure is None)
    state, _, after = middle(system, seed, 10, cut)
    assume(after)
    write(recorded(system, state, []), "state.wl")
    report = wl.check(plan.build(), from_="state.wl", max_states=300, out="found.wl")
    if report.violated is not None and report.violated.trace is not None:
        trace = read(report.violated.trace)
        assert trace.header.begins == "state"
        assert wl.replay(report.violated.trace, plan.build()).reproduced


# ------------------------------------------------------------------- states of no run


def test_a_node_may_be_down_where_none_crashes():
    """The tables then look at whether it is up, as they need not in other searches."""
    system = asker(drops=0)
    trace = read(kept(system))
    assert trace.state is not None
    a, b = trace.state.nodes
    down = replace(trace.state, nodes=(a, replace(b, status="down")))
    write(replace(trace, state=down), "down.wl")
    for engine in ("python", "native"):
        report = wl.check(asker(drops=0), from_="down.wl", engine=engine)
        assert report.states == 2
        assert phases(report.expect_violated("is_heard").trace) == [("run", "call")]


def test_a_message_may_be_under_way_that_nobody_sent():
    trace = read(kept(quiet()))
    assert trace.state is not None
    sent = read(kept(quiet(), wl.events.call(A, Asker.ask), file="sent.wl"))
    assert sent.state is not None
    messages = sent.state.nodes[1].messages
    a, b = trace.state.nodes
    state = replace(trace.state, nodes=(a, replace(b, messages=messages)))
    write(replace(trace, state=state), "sent.wl")
    report = wl.check(quiet(), from_="sent.wl", out="heard.wl")
    assert report.expect_violated("nobody_hears").steps == 1
    (step,) = read("heard.wl").steps
    assert (step.kind, step.sent_in) == ("deliver", None)
    assert wl.replay("heard.wl", quiet()).reproduced


# --------------------------------------------------------------- replaying and looking


def begun() -> tuple[Trace, wl.System]:
    system = VARIANTS["streams"]()
    state, _, after = middle(system, 3, 30, 12)
    return recorded(system, state, after), system


def test_a_run_that_goes_otherwise_from_its_state_is_said_where():
    trace, system = begun()
    assert trace.state is not None
    fields = {**trace.state.nodes[0].fields, "saved": 77}
    nodes = (replace(trace.state.nodes[0], fields=fields), *trace.state.nodes[1:])
    write(replace(trace, state=replace(trace.state, nodes=nodes)), "x.wl")
    found = wl.replay("x.wl", system)
    assert not found.reproduced


def test_a_session_goes_to_and_fro_in_a_run_that_begins_in_a_state():
    trace, system = begun()
    session = Session(Timeline(trace, system))
    assert (session.timeline.first, session.timeline.last) == (0, len(trace.steps))
    first = take(session.timeline.at(0))
    assert first == take(world_of(trace, system))
    for line in (
        "jump end",
        "state",
        "jump 0",
        "state",
        "why 3",
        "diff 0 end",
        "status",
    ):
        assert answer(session, line).lines
    assert take(session.timeline.at(0)) == first


def test_a_state_is_kept_while_debugging():
    system = patient()
    lost(system)
    session = Session(Timeline(read("state.wl"), system))
    answer(session, "save here.wl")
    assert read("here.wl").state == read("state.wl").state
    with pytest.raises(wl.UsageError, match=r"here\.wl is there already"):
        answer(session, "save here.wl")
    with pytest.raises(wl.UsageError, match="save to which file"):
        answer(session, "save")
    assert "no steps" in "\n".join(answer(session, "info").lines)


def test_the_state_after_a_failure_is_not_kept():
    rash = asker(rash=True)
    wl.check(asker(rash=True), out="failed.wl")
    session = Session(Timeline(read("failed.wl"), rash))
    with pytest.raises(wl.UsageError, match="the handler of step 2 fails"):
        answer(session, "save here.wl")
    answer(session, "back")
    answer(session, "save here.wl")
    report = wl.check(asker(rash=True), from_="here.wl")
    assert report.violated is not None
    assert report.violated.steps == 1


def test_the_state_is_shown_before_the_steps():
    lost(patient())
    trace = read("state.wl")
    assert trace.state is not None
    a, b = trace.state.nodes
    unknown = replace(trace.state, nodes=(a,), absent=("b",))
    lines = list(steps(replace(trace, state=unknown)))
    assert lines[lines.index("") + 1 :][:6] == [
        "the state in which the run begins",
        "  a  up  patient=True, rash=False, heard=False",
        "     timer again is pending",
        "     calls left: 0 of 1",
        "  nothing is known of b",
        "",
    ]
    assert b.name == "b"


@pytest.mark.parametrize("form", [diagram, dot, mermaid, shiviz, steps])
def test_every_form_shows_a_run_that_begins_in_a_state(form: Any):
    trace, _ = begun()
    timed = tuple(replace(step, time=step.step / 4) for step in trace.steps)
    lines = list(form(replace(trace, steps=timed)))
    assert len(lines) > len(trace.steps) / 2
    if form is steps:
        assert "(at 0.25 s)" in "\n".join(lines)
    if form is diagram:
        assert "│" in next(line for line in lines if line.lstrip().startswith("1 "))


def test_times_are_no_difference_and_no_divergence():
    trace, system = begun()
    timed = replace(
        trace, steps=tuple(replace(step, time=step.step / 8) for step in trace.steps)
    )
    assert first_difference(trace, timed) is None
    write(timed, "timed.wl")
    assert wl.replay("timed.wl", system).reproduced


def test_a_state_is_one_object_for_programs(capsys: pytest.CaptureFixture[str]):
    lost(patient())
    result = run("show", "state.wl", "--json")
    assert '"state": {' in result.out
    assert '"begins": "state"' in result.out


# ----------------------------------------------------------------------------- refusals


def without_b() -> Path:
    lost(patient())
    trace = read("state.wl")
    assert trace.state is not None
    state = replace(trace.state, nodes=trace.state.nodes[:1], absent=("b",))
    write(replace(trace, state=state), file := Path("absent.wl"))
    return file


def test_random_runs_refuse_absent_nodes_by_name():
    file = without_b()
    said = "cannot begin in a state in which nothing is known of b; use check, predict"
    with pytest.raises(wl.UsageError, match=f"random runs {said}"):
        wl.walk(patient(), from_=file)
    with pytest.raises(wl.UsageError, match=f"random runs {said}"):
        wl.fuzz(patient(), from_=file)
    assert run("show", str(file)).status == 0
