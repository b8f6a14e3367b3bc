"""Overcast: every walk of the fixed protocol ends in a tree without locks; ov1 does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.shares import share
from tests.zoo.walking import Walker, failing, recoveries, started, unsafe

import worldline as wl
from worldline.zoo import overcast
from worldline.zoo.overcast._messages import (
    Lock,
    LockGranted,
    Probe,
    ProbeReply,
    ReOrg,
)
from worldline.zoo.overcast._properties import (
    kids_match,
    locks_are_needed,
    one_spanning_tree,
)
from worldline.zoo.overcast._protocol import Overcast
from worldline.zoo.overcast._states import State

call, deliver, timer = wl.events.call, wl.events.deliver, wl.events.timer
disconnect, transport_error = wl.events.disconnect, wl.events.transport_error

Patterns = list[wl.events.Pattern]

FAULTY: list[dict[str, Any]] = [
    {"connection_errors": 3},
    {"resets": 2, "connection_errors": 2, "reorganisations": 4},
    {"crashes": 1, "resets": 1, "reorganisations": 4},
    {"connection_errors": 2, "buffer": 1, "probes": 2, "reorganisations": 4},
    {"size": 5, "resets": 2, "connection_errors": 4, "reorganisations": 6},
    {"size": 5, "max_kids": 1, "connection_errors": 4, "reorganisations": 6},
]


# ----------------------------------------------------------------------- the fixed one


def test_the_fixed_protocol_has_no_loops():
    report = wl.check(overcast.system(buffer=2), traces=False, liveness=False)
    report.expect_holds()
    assert report.states == 160_020


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", share(["connection_errors", "resets", "crashes"], but=["resets"])
)
@pytest.mark.parametrize("bugs", [(), ("ov1",)])
def test_there_are_no_loops_after_a_fault(fault: str, bugs: tuple[str, ...]):
    system = overcast.system(buffer=2, bugs=bugs, **{fault: 1})
    report = wl.check(system, traces=False, max_states=300_000, liveness=False)
    assert report.verdict is not wl.Verdict.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize("parameters", share(FAULTY, every=2))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seeds", share([range(8), range(8, 20)], only=[range(8)]))
def test_every_walk_ends_live(parameters: dict[str, Any], seeds: range, *, bias: bool):
    for seed in seeds:
        walker = Walker(started(overcast.system(**parameters)), seed, bias=bias)
        while walker.step() is not None and walker.steps < 5_000:
            assert not unsafe(walker.world), f"seed {seed}"
        assert not walker.world.enabled(), f"seed {seed}"
        assert not failing(walker.world), f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("seeds", share([range(2), range(2, 5)], only=[range(2)]))
def test_a_tree_without_faults_stays_one_while_it_is_reorganised(
    size: int, seeds: range
):
    for seed in seeds:
        world = started(overcast.system(size=size, reorganisations=30))
        walker, formed = Walker(world, seed), False
        while walker.step() is not None:
            holds = not failing(world, ["one_spanning_tree"])
            assert holds >= formed, f"seed {seed}, step {walker.steps}"
            formed = holds
        assert formed
        assert not failing(world)


# --------------------------------------------------------------------------------- ov1


def lost_unlock(ids: tuple[wl.NodeId, ...]) -> Patterns:
    """N1 and n2 are under n0; n1 has probed, stays, and its Unlock to n2 gets lost."""
    n0, n1, n2 = ids
    joined = [
        call(n0, Overcast.join_overlay),
        call(n1, Overcast.join_overlay),
        wl.events.settle(),
        call(n2, Overcast.join_overlay),
        wl.events.settle(),
    ]
    probed = [
        timer(n0, Overcast.reorganise),
        deliver(n1, ReOrg, n0),
        deliver(n0, Lock, n1),
        deliver(n2, Lock, n1),
        deliver(n1, LockGranted, n0),
        deliver(n1, LockGranted, n2),
        deliver(n0, Probe, n1),
        deliver(n2, Probe, n1),
        deliver(n1, ProbeReply, n0),
        deliver(n1, ProbeReply, n2, choices=[0]),
    ]
    return [*joined, *probed, disconnect(n1, n2)]


def lost_parent(ids: tuple[wl.NodeId, ...]) -> Patterns:
    """After that, n2 loses its parent, and learns of it."""
    n0, _, n2 = ids
    return [*lost_unlock(ids), disconnect(n0, n2), transport_error(n2, n0)]


@wl.sometimes
def all_live(view: wl.View) -> bool:
    return (
        one_spanning_tree.judge(view).holds
        and kids_match.judge(view).holds
        and locks_are_needed.judge(view).holds
    )


@wl.sometimes
def a_tree(view: wl.View) -> bool:
    return one_spanning_tree.judge(view).holds


def can_be(goal: wl.Property, schedule: Patterns, **parameters: Any) -> wl.Verdict:
    """Search whatever can follow a schedule for a state in which `goal` holds."""
    system = overcast.system(**parameters)
    system.prologue, system.properties = tuple(schedule), (goal,)
    report = wl.check(system, traces=False)
    assert report.properties[0].verdict is not wl.Verdict.UNKNOWN
    return report.properties[0].verdict


IDS = overcast.system().ids
FOUND, NEVER = wl.Verdict.HOLDS, wl.Verdict.VIOLATED
BUG: Mapping[str, Any] = {"bugs": ("ov1",), "buffer": 3}


def test_the_lost_unlock_is_the_critical_transition():
    before, after = lost_unlock(IDS)[:-1], lost_unlock(IDS)
    assert can_be(all_live, before, **BUG) is FOUND
    assert can_be(all_live, after, **BUG) is NEVER
    assert can_be(all_live, after, buffer=3) is FOUND


def test_for_the_tree_alone_it_is_the_loss_of_the_parent():
    before, after = lost_parent(IDS)[:-1], lost_parent(IDS)
    assert can_be(a_tree, before, **BUG) is FOUND
    assert can_be(a_tree, after, **BUG) is NEVER
    assert can_be(a_tree, after, buffer=3) is FOUND


def test_another_reorganisation_may_free_the_node_if_it_still_has_its_parent():
    again = {**BUG, "reorganisations": 2}
    assert can_be(all_live, lost_unlock(IDS), **again) is FOUND
    assert can_be(all_live, lost_parent(IDS), **again) is NEVER


def test_a_lock_outlives_the_node_that_holds_it():
    reset = wl.events.reset(IDS[1])
    after = [*lost_unlock(IDS)[:-1], reset]
    assert can_be(all_live, after, **BUG) is NEVER
    assert can_be(all_live, after, buffer=3) is FOUND


@pytest.mark.slow
def test_walks_agree_with_the_search_about_what_is_dead():
    def make() -> wl.System:
        return overcast.system(bugs=("ov1",))

    assert recoveries(make, lost_unlock(IDS)[:-1], steps=100) > 0
    assert recoveries(make, lost_unlock(IDS), steps=100) == 0
    assert recoveries(make, lost_parent(IDS), steps=100) == 0


def test_the_locked_node_without_a_parent_asks_nobody():
    world = started(
        overcast.system(bugs=("ov1",)), [*lost_parent(IDS), wl.events.settle()]
    )
    orphan = world.nodes[2]
    assert (orphan.state, orphan.locked_by) == (State.JOINING, {IDS[1]})
    assert [repr(event) for event in world.enabled()] == ["timer at n2 retry"]


def test_an_unknown_bug_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="no bug 'ov2'; there are ov1"):
        overcast.system(bugs=("ov1", "ov2"))
