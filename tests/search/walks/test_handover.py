"""Walks that are moved to another world: when that happens, and that it is no matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.search.dying import asker, climber
from tests.search.walks.test_walks import facts
from tests.shares import share

import worldline as wl
from worldline.search.walks import handover as moving
from worldline.search.walks.handover import Counted, Pace
from worldline.worlds.tabulated import TabulatedWorld
from worldline.zoo import brokentree, overcast, randtree, toy

NEVER, AT_ONCE = 10**18, 1


@wl.liveness
def everybody_has_joined(view: wl.View) -> bool:
    return all(view[node].state.value == "joined" for node in view)


def trees() -> wl.System:
    system = brokentree.system(bugs=("bt2",))
    system.properties = (everybody_has_joined,)
    return system


SYSTEMS: dict[str, tuple[Callable[[], wl.System], dict[str, Any]]] = {
    "climber": (
        climber,
        {"depth": 2, "seed": 5, "max_steps": 45, "certify": 0, "walks": 5},
    ),
    "rash": (lambda: asker(rash=True, drops=0), {"depth": 2}),
    "faults": (
        lambda: asker(drops=None),
        {"depth": 2, "walk_faults": True, "weights": {"drop": 100_000}},
    ),
    "randtree": (lambda: randtree.system(size=3, resets=1), {"depth": 4}),
    "rt13": (
        lambda: randtree.system(bugs=("rt13",), start="rt13", resets=1),
        {"depth": 4, "max_steps": 100, "walks": 3, "certify": 0},
    ),
    "overcast": (
        lambda: overcast.system(buffer=2, connection_errors=1),
        {"depth": 7, "max_steps": 200, "certify": 0},
    ),
    "brokentree": (trees, {"depth": 4, "max_steps": 500}),
}


def force(patch: pytest.MonkeyPatch, window: int) -> None:
    """Move walks after so many misses, however many steps there were."""
    patch.setattr(moving, "WINDOW", window)
    patch.setattr(moving, "MISSES_PER_STEP", 0)
    patch.setattr(moving, "STAY", 50)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    "name", share(list(SYSTEMS), but=["climber", "overcast", "brokentree"])
)
def test_moving_changes_no_result(
    name: str, engine: Any, monkeypatch: pytest.MonkeyPatch
):
    build, options = SYSTEMS[name]
    options = {**options, "engine": engine, "traces": False}
    default = wl.walk(build(), **options)
    force(monkeypatch, NEVER)
    over_tables = wl.walk(build(), **options)
    assert over_tables.remembered_steps == 0
    assert facts(over_tables) == facts(default)
    for window in (AT_ONCE, 40):
        force(monkeypatch, window)
        moved = wl.walk(build(), **options)
        assert facts(moved) == facts(over_tables)
        if window == AT_ONCE:
            # What fails in its first step is found out over tables.
            assert moved.remembered_steps > 0 or name == "rash"


def test_the_rate_of_hits_is_reported():
    report = wl.walk(climber(top=1000, edge=-1), depth=2, max_steps=10, certify=0)
    assert report.hit_rate is not None
    assert 0.0 < report.hit_rate < 1.0
    assert report.misses > 0
    assert report.to_json()["hit_rate"] == round(report.hit_rate, 6)
    assert report.to_json()["remembered_steps"] == 0
    assert report.to_json()["direct_steps"] == 0
    assert f"hit rate {report.hit_rate:.1%}" in str(report)


def test_where_every_step_misses_the_misses_are_told():
    report = wl.walk(randtree.system(size=2), depth=2, traces=False)
    assert report.hit_rate == 0.0
    assert f", {report.misses:,} misses, engine" in str(report)


def test_no_rate_is_told_where_nobody_walked():
    report = wl.walk(asker(rash=True), depth=4, traces=False)
    assert (report.hit_rate, "hit rate" in str(report)) == (None, False)


def test_steps_in_the_remembering_world_are_told(monkeypatch: pytest.MonkeyPatch):
    force(monkeypatch, AT_ONCE)
    report = wl.walk(randtree.system(size=2), depth=5, traces=False)
    assert report.remembered_steps > 0
    assert f", {report.remembered_steps:,} steps in the remembering world" in str(
        report
    )
    assert report.to_json()["remembered_steps"] == report.remembered_steps
    assert "direct world" not in str(report)


# ---------------------------------------------------------------------- what is counted


class Tally:
    """Stands for a world: only its misses matter."""

    def __init__(self) -> None:
        self.misses = 0


def pace(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Pace]:
    monkeypatch.setattr(moving, "WINDOW", 10)
    monkeypatch.setattr(moving, "MISSES_PER_STEP", 0.5)
    monkeypatch.setattr(moving, "STAY", 100)
    counted: Any = Tally()
    return counted, Pace(counted)


def test_too_few_steps_for_many_misses_move_walks(monkeypatch: pytest.MonkeyPatch):
    counted, here = pace(monkeypatch)
    counted.misses = 9
    assert not here.gives_up(1)
    counted.misses = 10
    assert here.gives_up(18)
    assert here.is_elsewhere


def test_many_steps_for_many_misses_do_not(monkeypatch: pytest.MonkeyPatch):
    counted, here = pace(monkeypatch)
    counted.misses = 10
    assert not here.gives_up(20)
    # Another window begins.
    counted.misses = 19
    assert not here.gives_up(0)
    counted.misses = 20
    assert here.gives_up(0)


def test_the_tables_are_tried_again_later_and_later(monkeypatch: pytest.MonkeyPatch):
    counted, here = pace(monkeypatch)
    for stay in (100, 200, 400):
        counted.misses += 10
        assert here.gives_up(1)
        here.went_on(stay - 1)
        assert here.is_elsewhere
        here.went_on(1)
        assert not here.is_elsewhere
        assert not here.gives_up(0)
    assert (here.steps, here.remembered, here.direct) == (3, 700, 0)


def test_where_there_is_no_room_for_tables_the_steps_are_direct(
    monkeypatch: pytest.MonkeyPatch,
):
    _, here = pace(monkeypatch)
    here.leave_tables()
    assert here.is_elsewhere
    here.went_on(5)
    assert (here.remembered, here.direct) == (0, 5)


def test_where_as_much_is_worked_out_elsewhere_walks_stay_over_tables(
    monkeypatch: pytest.MonkeyPatch,
):
    counted, here = pace(monkeypatch)
    counted.misses = 10
    assert here.gives_up(1)
    here.went_on(100, 150)
    counted.misses = 20
    assert not here.gives_up(7)
    counted.misses = 30
    assert here.gives_up(6)
    # What it was like in an earlier stay does not matter.
    here.went_on(200, 0)
    counted.misses = 40
    assert here.gives_up(19)


def test_walks_that_end_at_once_do_not_stay_for_ever(monkeypatch: pytest.MonkeyPatch):
    counted, here = pace(monkeypatch)
    counted.misses = 10
    assert here.gives_up(0)
    for _ in range(100):
        here.went_on(0)
    assert not here.is_elsewhere


def test_walks_stay_over_tables_where_they_are_told_to(
    monkeypatch: pytest.MonkeyPatch,
):
    counted, here = pace(monkeypatch)
    counted.misses = 100
    with here.over_tables():
        assert not here.gives_up(1)
        assert here.hit_rate == 0.0
    assert not here.gives_up(399)
    assert here.hit_rate == 0.75


def test_paths_do_not_count(monkeypatch: pytest.MonkeyPatch):
    counted, here = pace(monkeypatch)
    with here.uncounted():
        counted.misses = 1_000
    assert not here.gives_up(1)
    assert here.hit_rate == 1.0


def test_whatever_fills_the_tables_is_counted():
    world = TabulatedWorld(toy.system())
    counted = Counted(world)
    (row, *_) = [world.encode(s) for s in [_state_0(world.system)]]
    for site in world.tables.sites:
        counted.enabled(site, row)
    assert counted.misses == len(world.tables.sites)


def _state_0(system: wl.System) -> Any:
    from worldline.runs.start import starts

    return starts(system)[0].snapshot
