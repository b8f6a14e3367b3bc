"""The zoo's bugs of liveness: walks find them at the transitions that are documented."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.zoo.test_overcast import IDS, lost_unlock

import worldline as wl
from worldline import zoo
from worldline.cli.main import build_parser
from worldline.cli.options import assignments
from worldline.model.loader import load
from worldline.zoo import overcast, randtree
from worldline.zoo.overcast._messages import Unlock

WALKED = {
    "randtree-rt2": ("one_spanning_tree", ""),
    "randtree-rt4": ("one_spanning_tree", "deliver at c NewRoot(root=r) from q"),
    "randtree-rt10": ("one_spanning_tree", "deliver at q Remove() from c"),
    "randtree-rt12": ("one_spanning_tree", "deliver at c JoinReply("),
    "randtree-rt13": ("one_spanning_tree", "deliver at a JoinReply("),
    "overcast-ov1": ("locks_are_needed", "deliver at n0 Lock("),
}
"""By bug: the property, and the critical event; those of RandTree are the last events of
the schedules in `test_randtree_liveness`."""

CERTIFIED = {"randtree-rt4", "randtree-rt13", "overcast-ov1"}


def walk(bug: str, *, present: bool = True, **options: Any) -> wl.WalkReport:
    """Walk as a bug's command says, with the bug or without."""
    given = build_parser().parse_args(shlex.split(zoo.bugs()[bug]))
    parameters = assignments(given.parameters)
    system = load(given.target, parameters if present else {**parameters, "bugs": ""})
    return wl.walk(
        system,
        **{
            "depth": given.depth,
            "max_steps": given.max_steps,
            "traces": False,
            **options,
        },
    )


def test_every_walk_of_the_zoo_is_tested():
    commands = zoo.bugs().items()
    assert set(WALKED) == {bug for bug, text in commands if text.startswith("walk ")}


@pytest.mark.slow
@pytest.mark.parametrize("bug", WALKED)
def test_each_bug_is_found_at_its_critical_transition(bug: str):
    name, event = WALKED[bug]
    report = walk(bug)
    report.expect_violated(name)
    assert report.case == "C1"
    assert report.critical is not None
    assert report.critical.event.startswith(event)
    assert (report.critical.step > 0) is (event != "")
    assert report.critical.certified is (bug in CERTIFIED)


@pytest.mark.slow
@pytest.mark.parametrize("bug", WALKED)
def test_the_control_of_each_bug_is_not_accused(bug: str):
    report = walk(bug, present=False)
    assert (report.verdict, report.case) == (wl.Verdict.UNKNOWN, None)
    assert report.paths == report.periphery > 0


@pytest.mark.slow
def test_rt3_is_found_by_its_liveness_property_too():
    report = wl.walk(
        randtree.system(bugs=("rt3",), start="rt3"),
        max_steps=500,
        properties=["one_spanning_tree"],
        traces=False,
    )
    assert report.critical is not None
    assert report.critical.event == "timer at n2 recovery"


def test_ov1_is_found_at_the_lost_unlock():
    system = overcast.system(bugs=("ov1",), buffer=3, connection_errors=1)
    n0, n1, _ = IDS
    unlocked = wl.events.deliver(n0, Unlock, n1)
    system.prologue = (*lost_unlock(IDS)[:-1], unlocked)
    report = wl.walk(system, depth=2, traces=False)
    assert report.critical is not None
    assert report.critical.step == 1
    assert report.critical.event.startswith("disconnect at n1 about n2")
    assert report.critical.certified
    fixed = overcast.system(buffer=3, connection_errors=1)
    fixed.prologue = system.prologue
    assert wl.walk(fixed, depth=2, traces=False).verdict is wl.Verdict.UNKNOWN


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["rt15", "rt16", "rt17"])
def test_bugs_that_need_a_whole_tree_are_found_from_live_runs(bug: str, tmp_path: Path):
    def six(*bugs: str) -> wl.System:
        return randtree.system(bugs=bugs, size=6, resets=2)

    live: dict[str, Any] = {"emit_live": 2, "properties": ["one_spanning_tree"]}
    for bugs in ((bug,), ()):
        folder = tmp_path / "-".join(bugs)
        runs = wl.walk(six(*bugs), depth=2, out=folder, **live).live_traces
        assert len(runs) == 2
        for run in runs:
            out = folder / "found.wl"
            report = wl.check(six(*bugs), from_=run, max_depth=4, out=out)
            if not bugs:
                assert report.verdict is wl.Verdict.UNKNOWN
                continue
            report.expect_violated("joins_as_its_own_root")
            assert wl.replay(out, six(*bugs)).reproduced


FIXED: dict[str, tuple[Callable[..., wl.System], dict[str, Any], int]] = {
    "rt4": (randtree.system, {"start": "rt4", "resets": 1}, 8),
    "rt10": (randtree.system, {"start": "rt10", "resets": 1}, 8),
    "rt12": (randtree.system, {"start": "rt12", "buffer": 1, "resets": 1}, 8),
    "rt13": (
        randtree.system,
        {"start": "rt13", "resets": 1, "connection_errors": 1},
        9,
    ),
    "ov1": (overcast.system, {"buffer": 2, "connection_errors": 1}, 12),
}
"""Without bugs, how to make a system, and how deep to search before the walks."""


@pytest.mark.nightly
@pytest.mark.parametrize("name", FIXED)
def test_a_million_steps_do_not_accuse_a_fixed_system(name: str):
    build, parameters, depth = FIXED[name]
    seed = steps = 0
    while steps < 1_000_000:
        report = wl.walk(build(**parameters), depth=depth, seed=seed, traces=False)
        assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, None), report
        seed, steps = seed + 1, steps + report.steps
