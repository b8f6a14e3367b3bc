"""Bounds on deliveries are true, and as high as the states that were visited say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.oracle.explorer import Oracle
from tests.shrink.detours import machines

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.minimizing.exhaustive import ShortRuns
from worldline.minimizing.fewest import Fewest, closed
from worldline.minimizing.original import original_of
from worldline.minimizing.sameness import target_of
from worldline.model.properties import PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.trace.format import read


def fewest(system: wl.System, most: int) -> int | None:
    """Deliveries of a violating run at least, if there is one with `most`: all are run."""
    oracle = Oracle(system)
    seen: set[Any] = set()
    level = list(oracle.initial())
    for deliveries in range(most + 1):
        later: list[Any] = []
        for state in level:
            if oracle.identity(state) in seen:
                continue
            seen.add(oracle.identity(state))
            if is_violating(oracle, state):
                return deliveries
            for event, _, after in oracle.successors(state):
                assert not isinstance(after, Failure)
                (later if event.kind.is_delivery else level).append(after)
        level = later
    return None


def is_violating(oracle: Oracle, state: Any) -> bool:
    view = oracle.view(state)
    return not all(
        prop.judge(view).holds
        for prop in oracle.system.properties
        if prop.kind is PropertyKind.SAFETY
    )


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("boot", "faults"),
    [
        ("before", wl.Faults()),
        ("events", wl.Faults()),
        ("events", wl.Faults(resets=1)),
    ],
)
def test_no_run_has_fewer_deliveries_than_the_bound(
    boot: str, faults: wl.Faults, tmp_path: Path
):
    looked_at = 0
    for seed in range(12):
        system = machines(seed, reordering=bool(seed % 2)).replace(
            boot=boot, faults=faults
        )
        out = tmp_path / f"{seed}.wl"
        if wl.check(system, out=out, max_states=3_000).violated is None:
            continue
        # A number of states that ends some searches half-way.
        report = wl.minimize(out, system=system, certify=1 + 7 * seed, effort="high")
        least = fewest(system, min(5, report.final.deliveries))
        looked_at += 1
        assert report.lower_bound is not None
        if least is None:
            assert report.final.deliveries > 5
            continue
        assert report.lower_bound <= least <= report.final.deliveries, seed
        if report.certified or report.level == "closed-world":
            assert report.final.deliveries == least
    assert looked_at >= 4


@pytest.mark.slow
def test_starts_are_no_deliveries_so_they_do_not_make_a_bound_lower(tmp_path: Path):
    system = machines(9).replace(boot="events")
    wl.check(system, out=tmp_path / "run.wl")
    report = wl.minimize(tmp_path / "run.wl", system=system)
    assert report.lower_bound == report.final.deliveries == fewest(system, 8)
    assert report.certified


@wl.node
class Lamp:
    """Is lit after four turns, one at a time or, by a jump, three."""

    turns: int = 0

    @wl.call
    def push(self, ctx: wl.Context) -> None:
        ctx.set_timer(Lamp.turn, after=1.0)

    @wl.timer
    def turn(self, ctx: wl.Context) -> None:
        self.turns += 1
        if self.turns < 4:
            ctx.set_timer(Lamp.turn, after=1.0)

    @wl.call
    def jump(self, ctx: wl.Context) -> None:
        self.turns += 3


@wl.safety
def is_dark(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].turns < 4)


def lamps(calls: list[Any]) -> wl.System:
    ids = wl.ids("one", "two")
    return wl.System(
        dict.fromkeys(ids, Lamp()),
        workload=[wl.script(node, calls) for node in ids],
        properties=[is_dark],
        symmetry=[wl.symmetric(ids)],
        name="lamps",
    )


def searched(system: wl.System, trace: Path) -> tuple[Campaign, Fewest, Fewest]:
    """A trace's run, and the searches of all runs and of those with its calls."""
    original = original_of(read(trace), system, trace, reorder=False)
    assert original.start.snapshot is not None
    runner = CandidateRunner(
        original.system, original.start.snapshot, target_of(original, "property")
    )
    run = runner.of_schedule(original.schedule)
    assert run is not None
    assert original.prop is not None
    campaign = Campaign(runner, run, Meter(Bounds()))
    everywhere, in_closed = (
        Fewest(
            ShortRuns(each, original.prop, anywhere=False, partial=False),
            original.start.snapshot,
        )
        for each in (original.system, closed(original.system, campaign))
    )
    return campaign, everywhere, in_closed


def test_in_a_closed_world_only_the_calls_of_the_run_are_made(tmp_path: Path):
    wl.check(lamps([Lamp.push]), out=tmp_path / "push.wl")
    campaign, everywhere, in_closed = searched(
        lamps([Lamp.push, Lamp.jump]), tmp_path / "push.wl"
    )
    assert campaign.best.size.deliveries == 5
    assert in_closed.search(campaign, 1_000) == 5
    assert campaign.best.size.deliveries == 5
    assert everywhere.search(campaign, 1_000) == 3
    assert campaign.best.size.deliveries == 3


def test_with_more_states_a_run_is_the_smallest_of_a_closed_world(tmp_path: Path):
    wl.check(lamps([Lamp.push]), out=tmp_path / "run.wl")
    high, normal = (
        wl.minimize(
            tmp_path / "run.wl", system=lamps([Lamp.push]), effort=each, certify=1
        )
        for each in ("high", "normal")
    )
    assert (high.level, high.lower_bound) == ("closed-world", 5)
    assert (normal.level, normal.certified) == ("pair-minimal", False)


def test_a_level_that_was_reached_stands_when_a_search_of_high_effort_is_cut_off(
    tmp_path: Path,
):
    found = wl.walk(
        "zoo:brokentree", parameters={"bugs": "bt2"}, seed=2, out=tmp_path / "run.wl"
    )
    assert found.violated is not None
    normal = wl.minimize(tmp_path / "run.wl", certify=0)
    high = wl.minimize(
        tmp_path / "run.wl", certify=0, effort="high", max_events=normal.events + 1
    )
    assert (normal.bound, high.bound) == (None, "events")
    assert normal.level == high.level == "pair-minimal"


def test_one_delivery_and_one_external_are_not_several(tmp_path: Path):
    wl.check(lamps([Lamp.push]), out=tmp_path / "run.wl")
    report = wl.minimize(tmp_path / "run.wl", system=lamps([Lamp.push]), certify=3)
    assert "5 deliveries (1 external) -> 5 (1)" in str(report)
    assert "every run has 1 delivery or more" in str(report)
