"""What each event is needed for, and what else was met: by hand, and by a second look."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.minimizing.test_minimize import till, walked
from tests.shrink.detours import machines

import worldline as wl
from worldline.runs.restoring import world_of
from worldline.runs.schedule import schedule_of
from worldline.trace.records import Trace
from worldline.worlds.world import NotEnabled


def needed(report: wl.MinimizeReport) -> list[str]:
    assert report.needed is not None
    assert [one.step for one in report.needed] == [*range(1, len(report.needed) + 1)]
    return [one.because for one in report.needed]


def test_it_says_what_cannot_happen_without_an_event(tmp_path: Path):
    wl.walk(till(), out=tmp_path / "run.wl", scheduler="uniform", seed=3)
    report = wl.minimize(tmp_path / "run.wl", system=till(), traces=True)
    # order, order, both taken. The two say the same, so one stands for the other.
    assert needed(report) == [
        "step 4 cannot happen",
        "step 4 cannot happen (its message is not sent)",
        "nothing is violated",
        "nothing is violated",
    ]


A, B, C = wl.ids("a", "b", "c")


@wl.message
class Word:
    text: str


@wl.node
class Ear:
    heard: tuple[str, ...] = ()

    @wl.call
    def tell(self, ctx: wl.Context, text: str) -> None:
        ctx.send(B, Word(text))

    @wl.on(Word)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.heard += (msg.text,)


@wl.safety
def nobody_counts_to_three(view: wl.View) -> bool:
    return bool(view[B].heard != ("one", "two", "three"))


@wl.safety
def two_comes_after_one(view: wl.View) -> bool:
    return bool(view[B].heard[:1] != ("two",))


@wl.safety
def something_starts(view: wl.View) -> bool:
    """Say what the smallest run violates, too: that says nothing of its events."""
    return bool(view[B].heard[:2] != ("one", "two"))


def ears(*properties: wl.Property) -> wl.System:
    return wl.System(
        {A: Ear(), B: Ear()},
        network=wl.datagrams(reordering=False),
        workload=[wl.whenever(Ear.tell, text=wl.one_of("one", "two", "three"))],
        properties=list(properties),
        name="ears",
    )


def shown(tmp_path: Path, *properties: wl.Property) -> wl.MinimizeReport:
    found = wl.check(ears(nobody_counts_to_three), out=tmp_path / "run.wl")
    assert found.violated is not None
    system = ears(nobody_counts_to_three, *properties)
    return wl.minimize(tmp_path / "run.wl", system=system, certify=0)


def test_without_an_event_another_property_may_be_violated(tmp_path: Path):
    report = shown(tmp_path, two_comes_after_one)
    (other,) = report.others
    assert (other.name, other.verdict) == ("two_comes_after_one", wl.Verdict.VIOLATED)
    assert other.trace == tmp_path / "run-min-two_comes_after_one.wl"
    system = ears(nobody_counts_to_three, two_comes_after_one)
    assert wl.replay(other.trace, system).reproduced
    assert report.needed is not None
    violated = {one.violates for one in report.needed}
    assert violated <= {None, "two_comes_after_one"}
    told = str(report)
    assert "  met on the way:\n" in told
    assert f"    trace  {other.trace}\n" in told


def test_what_the_smallest_run_violates_too_is_told_once_and_explains_nothing(
    tmp_path: Path,
):
    report = shown(tmp_path, something_starts)
    assert [row.name for row in report.others] == ["something_starts"]
    assert report.needed is not None
    assert {one.violates for one in report.needed} == {None}


def again(run: Trace, system: wl.System, left_out: int) -> tuple[set[int], bool]:
    """Which steps cannot happen without one, and whether somebody is lost at the end.

    A second look, with the real nodes; of a message only what it says counts.
    """
    world = world_of(run, system)
    boot, _, steps = schedule_of(run, system)
    for event, choices in boot:
        world.step(event, choices)
    absent = set()
    for number, (event, choices) in enumerate(steps, 1):
        if number != left_out:
            try:
                world.step(event, choices)
            except NotEnabled:
                absent.add(number)
    (prop,) = system.properties
    return absent, not prop.judge(world.view).holds


@pytest.mark.slow
def test_what_is_said_is_what_happens_on_the_real_nodes(tmp_path: Path):
    compared = 0
    for seed in range(31, 39):
        system, out = machines(seed, reordering=bool(seed % 2)), tmp_path / f"{seed}.wl"
        found = walked(system, out).violated
        if found is None or not found.steps:
            continue
        report = wl.minimize(out, system=system, certify=0)
        assert report.needed is not None
        run = report.properties[0].run
        assert run is not None
        for one in report.needed:
            absent, is_lost = again(run, system, one.step)
            if one.violates is None:
                # A message may stand for one that its sender would have said otherwise.
                assert set(one.cannot_happen) <= absent
                assert not is_lost or absent
                compared += 1
    assert compared > 10


def test_where_time_is_up_nothing_is_said_of_events(tmp_path: Path):
    out, system = tmp_path / "run.wl", machines(1)
    walked(system, out)
    report = wl.minimize(out, system=system, max_seconds=1e-6)
    assert report.bound == "seconds"
    assert report.needed is None
    assert report.level is None
