"""What counts as the same violation: the explanation, the property, or anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.shrink.legality import events_of

import worldline as wl
from worldline.minimizing.sameness import shape

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Tank:
    """Has one number that grows, and one that jumps."""

    level: int = 0
    heat: int = 0

    @wl.call
    def fill(self, ctx: wl.Context) -> None:
        self.level += 1

    @wl.call
    def light(self, ctx: wl.Context) -> None:
        self.heat += 5
        if self.level == 2:
            raise LookupError(f"{ctx.me} leaks {self.heat}")


@wl.safety
def tanks_are_well(view: wl.View) -> None:
    for node in view:
        assert view[node].heat < 10, f"{node} boils at {view[node].heat}"
        assert view[node].level < 4, f"{node} spills at {view[node].level}"


@wl.safety
def tanks_are_cold(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].heat == 0)


def tanks(*, cold: bool = False) -> wl.System:
    return wl.System(
        {A: Tank(), B: Tank()},
        workload=[wl.whenever(Tank.fill), wl.whenever(Tank.light)],
        properties=[tanks_are_well, *([tanks_are_cold] if cold else [])],
        name="tanks",
    )


def spilled(out: Path) -> None:
    """Leave a run behind in which a tank spills, and was lit once before."""
    weights = {"fill": 20, "light": 3}
    report = wl.walk(tanks(), out=out, weights=weights, seed=3, scheduler="weighted")
    assert report.violated is not None
    assert " spills at " in report.violated.explanation


def calls_of(report: wl.MinimizeReport) -> list[str]:
    return [event[2] for event in events_of(report)]


def test_by_default_the_property_counts_and_another_explanation_is_told(
    tmp_path: Path,
):
    spilled(tmp_path / "run.wl")
    report = wl.minimize(tmp_path / "run.wl", system=tanks())
    # The search for the lower bound meets the way to boil.
    assert calls_of(report) == ["light", "light"]
    assert report.slipped
    assert "slipped" in str(report)


def test_strictly_the_explanation_counts(tmp_path: Path):
    spilled(tmp_path / "run.wl")
    report = wl.minimize(tmp_path / "run.wl", system=tanks(), same="strict")
    assert calls_of(report) == ["fill"] * 4
    assert not report.slipped
    assert (report.same, report.lower_bound, report.certified) == ("strict", 2, False)


def test_with_any_the_first_violation_of_all_counts(tmp_path: Path):
    spilled(tmp_path / "run.wl")
    system = tanks(cold=True)
    report = wl.minimize(tmp_path / "run.wl", system=system, same="any")
    assert report.properties[0].name == "tanks_are_cold"
    assert calls_of(report) == ["light"]
    assert report.slipped
    # What bounds the runs that violate one property says nothing of others.
    assert (report.lower_bound, report.certified) == (None, False)
    assert report.trace is not None
    assert wl.replay(report.trace, system).reproduced
    kept = wl.minimize(tmp_path / "run.wl", system=system)
    assert kept.properties[0].name == "tanks_are_well"


def test_an_unknown_sameness_is_refused(tmp_path: Path):
    spilled(tmp_path / "run.wl")
    with pytest.raises(wl.UsageError, match="'strict', 'property' or 'any'"):
        wl.minimize(tmp_path / "run.wl", system=tanks(), same="alike")


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("a boils at 10", "b boils at 15", True),
        ("a boils at 10", "a spills at 10", False),
        ("a and b lead", "b and a lead", True),
        ("a and b lead", "a and a lead", False),
        ("abc is a word", "bbc is a word", False),
        ("a is 1\n  reads", "b is 2", True),
    ],
)
def test_explanations_are_alike_up_to_numbers_and_names(
    one: str, other: str, alike: bool
):
    assert (shape(one, ["a", "b"]) == shape(other, ["a", "b"])) is alike
