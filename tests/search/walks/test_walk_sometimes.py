"""Walks reach what must be reached sometimes, or leave it unknown; they exhaust nothing."""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.search.options import Engine

A, B = wl.ids("a", "b")


@wl.message
class Step:
    pass


@wl.node
class Counter:
    count: int = 0

    @wl.on(Step)
    def step(self, ctx: wl.Context, src: wl.NodeId, msg: Step) -> None:
        self.count += 1
        if self.count < 12:
            ctx.send(src, Step())

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(B, Step())


def counted(most: int) -> wl.Property:
    @wl.sometimes
    def reached(view: wl.View) -> bool:
        return bool(view[B].count == most)

    return reached


@wl.liveness
def all_is_counted(view: wl.View) -> bool:
    return bool(view[B].count == 12)


@wl.safety
def it_stays_small(view: wl.View) -> bool:
    return bool(view[B].count < 100)


def system(*properties: wl.Property) -> wl.System:
    return wl.System(
        {A: Counter(), B: Counter()},
        workload=[wl.script(A, [wl.invoke(Counter.begin)])],
        properties=[it_stays_small, all_is_counted, *properties],
        name="counter",
    )


def verdicts(report: wl.WalkReport) -> dict[str, wl.Verdict]:
    return {row.name: row.verdict for row in report.properties}


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize(("most", "steps"), [(1, 2), (9, 18)])
def test_what_is_reached_holds(most: int, steps: int, engine: Engine):
    report = wl.walk(system(counted(most)), depth=4, engine=engine)
    (row,) = (row for row in report.properties if row.name == "reached")
    assert row.verdict is wl.Verdict.HOLDS
    assert (row.explanation, row.steps) == ("reached", steps)


def test_what_no_walk_reaches_is_unknown():
    report = wl.walk(system(counted(13)), depth=4)
    (row,) = (row for row in report.properties if row.name == "reached")
    assert row.verdict is wl.Verdict.UNKNOWN
    assert "check" in row.explanation
    assert report.verdict is wl.Verdict.UNKNOWN


def test_several_may_be_reached_on_one_walk():
    @wl.sometimes
    def eleven(view: wl.View) -> bool:
        return bool(view[B].count == 11)

    @wl.sometimes
    def ten(view: wl.View) -> bool:
        return bool(view[B].count == 10)

    report = wl.walk(system(eleven, ten, counted(13)), depth=4)
    said = verdicts(report)
    assert said["eleven"] is said["ten"] is wl.Verdict.HOLDS
    assert said["reached"] is wl.Verdict.UNKNOWN


def test_what_was_reached_is_kept_where_a_dead_state_is_found():
    @wl.liveness
    def more_than_there_is(view: wl.View) -> bool:
        return bool(view[B].count == 20)

    asked = system(more_than_there_is, counted(2))
    report = wl.walk(asked, depth=4, traces=False, max_steps=50)
    assert report.verdict is wl.Verdict.VIOLATED
    assert verdicts(report)["reached"] is wl.Verdict.HOLDS


def test_json_lists_them():
    said = wl.walk(system(counted(2)), depth=4).to_json()
    assert [row["verdict"] for row in said["properties"]] == [
        "unknown",
        "unknown",
        "holds",
    ]
