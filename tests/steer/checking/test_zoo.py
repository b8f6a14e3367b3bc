"""The bugs that one node can see are stopped at the last event before them."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.predictions import Scene, scenes
from tests.steer.checking.driving import Judged, records_of

import worldline as wl
from worldline.runs.schedule import Steps, schedule_of
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.trace.format import read
from worldline.worlds.companions import Instead
from worldline.worlds.direct import DirectWorld

SCENES = {scene.bug: scene for scene in scenes([]) if scene.faults == "own"}
ALONE = {
    "randtree-cb1": "children_are_not_siblings",
    "randtree-cb2": "children_are_not_siblings",
    "randtree-cb3": "children_are_not_siblings",
    "randtree-cb4": "children_are_not_siblings",
    "randtree-cb5": "root_is_above",
    "randtree-cb6": "root_has_no_siblings",
    "chord-cb2": "predecessor_is_nearest",
    "chord-cb3": "find_queue_is_bounded",
}
"""Bugs that violate what is said of one node."""

LARGE = ("randtree-cb3", "randtree-cb5")
QUICK = ("randtree-cb4", "chord-cb3")


def path_to(scene: Scene, out: Path) -> tuple[wl.System, Steps, Steps]:
    """Return the way to a scene's start, and a run from there to its violation."""
    system = scene.system()
    report = wl.predict(
        system,
        max_states=20_000 if scene.bug in LARGE else 1_000,
        faults="declared",
        out=str(out / "found.trace"),
        threads=1,
    )
    assert report.trace is not None
    boot, prologue, run = schedule_of(read(report.trace), system)
    return system, boot + prologue, run


@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, marks=[pytest.mark.nightly] if bug not in QUICK else [])
        for bug in ALONE
    ],
)
def test_a_node_refuses_the_event_after_which_its_state_is_wrong(
    bug: str, tmp_path: Path
):
    system, begin, run = path_to(SCENES[bug], tmp_path)
    check = ImmediateCheck(system)
    judged = Judged(DirectWorld(system), check)
    for event, choices in begin + run[:-1]:
        assert judged.step(event, choices) is None
    last, choices = run[-1]
    before = judged.world.snapshot()
    assert judged.step(last, choices) is Instead.BROKEN
    assert judged.world.snapshot() == before
    assert last.node is not None
    assert check.counts[last.node].refused[ALONE[bug]] == 1
    assert not check.errors
    # It is no accident: the event comes again, and is refused again.
    assert judged.step(last, choices) is Instead.BROKEN
    assert check.counts[last.node].refused[ALONE[bug]] == 2


@pytest.mark.parametrize("bug", ["paxos-cb1", "paxos-cb2"])
def test_what_two_nodes_have_decided_is_seen_by_who_knows_the_other(
    bug: str, tmp_path: Path
):
    system, begin, run = path_to(SCENES[bug], tmp_path)
    world = DirectWorld(system)
    names = [node.name for node in system.ids]
    check = ImmediateCheck(
        system, neighbours=lambda me: records_of(world, *set(names) - {me.name})
    )
    judged = Judged(world, check)
    said = [judged.step(event, choices) for event, choices in begin + run]
    assert said[:-1] == [None] * len(said[:-1])
    assert said[-1] is Instead.CONSUMED
