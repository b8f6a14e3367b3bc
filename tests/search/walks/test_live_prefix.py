"""Searches that begin where a walk without faults has become live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.search.dying import asker, climber

import worldline as wl
from worldline.model.errors import UsageError
from worldline.trace.format import read

(A,) = wl.ids("a")
TOP = 20


@wl.node
class Tired:
    """Climbs to the top; after a reset it does so again only if it was not there before."""

    height: int = 0
    has_been: bool = wl.durable(default=False)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if not self.has_been:
            ctx.set_timer(Tired.climb)

    @wl.timer
    def climb(self, ctx: wl.Context) -> None:
        self.height += 1
        self.has_been = self.height == TOP
        if not self.has_been:
            ctx.set_timer(Tired.climb)


@wl.liveness
def is_on_top(view: wl.View) -> bool:
    return bool(view[A].height == TOP)


@wl.safety
def is_low(view: wl.View) -> bool:
    return bool(view[A].height <= TOP)


def tired() -> wl.System:
    return wl.System(
        {A: Tired()},
        faults=wl.Faults(resets=1),
        properties=[is_on_top, is_low],
        name="tired",
    )


def walk(system: wl.System, **options: Any) -> wl.WalkReport:
    return wl.walk(system, **{"depth": 2, "traces": False, **options})


def test_what_dies_only_when_it_has_lived_is_found_from_a_live_run(tmp_path: Path):
    assert walk(tired()).verdict is wl.Verdict.UNKNOWN
    out = tmp_path / "dead.wl"
    report = walk(tired(), from_live=True, traces=True, out=out)
    report.expect_violated("is_on_top")
    assert report.critical is not None
    assert (report.critical.step, report.critical.event) == (1, "reset at a")
    assert report.critical.certified
    assert report.notes[0] == f"then from the end of a live run, {TOP} steps on"
    assert [step.kind for step in read(out).run] == ["reset"]
    assert wl.replay(out, tired()).reproduced


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_every_engine_begins_in_the_same_state(engine: str):
    report = walk(tired(), from_live=True, engine=engine, seed=3)
    assert report.critical is not None
    assert report.critical.step == 1


def test_further_stages_begin_in_the_live_state():
    report = walk(
        tired(), from_live=True, until=[lambda view: view[A].height == 0], depth=1
    )
    assert report.critical is not None
    assert report.critical.step == 0
    assert [note.partition(",")[0] for note in report.notes[:2]] == [
        "then from the end of a live run",
        "then from the first state where <lambda> is true",
    ]


def test_where_no_walk_becomes_live_nothing_is_searched():
    report = walk(tired(), from_live=True, max_steps=TOP - 1)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "from live")
    assert report.states == report.walks == 0
    why = "none of 20 walks became live within 19 steps: give more --max-steps"
    assert why in report.notes


def test_one_of_the_walks_is_enough():
    report = walk(climber(top=10, edge=5), from_live=True, walks=1)
    assert report.notes == ("then from the end of a live run, 10 steps on",)


def test_a_violation_on_the_way_to_a_live_state_is_reported():
    report = walk(asker(rash=True), from_live=True)
    assert report.expect_violated("exception").steps == 2


def test_time_that_is_up_ends_the_walks_to_a_live_state():
    report = walk(tired(), from_live=True, max_seconds=1e-9)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "seconds")


def test_it_has_no_meaning_without_a_property_that_can_become_true():
    with pytest.raises(UsageError, match="from_live"):
        walk(tired(), from_live=True, properties=["is_low"])
