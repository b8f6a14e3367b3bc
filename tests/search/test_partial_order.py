"""Partial-order reduction: everything but the number of transitions stays as it is."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.cli.command import refusal, run
from tests.search.test_random_systems import Plan, plans

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.model.errors import UsageError
from worldline.search.engines import ENVIRONMENT
from worldline.worlds.footprints import Footprints

REDUCED = "partial order: transitions cut by sleep sets"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(report: wl.Report) -> tuple[Any, ...]:
    """All that a report says of a system, but for the transitions and the run shown."""
    rows = sorted((p.name, p.verdict.value, p.steps or 0) for p in report.properties)
    return report.verdict, report.bound, report.states, report.depth, rows


def both(system: wl.System, **options: Any) -> tuple[wl.Report, wl.Report]:
    """Search without and with the reduction."""
    given: dict[str, Any] = {"engine": "python", "symmetry": False, "traces": False}
    given |= options
    return wl.check(system, **given), wl.check(system, partial_order=True, **given)


# ------------------------------------------------------------------ known systems


@pytest.mark.parametrize(
    ("target", "parameters", "states", "generated"),
    [
        ("toy", {}, 16, 25),
        ("twophase", {"n": "3"}, 288, 1_146),
        ("single-copy", {"clients": "2"}, 93, 121),
        ("abd", {"clients": "2", "servers": "2"}, 544, 875),
    ],
)
def test_systems_keep_their_states_and_lose_transitions(
    target: str, parameters: dict[str, str], states: int, generated: int
):
    plain, reduced = both(load(f"zoo:{target}", parameters))
    assert (plain.states, plain.generated) == (states, generated)
    assert states <= reduced.generated < generated
    assert told(plain) == told(reduced)


@wl.message
class Tick:
    """Something to count."""


@wl.node
class Counter:
    """Sends itself a message, so many times; counters have nothing to do with others."""

    limit: int
    count: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, Tick())

    @wl.on(Tick)
    def tick(self, ctx: wl.Context, src: wl.NodeId, msg: Tick) -> None:
        self.count += 1
        assert self.count < 4, "too far"
        if self.count < self.limit:
            ctx.send(ctx.me, Tick())


def counters(*limits: int, **options: Any) -> wl.System:
    ids = wl.ids(*"abcd"[: len(limits)])
    return wl.System(
        {node: Counter(limit) for node, limit in zip(ids, limits, strict=True)},
        network=wl.datagrams(loss=False, duplication=False),
        **options,
    )


def test_each_point_of_a_grid_is_reached_once():
    # 4 x 3 x 3 points; each but the first has one way that is taken.
    plain, reduced = both(counters(3, 2, 2))
    assert (plain.states, plain.generated) == (36, 1 + 27 + 24 + 24)
    assert (reduced.states, reduced.generated) == (36, 36)


def test_with_one_observer_of_all_steps_nothing_is_cut():
    order = wl.Observer(
        "order", (), lambda step: str(step.node), lambda value, node: (*value, node)
    )
    plain, reduced = both(counters(2, 2, observers=[order]))
    assert plain.generated == reduced.generated == 1 + 2 + 4 + 6 + 6


def test_footprints_that_leave_something_out_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
):
    order = wl.Observer(
        "order", (), lambda step: str(step.node), lambda value, node: (*value, node)
    )
    whole = Footprints.slots

    def nodes_only(self: Footprints, entry: Any, leaf: Any) -> tuple[int, ...]:
        return (whole(self, entry, leaf) or ())[:1]

    monkeypatch.setattr(Footprints, "slots", nodes_only)
    plain, reduced = both(counters(2, 2, observers=[order]))
    assert told(plain) != told(reduced)


def test_a_failure_of_an_event_that_sleeps_is_found():
    plain, reduced = both(counters(1, 4), keep_going=True)
    assert told(plain) == told(reduced)
    assert [(p.name, p.steps) for p in reduced.properties] == [("exception", 4)]


def test_a_sleeping_event_is_no_deadlock():
    plain, reduced = both(counters(2, 2, 2, faults=wl.Faults(crashes=1)), deadlock=True)
    assert told(plain) == told(reduced)
    plain, reduced = both(counters(1, 1), deadlock=True)
    assert told(plain) == told(reduced)
    reduced.expect_holds()


# ----------------------------------------------------------------- random systems


def compare(plan: Plan, largest: int) -> None:
    """Compare what is said of a random system, searched to the end and to a depth."""
    bounded: tuple[dict[str, int], ...] = (
        {"max_states": largest},
        {"max_depth": 3},
        {"max_depth": 6},
    )
    for bounds in bounded:
        plain, reduced = both(plan.build(), keep_going=True, deadlock=True, **bounds)
        assume(plain.bound not in ("boot failure", "states"))
        assert told(reduced) == told(plain)
        assert reduced.generated <= plain.generated


@pytest.mark.slow
@given(plans)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
def test_nothing_is_lost_in_random_systems(plan: Plan) -> None:
    compare(plan, 200)


@pytest.mark.nightly
@given(plans)
@settings(max_examples=2_000, suppress_health_check=list(HealthCheck))
def test_nothing_is_lost_in_many_random_systems(plan: Plan) -> None:
    compare(plan, 3_000)


# ------------------------------------------------------------------ the zoo's bugs


QUICK = {"brokentree-bt1", "brokentree-bt2", "paxos-wids2", "randtree-cb6"}


def said(*words: str) -> tuple[Any, ...]:
    """What ``check --json`` says, but for transitions, notes, seconds and memory."""
    answer = run(*words, "--json", "--engine", "python")
    found = json.loads(answer.out)
    rows = [(p["name"], p["verdict"], p["steps"]) for p in found["properties"]]
    return answer.status, found["bound"], found["states"], found["depth"], rows


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, marks=() if bug in QUICK else pytest.mark.nightly)
        for bug in zoo.bugs()
    ],
)
def test_bugs_of_the_zoo_are_found_as_without(bug: str):
    words = shlex.split(zoo.bugs()[bug])
    reduced = said(*words, "--partial-order")
    assert reduced == said(*words)
    assert reduced[0] == 1


# ----------------------------------------------------------------- what is refused


def test_the_report_names_the_reduction():
    held = wl.check(counters(1, 1), partial_order=True)
    assert held.assumptions[-1] == REDUCED
    broken = wl.check(counters(4, 4), partial_order=True)
    assert broken.notes[0] == REDUCED
    assert REDUCED not in wl.check(counters(1, 1)).assumptions


def test_the_native_engine_is_left_with_a_note_and_refused_if_demanded(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    report = wl.check(counters(1), partial_order=True)
    assert report.engine == "python"
    assert any("native" in note for note in report.notes)
    demanded = wl.check(counters(1), partial_order=True, engine="python")
    assert not any("native" in note for note in demanded.notes)
    with pytest.raises(UsageError, match="the native engine has no partial-order"):
        wl.check(counters(1), partial_order=True, engine="native")


def test_depth_first_symmetry_and_cuts_are_refused():
    with pytest.raises(UsageError, match="has no depth-first search"):
        wl.check(counters(1), partial_order=True, strategy="depth-first", max_depth=3)
    system = load("zoo:twophase", {"n": "2", "symmetry": "true"})
    with pytest.raises(UsageError, match="symmetry reduction cannot be combined"):
        wl.check(system, partial_order=True)
    wl.check(system, partial_order=True, symmetry=False, traces=False).expect_holds()
    with pytest.raises(UsageError, match="prune or assume"):
        wl.check(counters(1), partial_order=True, prune=lambda view: False)
    with pytest.raises(UsageError, match="prune or assume"):
        wl.check(counters(1), partial_order=True, assume=lambda view: True)


def test_the_command_line_has_the_option(tmp_path: Path):
    answer = run("check", "zoo:abd", "--partial-order")
    assert answer.status == 0
    assert REDUCED in answer.out
    text = refusal(run("check", "zoo:abd", "--partial-order", "--engine", "native"))
    assert "the native engine has no partial-order reduction" in text
