"""What a system assumes of its states is true along the runs that are made of one, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.node
class Counter:
    count: int = 0

    @wl.call
    def up(self, ctx: wl.Context) -> None:
        self.count += 1


@wl.safety
def it_stays_small(view: wl.View) -> bool:
    return bool(view[A].count < 3)


def keeps_up(view: wl.View) -> bool:
    return bool(view[A].count <= view[B].count + 1)


def counters(assume: Callable[[wl.View], bool] | None) -> wl.System:
    nodes = {A: Counter(), B: Counter()}
    return wl.System(
        nodes,
        workload=[wl.script(node, [Counter.up] * 5) for node in nodes],
        properties=[it_stays_small],
        assume=assume,
        name="counters",
    )


def nodes_of(report: wl.MinimizeReport) -> list[str | None]:
    run = report.properties[0].run
    assert run is not None
    return [step.node for step in run.run]


@pytest.mark.parametrize("certify", [0, 20_000])
def test_a_smaller_run_does_not_leave_what_is_assumed(certify: int, tmp_path: Path):
    system = counters(keeps_up)
    wl.walk(system, out=tmp_path / "run.wl", seed=3)
    report = wl.minimize(tmp_path / "run.wl", system=system, certify=certify)
    least = wl.check(system, traces=False).expect_violated("it_stays_small").steps
    assert report.final.deliveries == least == 4
    assert report.lower_bound == (4 if certify else None)
    assert report.initial.deliveries > 4


def test_it_is_told_where_a_run_without_a_step_leaves_it(tmp_path: Path):
    system = counters(keeps_up)
    wl.check(system, out=tmp_path / "run.wl")
    report = wl.minimize(tmp_path / "run.wl", system=system)
    assert report.needed is not None
    place = nodes_of(report).index("b")
    assert report.needed[place].because == "what is assumed is false after step 3"


def test_a_run_that_leaves_it_itself_is_made_short_all_the_same(tmp_path: Path):
    wl.walk(counters(None), out=tmp_path / "run.wl", seed=3)
    report = wl.minimize(tmp_path / "run.wl", system=counters(lambda view: False))
    assert nodes_of(report) == ["a", "a", "a"]
    assert report.certified
