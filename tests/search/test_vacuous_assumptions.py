"""What is assumed: where it leaves nothing to be searched, nothing holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

import worldline as wl

(A,) = wl.ids("a")


@wl.node
class Adder:
    total: int = 0

    @wl.call(when=lambda self: self.total < 3)
    def add(self, ctx: wl.Context) -> None:
        self.total += 1


@wl.safety
def small(view: wl.View) -> bool:
    return bool(view[A].total < 9)


@wl.safety
def begun(view: wl.View) -> bool:
    return bool(view[A].total > 0)


@wl.sometimes
def three(view: wl.View) -> bool:
    return bool(view[A].total == 3)


@wl.liveness
def in_the_end(view: wl.View) -> bool:
    return bool(view[A].total == 3)


def adders(
    *properties: wl.Property, assume: Callable[[wl.View], bool] | None = None
) -> wl.System:
    workload = [wl.whenever(Adder.add)]
    return wl.System(
        {A: Adder()}, workload=workload, properties=properties, assume=assume
    )


def never(view: wl.View) -> bool:
    return bool(view[A].total > 0)


def few(view: wl.View) -> bool:
    return bool(view[A].total < 2)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_nothing_holds_where_what_is_assumed_is_false_at_once(
    engine: Literal["native", "python"],
) -> None:
    system = adders(small, three, in_the_end, assume=never)
    report = wl.check(system, engine=engine, traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "assumed")
    verdicts = [row.verdict for row in report.properties]
    assert verdicts[:2] == [wl.Verdict.UNKNOWN] * 2
    assert verdicts[2] is wl.Verdict.NOT_SEARCHED
    assert any("never is false wherever the search begins" in n for n in report.notes)
    with pytest.raises(wl.PropertyFailed):
        report.expect_holds()


def test_of_several_those_that_are_false_are_named() -> None:
    report = wl.check(adders(small), assume=[few, never], traces=False)
    (note,) = [n for n in report.notes if "wherever the search begins" in n]
    assert note.startswith("never is false")


def test_a_prediction_holds_of_nothing_either() -> None:
    report = wl.predict(adders(small, assume=never), traces=False)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "assumed")
    assert any("never is false wherever the search begins" in n for n in report.notes)


def test_what_is_false_at_once_is_violated_all_the_same() -> None:
    for verb in (wl.check, wl.predict):
        report = verb(adders(begun, assume=never), traces=False)
        assert report.verdict is wl.Verdict.VIOLATED


def test_what_follows_one_beginning_of_two_is_searched() -> None:
    @wl.node
    class Either:
        total: int = 0

        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            self.total = ctx.choose([0, 1])

    report = wl.check(
        wl.System({A: Either()}, properties=[small], assume=never), traces=False
    )
    assert report.verdict is wl.Verdict.HOLDS


def test_a_prediction_leaves_open_what_an_assumption_keeps_away() -> None:
    for verb in (wl.check, wl.predict):
        report = verb(adders(three, assume=few), traces=False)
        assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "assumed")
        (row,) = report.properties
        assert row.verdict is wl.Verdict.UNKNOWN
        assert "that what is assumed leaves" in row.explanation
