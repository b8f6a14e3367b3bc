"""RandTree's bugs of liveness: each has a step after which no tree forms any more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest
from tests.shares import share
from tests.zoo.walking import failing, recoveries, started, unsafe

import worldline as wl
from worldline.worlds.direct import DirectWorld
from worldline.zoo import randtree
from worldline.zoo.randtree.messages import (
    Join,
    JoinReply,
    NewRoot,
    Remove,
)
from worldline.zoo.randtree.protocol import RandTree

call, deliver, timer = wl.events.call, wl.events.deliver, wl.events.timer
join_overlay, recovery = RandTree.join_overlay, RandTree.recovery

Ids = Mapping[str, wl.NodeId]
Patterns = list[wl.events.Pattern]


@dataclass(frozen=True)
class Scenario:
    """How a bug leads from its start to a dead state; the last event is critical."""

    schedule: Callable[[Ids], Patterns]
    buffer: int = 20


def _timer_lost(n: Ids) -> Patterns:
    """N2 alone knows both roots; its recovery timer fires while it joins one."""
    return [call(n["n2"], join_overlay), timer(n["n2"], recovery)]


def _new_root_from_a_stranger(n: Ids) -> Patterns:
    """Q joins R and tells C, which has already joined P instead."""
    return [
        call(n["r"], join_overlay),
        deliver(n["q"], Join, n["r"]),
        deliver(n["r"], JoinReply, n["q"]),
        deliver(n["r"], Join, n["q"]),
        deliver(n["q"], JoinReply, n["r"]),
        deliver(n["c"], JoinReply, n["q"]),
        deliver(n["c"], NewRoot, n["q"]),
    ]


def _removed_while_joining(n: Ids) -> Patterns:
    """C says no to Q, which is busy joining R, and keeps its only place for C."""
    return [
        deliver(n["c"], JoinReply, n["q"]),
        call(n["r"], join_overlay),
        deliver(n["q"], Join, n["r"]),
        deliver(n["q"], Remove, n["c"]),
    ]


def _no_room_to_remove(n: Ids) -> Patterns:
    """C's probe fills its buffer to Q just when it has to say no to Q."""
    return [timer(n["c"], recovery), deliver(n["c"], JoinReply, n["q"])]


def _answered_in_init(n: Ids) -> Patterns:
    """B passes A's request on to C, whose answer finds A just after a reset."""
    return [
        call(n["a"], join_overlay),
        deliver(n["b"], Join, n["a"]),
        deliver(n["c"], Join, n["b"]),
        wl.events.reset(n["a"]),
        deliver(n["a"], JoinReply, n["c"]),
    ]


SCENARIOS = {
    "rt3": Scenario(_timer_lost),
    "rt4": Scenario(_new_root_from_a_stranger),
    "rt10": Scenario(_removed_while_joining),
    "rt12": Scenario(_no_room_to_remove, buffer=1),
    "rt13": Scenario(_answered_in_init),
}

EVENTS = {"rt3": 2, "rt4": 14, "rt10": 11, "rt12": 9, "rt13": 9}
"""By bug: the events from the initial state to the dead one, prologue included."""

WALKS, STEPS, LONG_STEPS = 20, 300, 5_000
"""Walks from each state, and their events; fixed systems need less than 60."""


def deployment(bug: str, *, present: bool) -> tuple[Callable[[], wl.System], Patterns]:
    """Return a scenario's system, with its bug or without, and its schedule."""
    scenario = SCENARIOS[bug]
    bugs = (bug,) if present else ()

    def make() -> wl.System:
        return randtree.system(start=bug, bugs=bugs, buffer=scenario.buffer)

    return make, scenario.schedule({node.name: node for node in make().ids})


@pytest.mark.parametrize("bug", SCENARIOS)
@pytest.mark.parametrize("present", [True, False])
def test_each_schedule_is_legal_with_the_bug_and_without(bug: str, *, present: bool):
    make, schedule = deployment(bug, present=present)
    world = started(make(), schedule)
    lost = ["timers", "recovery_runs"] if present and bug == "rt3" else []
    assert unsafe(world) == lost
    assert failing(world) == ["one_spanning_tree"]


@pytest.mark.parametrize("bug", SCENARIOS)
def test_the_lengths_of_the_schedules_are_as_documented(bug: str):
    make, schedule = deployment(bug, present=True)
    world = DirectWorld(make())
    for event in world.boot_events():
        world.step(event)
    happened = world.prepare((*world.system.prologue, *schedule))
    assert len(happened) == EVENTS[bug]


@pytest.mark.slow
@pytest.mark.parametrize("bug", share(list(SCENARIOS), only=["rt12"]))
def test_the_last_event_is_the_critical_transition(bug: str):
    make, schedule = deployment(bug, present=True)
    assert recoveries(make, schedule[:-1], walks=WALKS, steps=STEPS) > 0
    assert recoveries(make, schedule, walks=WALKS, steps=STEPS) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("bug", SCENARIOS)
def test_long_walks_do_not_recover_either(bug: str):
    make, schedule = deployment(bug, present=True)
    assert recoveries(make, schedule, walks=WALKS, steps=LONG_STEPS) == 0


@pytest.mark.slow
@pytest.mark.parametrize("bug", SCENARIOS)
def test_without_the_bug_every_walk_recovers(bug: str):
    make, schedule = deployment(bug, present=False)
    assert recoveries(make, schedule, walks=WALKS, steps=STEPS) == WALKS


@pytest.mark.slow
def test_rt2_is_dead_from_the_beginning():
    assert recoveries(lambda: randtree.system(bugs=("rt2",)), [], steps=STEPS) == 0
    assert recoveries(randtree.system, [], steps=STEPS) == WALKS
