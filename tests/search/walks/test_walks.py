"""Random walks: what is dead, since when, how sure that is, and what is said of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.search.dying import asker, climber, split

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.search.report import Progress
from worldline.search.walks import dead_state as suspect
from worldline.search.walks.verdict import AFTER
from worldline.show.diagram import diagram
from worldline.show.exports import dot, mermaid
from worldline.show.steps import steps
from worldline.trace.format import read, write

UNKNOWN, VIOLATED = wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def falls(**options: Any) -> wl.WalkReport:
    """Return a report on the climber, half of whose walks fall; that of seed 5 does."""
    return wl.walk(climber(), depth=2, seed=5, **options)


# ----------------------------------------------------------------- case C1, case C2


def test_a_fall_in_the_second_half_is_proved():
    report = falls(max_steps=40)
    assert (report.verdict, report.case) == (VIOLATED, "C1")
    assert report.critical is not None
    assert (report.critical.step, report.critical.event) == (30, "timer at a climb")
    assert report.critical.certainty == "certified"
    assert report.critical.states == 1
    assert report.notes == ()


def test_walks_for_liveness_say_how_to_look_for_safety():
    @wl.safety
    def it_exists(view: wl.View) -> bool:
        return len(view.nodes) > 0

    made = climber()
    both = made.replace(properties=[*made.properties, it_exists])
    report = wl.walk(both, depth=2, walks=1, max_steps=2)
    assert [n for n in report.notes if n.endswith("--property it_exists")]


def test_without_proofs_the_bound_is_raised_until_the_fall_is_in_the_first_half():
    report = falls(max_steps=45, certify=0)
    assert (report.verdict, report.case) == (VIOLATED, "C1")
    assert report.critical is not None
    assert report.critical.step == 30
    assert report.critical.certainty == "probable"
    assert report.critical.walks == 60
    # Of 46 steps the second half begins at 24, and 32 is the first position beyond.
    (note,) = report.notes
    assert "step 32 of 46" in note
    assert "to 90 steps" in note


def test_a_walk_that_becomes_live_at_a_higher_bound_is_no_violation():
    report = wl.walk(climber(edge=-1), depth=2, max_steps=30, certify=0)
    assert (report.verdict, report.case) == (UNKNOWN, None)
    assert len(report.notes) == 2
    assert "to 60 steps" in report.notes[0]
    assert report.notes[1] == "the walk became live then, after 39 steps"


def test_a_walk_that_is_too_short_at_every_bound_is_unknown():
    report = wl.walk(climber(top=1000, edge=-1), depth=2, max_steps=10)
    assert (report.verdict, report.case) == (UNKNOWN, "C2")
    assert "give more --max-steps" in report.notes[0]
    assert "to 40 steps" in report.notes[-1]


# ------------------------------------------------------------- before the walks begin


def test_a_fault_may_be_the_critical_transition():
    report = wl.walk(asker(), depth=4)
    assert report.expect_violated("is_heard").steps == 2
    assert report.critical is not None
    assert (report.critical.step, report.critical.states) == (2, 1)
    assert report.critical.event == "drop at b Request() from a"
    assert report.critical.recovered == report.critical.recovery_walks == 60


def test_a_cycle_of_dead_states_within_the_depth_is_found():
    assert wl.walk(climber(top=4, edge=3), depth=20).verdict is VIOLATED


def test_who_asks_twice_is_heard():
    report = wl.walk(asker(patient=True), depth=4)
    assert (report.verdict, report.notes) == (UNKNOWN, ())
    assert report.walks == report.periphery > report.live > 0


def test_a_state_0_that_is_dead_is_step_0():
    system = asker()
    system.prologue = (
        wl.events.call(system.ids[0], type(system.prototypes[0]).ask),
        wl.events.drop(system.ids[1], next(iter(system.types[1].on))),
    )
    report = wl.walk(system)
    assert report.critical is not None
    assert (report.critical.step, report.critical.event) == (0, "")
    assert report.live_trace is None
    assert report.violated is not None


# ------------------------------------------------------------------- faults in walks


def test_faults_do_not_happen_in_walks_unless_asked_for():
    assert wl.walk(asker(drops=None), depth=2).verdict is UNKNOWN
    weights = {"drop": 100_000}
    dropped = wl.walk(asker(drops=None), depth=2, walk_faults=True, weights=weights)
    assert dropped.critical is not None
    assert (dropped.critical.step, dropped.critical.certainty) == (2, "certified")


def test_a_partition_heals_in_walks():
    report = wl.walk(split(), depth=4)
    assert report.periphery > 0
    assert report.verdict is UNKNOWN


# ----------------------------------------------------------------------------- safety


def test_a_safety_violation_before_the_walks_is_reported():
    report = wl.walk(asker(rash=True), depth=4)
    found = report.expect_violated("exception")
    assert (found.steps, report.walks, report.critical) == (2, 0, None)


def test_a_failure_on_a_walk_is_reported():
    report = wl.walk(asker(rash=True, drops=0), depth=2)
    found = report.expect_violated("exception")
    assert found.steps == 2
    assert found.trace is not None
    assert wl.replay(found.trace, asker(rash=True, drops=0)).exit_code == 1


def test_a_safety_property_false_on_a_walk_is_reported():
    def system() -> wl.System:
        made = climber(edge=-1)
        made.properties = (*made.properties, below_ten)
        return made

    report = wl.walk(system(), depth=3)
    found = report.expect_violated("below_ten")
    assert found.steps == 10
    assert found.trace is not None
    assert wl.replay(found.trace, system()).exit_code == 1


@wl.safety
def below_ten(view: wl.View) -> bool:
    return all(view[node].height < 10 for node in view)


# ----------------------------------------------------------------------------- traces


def test_both_traces_are_replayed_and_share_all_steps_before_the_critical_one():
    report = falls(max_steps=40)
    assert report.violated is not None
    assert report.violated.trace is not None
    assert report.live_trace is not None
    dead, live = read(report.violated.trace), read(report.live_trace)
    assert dead.end is not None
    assert live.end is not None
    assert (dead.end.verdict, dead.end.property) == ("violated", "on_top")
    assert (dead.end.critical, dead.end.steps) == (30, 30 + AFTER)
    assert (live.end.verdict, live.end.critical, live.end.steps) == (
        "unknown",
        None,
        40,
    )
    assert dead.run[:29] == live.run[:29]
    assert dead.run[29] != live.run[29]
    assert wl.replay(report.violated.trace, climber()).exit_code == 1
    replayed = wl.replay(report.live_trace, climber())
    assert (replayed.reproduced, replayed.exit_code) == (True, 0)


def test_no_files_are_written_without_traces(tmp_path: Path):
    report = falls(max_steps=40, traces=False)
    assert report.violated is not None
    assert report.violated.trace is report.live_trace is None
    assert list(tmp_path.iterdir()) == []


def test_traces_go_where_they_are_told(tmp_path: Path):
    falls(max_steps=40, out=tmp_path / "x" / "fall.wl")
    found = sorted(path.name for path in (tmp_path / "x").iterdir())
    assert found == ["fall-live.wl", "fall.wl"]


# -------------------------------------------------------------------------- live runs


def test_live_runs_are_distinct_and_replay(tmp_path: Path):
    report = wl.walk(asker(drops=0, patient=True), depth=3, emit_live=3, out="live")
    assert report.verdict is UNKNOWN
    names = [f"live/asker-live-{n}.wl" for n in range(1, len(report.live_traces) + 1)]
    assert [str(file) for file in report.live_traces] == names
    runs = []
    for file in report.live_traces:
        trace = read(file)
        assert wl.replay(file, asker(drops=0, patient=True)).exit_code == 0
        assert trace.end is not None
        assert (trace.end.verdict, trace.end.kind) == ("unknown", "liveness")
        assert trace.run not in runs
        runs.append(trace.run)


def test_more_live_runs_than_places_to_walk_from_take_more_walks():
    once = wl.walk(asker(patient=True, drops=0), depth=1)
    assert once.walks == once.periphery == 1
    report = wl.walk(asker(patient=True, drops=0), depth=1, emit_live=2)
    assert len(report.live_traces) == 2 < report.walks
    kinds = [[step.kind for step in read(file).run] for file in report.live_traces]
    assert sorted(kinds) == [["call", "deliver"], ["call", "timer", "deliver"]]


def test_where_there_is_only_one_live_run_one_is_written():
    report = wl.walk(climber(edge=-1), depth=2, emit_live=5)
    assert len(report.live_traces) == 1
    assert "only 1 live runs were found, not 5" in report.notes


def test_enough_live_runs_end_the_search():
    report = wl.walk(asker(patient=True), depth=5, emit_live=1)
    assert (report.bound, report.walks) == ("live runs", 1)


def test_a_violation_before_enough_live_runs_is_reported(tmp_path: Path):
    report = wl.walk(asker(), depth=4, emit_live=9, out=tmp_path / "x")
    assert report.expect_violated("is_heard").trace == tmp_path / "x/asker-is_heard.wl"
    assert len(report.live_traces) < 9


# -------------------------------------------------------------------- progress, Ctrl-C


def test_progress_tells_of_walks():
    seen: list[Progress] = []
    report = wl.walk(asker(patient=True), depth=3, progress=seen.append)
    assert [told.walks for told in seen if told.walks] == [*range(1, report.walks)]
    assert 0 < seen[-1].walk_steps <= report.steps
    assert seen[-1].states == report.states


@pytest.mark.parametrize("walks", [1, 2])
def test_an_interrupted_walk_says_what_it_learned(walks: int):
    def interrupt(told: Progress) -> None:
        if told.walks == walks:
            raise KeyboardInterrupt

    report = wl.walk(asker(patient=True), depth=3, progress=interrupt)
    assert (report.verdict, report.bound) == (UNKNOWN, "interrupted")
    assert report.walks == walks < report.periphery
    assert report.states > 1
    assert str(report).startswith("asker: UNKNOWN (bound: interrupted)")


def test_live_runs_found_before_an_interruption_are_written():
    def interrupt(told: Progress) -> None:
        if told.walks == 2:
            raise KeyboardInterrupt

    report = wl.walk(
        asker(patient=True), depth=5, progress=interrupt, emit_live=9, out="live"
    )
    assert report.bound == "interrupted"
    assert len(report.live_traces) == len([*Path("live").iterdir()]) == 2


# ------------------------------------------------------------------------ determinism


def facts(report: wl.WalkReport) -> dict[str, Any]:
    found = report.to_json()
    for key in ("seconds", "engine", "misses", "hit_rate"):
        del found[key]
    for world in ("remembered", "direct"):
        del found[f"{world}_steps"]
    return found


@pytest.mark.parametrize("certify", [0, 20_000])
@pytest.mark.parametrize(
    "build", [climber, asker, split, lambda: asker(patient=True)], ids=range(4)
)
def test_engines_and_workers_do_not_matter(
    build: Callable[[], wl.System], certify: int
):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))
    options: dict[str, Any] = {"depth": 3, "max_steps": 50, "certify": certify}
    expected = facts(wl.walk(build(), engine="python", **options))
    for threads in (1, 3):
        found = wl.walk(build(), engine="native", threads=threads, **options)
        assert facts(found) == expected


def test_another_seed_walks_otherwise():
    steps = {wl.walk(climber(), depth=2, seed=seed).verdict for seed in range(10)}
    assert steps == {UNKNOWN, VIOLATED}


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"weights": {"fall": 2}}, "no events 'fall' to weigh"),
        ({"weights": {"climb": 0}}, "the weight 0 of climb"),
        ({"depth": 0}, "depth=0 is not a whole number"),
        ({"walks": 0}, "walks=0 is not a whole number"),
        ({"emit_live": -1}, "emit_live=-1 is not a whole number"),
        ({"properties": ["summit"]}, "no property 'summit'"),
        ({"engine": "fast"}, "engine 'fast' is unknown"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], text: str):
    with pytest.raises(wl.UsageError, match=text):
        wl.walk(climber(), **options)


def test_live_runs_without_a_liveness_property_are_refused():
    system = climber()
    system.properties = (below_ten,)
    with pytest.raises(wl.UsageError, match="no liveness property"):
        wl.walk(system, emit_live=3)


def test_time_that_is_up_ends_the_search():
    report = wl.walk(climber(), max_seconds=1e-9)
    assert (report.verdict, report.bound) == (UNKNOWN, "seconds")


@wl.liveness
def all_are_on_top(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].height == view[node].top)


def rope() -> wl.System:
    """Return a system of two who climb too high for a walk that is not prolonged."""
    system = climber(top=20, edge=-1)
    (prototype,) = system.prototypes
    nodes = dict.fromkeys(wl.ids("a", "b"), prototype)
    return wl.System(nodes, properties=[all_are_on_top], name="rope")


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("build", "options"),
    [
        (rope, {"depth": 7, "max_steps": 12}),
        pytest.param(
            climber, {"depth": 3, "max_steps": 50, "seed": 5}, marks=pytest.mark.nightly
        ),
        (lambda: asker(patient=True), {"depth": 3}),
        (lambda: asker(rash=True, drops=0), {"depth": 2}),
    ],
    ids=["rope", "climber", "patient", "rash"],
)
def test_walks_that_are_ahead_change_nothing(
    build: Callable[[], wl.System],
    options: dict[str, Any],
    engine: Any,
    monkeypatch: pytest.MonkeyPatch,
):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))
    together = wl.walk(build(), engine=engine, certify=0, **options)
    monkeypatch.setattr(suspect, "AHEAD", 1)
    alone = wl.walk(build(), engine=engine, certify=0, **options)
    assert facts(together) == facts(alone)
    if build is rope:
        # Walks after the first were begun before they were prolonged.
        assert together.walks > 3
        assert "to 48 steps" in together.notes[-2]


def test_a_walk_that_takes_long_ends_when_time_is_up():
    system = climber(top=10**9, edge=-1)
    report = wl.walk(system, depth=2, max_steps=10**9, max_seconds=0.2)
    assert (report.verdict, report.bound) == (UNKNOWN, "seconds")
    assert report.walks == 0


def test_no_live_run_is_called_holds_wherever_it_is_printed():
    report = falls(max_steps=40)
    assert report.live_trace is not None
    live = read(report.live_trace)
    replayed = wl.replay(report.live_trace, climber())
    printed = [str(replayed), str(replayed.to_json())]
    printed += ["\n".join(form(live)) for form in (steps, diagram, dot, mermaid)]
    for text in printed:
        assert "holds" not in text.lower()
        assert "this run violates nothing" in text or "is true at the end" in text
    assert "LIVE on_top (liveness): this run violates nothing" in printed[2]


def test_an_older_live_run_that_says_holds_is_not_called_so():
    report = falls(max_steps=40)
    assert report.live_trace is not None
    trace = read(report.live_trace)
    assert trace.end is not None
    end = dataclasses.replace(trace.end, verdict="holds")
    write(dataclasses.replace(trace, end=end), "older.wl")
    again = wl.replay("older.wl", climber())
    assert (again.reproduced, again.exit_code) == (True, 0)
    assert "holds" not in str(again).lower() + str(again.to_json())


# ----------------------------------------------------------------------------- budgets


def test_the_depth_grows_while_a_budget_lasts():
    usual = wl.walk(asker(patient=True), depth=2)
    longer = wl.walk(asker(patient=True), depth=2, walks=usual.walks + 1)
    assert usual.bound is None
    assert (longer.bound, longer.walks) == ("walks", usual.walks + 1)
    assert longer.depth == usual.depth + 1


def test_walks_for_liveness_end_with_their_steps():
    report = wl.walk(climber(edge=-1), depth=2, events=5)
    assert report.bound == "events"
    assert report.steps >= 5
