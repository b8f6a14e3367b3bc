"""The zoo's bugs of liveness: walks find them at the transitions that are documented."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.shares import share
from tests.zoo.test_overcast import IDS, lost_unlock

import worldline as wl
from worldline import zoo
from worldline.cli.main import build_parser
from worldline.cli.options import assignments
from worldline.debug.commands import answer
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.loading.loader import load
from worldline.trace.format import read
from worldline.trace.records import StepRecord
from worldline.zoo import brokentree, overcast, randtree
from worldline.zoo.overcast._messages import Unlock

QUIET = "all_is_acknowledged"

WALKED = {
    "randtree-rt2": ("one_spanning_tree", ""),
    "randtree-rt3": ("one_spanning_tree", "timer at n2 recovery"),
    "randtree-rt4": ("one_spanning_tree", "deliver at c NewRoot(root=r) from q"),
    "randtree-rt10": ("one_spanning_tree", "deliver at q Remove() from c"),
    "randtree-rt12": ("one_spanning_tree", "deliver at n2 JoinReply("),
    "randtree-rt13": ("one_spanning_tree", "deliver at a JoinReply("),
    "overcast-ov1": ("locks_are_needed", "deliver at n1 LockDenied("),
    "macetransport-3": (QUIET, "deliver at s (transport) Ack(seq=6001) from r"),
    "macetransport-3a": (QUIET, "deliver at r (transport) Data(seq=2001, syn=1,"),
    "macetransport-3b": (QUIET, "deliver at r (transport) Ack(seq=6001) from s"),
    "macetransport-6": (QUIET, "deliver at r (transport) Data(seq=2003, syn=0,"),
    "macetransport-7": (QUIET, "deliver at r (transport) Reset(seq=6002) from s"),
    "macetransport-11": (QUIET, "deliver at s (transport) Ack(seq=6001) from r"),
    "pastry-1": ("all_have_joined", "deliver at n2 (pastry) LeafsetInfo("),
    "pastry-2": ("one_ring", "transport_error at n0 lost about n"),
    "pastry-3": ("one_ring", "deliver at n3 (pastry) Inform() from n2"),
    "pastry-4": ("all_have_joined", "deliver at n0 (pastry) LeafsetInfo("),
    "pastry-5": ("all_have_joined", "deliver at n0 (pastry) LeafsetInfo("),
}
"""By bug: the property, and the critical event. Those of RandTree do what the last events
of the schedules in `test_randtree_liveness` do, in which rt12's n2 and n0 are c and q."""

CERTIFIED = {"randtree-rt4", "randtree-rt13", "overcast-ov1"}

LONG = {"pastry-1", "pastry-2", "pastry-3", "pastry-4", "pastry-5"}
"""What takes many seconds; `test_pastry` has the same in smaller spaces."""
NIGHTLY = {*LONG, "randtree-rt10", "randtree-rt12", "macetransport-3b"}

EACH = [
    pytest.param(bug, marks=pytest.mark.nightly if bug in NIGHTLY else pytest.mark.slow)
    for bug in WALKED
]


def deployment(bug: str, *, present: bool = True) -> wl.System:
    """Return the system of a bug's command, with the bug or without."""
    given = build_parser().parse_args(shlex.split(zoo.bugs()[bug].command))
    parameters = assignments(given.parameters)
    return load(given.target, parameters if present else {**parameters, "bugs": ""})


def walk(bug: str, *, present: bool = True, **options: Any) -> wl.WalkReport:
    """Walk as a bug's command says, with the bug or without."""
    given = build_parser().parse_args(shlex.split(zoo.bugs()[bug].command))
    names = "depth", "max_steps", "properties", "probes", "certify", "from_live", "seed"
    asked = {name: getattr(given, name) for name in names}
    if given.weights is not None:
        weights = assignments(given.weights).items()
        asked["weights"] = {name: int(weight) for name, weight in weights}
    asked = {name: value for name, value in asked.items() if value is not None}
    return wl.walk(
        deployment(bug, present=present), **{"traces": False, **asked, **options}
    )


def test_every_walk_of_the_zoo_is_tested():
    cases = zoo.bugs().items()
    walked = {bug for bug, case in cases if case.command.startswith("walk ")}
    assert set(WALKED) == walked


@pytest.mark.parametrize("bug", EACH)
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
@pytest.mark.parametrize("bug", share([b for b in WALKED if b not in NIGHTLY], every=2))
def test_the_control_of_each_bug_is_not_accused(bug: str):
    check_control(bug)


@pytest.mark.nightly
@pytest.mark.parametrize("bug", sorted(NIGHTLY))
def test_the_control_of_each_bug_that_takes_long_is_not_accused(bug: str):
    check_control(bug)


def check_control(bug: str) -> None:
    report = walk(bug, present=False)
    assert (report.verdict, report.case) == (wl.Verdict.UNKNOWN, None)
    assert report.walks == report.periphery > 0


def before_and_in_the_critical_step(
    bug: str, seed: int, folder: Path, asked: str
) -> tuple[str, StepRecord]:
    """Return what an expression is before the critical step of a run, and the step."""
    report = walk(bug, seed=seed, traces=True, out=folder / "dead.wl")
    assert report.violated is not None
    assert report.violated.trace is not None
    trace = read(report.violated.trace)
    assert trace.end is not None
    assert trace.end.critical is not None
    session = Session(Timeline(trace, deployment(bug)))
    session.jump(trace.end.critical - 1)
    step = next(one for one in trace.run if one.step == trace.end.critical)
    return answer(session, f"print {asked}").lines[0], step


def lost(step: StepRecord) -> list[tuple[str, str]]:
    """Return what a step sent, and to whom, for which there was no room."""
    return [(sent.name, sent.to) for sent in step.sends if not sent.taken]


SEEDS = [0, *[pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 5)]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_rt10_is_the_remove_that_a_joining_node_ignores(seed: int, tmp_path: Path):
    found = before_and_in_the_critical_step(
        "randtree-rt10", seed, tmp_path, "view[q].state, c in view[q].children"
    )
    assert found[0] == "(State.JOINING, True)"
    assert (found[1].node, found[1].name, found[1].peer) == ("q", "Remove", "c")
    assert found[1].result == "unhandled"


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
def test_rt12_is_the_remove_for_which_there_is_no_room(seed: int, tmp_path: Path):
    found = before_and_in_the_critical_step(
        "randtree-rt12", seed, tmp_path, "len(view.messages(src=n2, dst=n0))"
    )
    assert found[0] == "1"
    assert lost(found[1]) == [("Remove", "n0")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_rt13_is_the_answer_that_a_node_in_init_ignores(seed: int, tmp_path: Path):
    found = before_and_in_the_critical_step(
        "randtree-rt13", seed, tmp_path, "view[a].state, a in view[c].children"
    )
    assert found[0] == "(State.INIT, True)"
    assert (found[1].node, found[1].name, found[1].peer) == ("a", "JoinReply", "c")
    assert (found[1].sends, found[1].changes) == ((), {})


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_ov1_is_the_unlock_for_which_there_is_no_room(seed: int, tmp_path: Path):
    found = before_and_in_the_critical_step(
        "overcast-ov1", seed, tmp_path, "n0 in view[n1].locks"
    )
    assert found[0] == "True"
    assert lost(found[1]) == [("Unlock", "n0")]


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
@pytest.mark.parametrize("bug", share(["rt15", "rt16", "rt17"], only=["rt15"]))
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
    "bt2": (brokentree.system, {"size": 5, "reorganisations": 4}, 9),
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
