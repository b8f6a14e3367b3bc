"""The state at any step, whatever was asked before, and what it costs."""

from __future__ import annotations

import random

import pytest
from tests.debug.opened import granted, opened
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_trace

import worldline as wl
from worldline.debug.timeline import CHECKPOINTS, SHORTEST, Timeline, stride_of
from worldline.runs.record import Ending, record
from worldline.runs.schedule import schedule_of
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import Snapshot


def states(trace: Trace, system: wl.System) -> list[Snapshot]:
    """The states of a run, from before any step; a failed step leads to none."""
    world = DirectWorld(system)
    found = [world.snapshot()]
    boot, prologue, run = schedule_of(trace, system)
    for part, charge in ((boot, True), (prologue, False), (run, True)):
        for event, choices in part:
            world.step(event, choices, charge=charge)
            found.append(found[-1] if world.failure else world.snapshot())
    return found


@pytest.mark.parametrize("variant", share(list(VARIANTS), every=4))
def test_states_are_those_of_the_run_in_whatever_order_they_are_asked_for(
    variant: str,
):
    system = VARIANTS[variant]()
    trace = random_trace(system, 3, 60)
    expected = states(trace, system)
    timeline = Timeline(trace, system)
    assert timeline.divergence is None
    assert timeline.last - timeline.first == len(trace.steps)
    rng = random.Random(1)
    for _ in range(60):
        index = rng.randrange(len(expected))
        world = timeline.at(timeline.first + index)
        assert world.snapshot() == expected[index]
        assert world.failure is None


@wl.node
class Tally:
    """Sends what an ignored field says, which it should not."""

    sent: int = 0
    ticks: int = wl.ignored(default=0)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Tally.tick)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        ctx.set_timer(Tally.tick)
        self.ticks += 1
        self.sent = self.ticks


def tally() -> wl.System:
    return wl.System({node: Tally() for node in wl.ids("a")}, name="tally")


def ticking(steps: int) -> Trace:
    """Record a run of `tally`: nothing but ticks."""
    system = tally()
    [node] = system.ids
    boot = [(wl.Event(wl.Kind.START, node), ())]
    tick = wl.Event(wl.Kind.TIMER, node, name="tick")
    ending = Ending(None, None, wl.Verdict.UNKNOWN)
    run = [(tick, ())] * steps
    return record(
        DirectWorld(system), boot, [], run, ending=ending, engine="test", seed=None
    )


def test_ignored_fields_go_on_from_a_checkpoint_as_they_were():
    timeline = Timeline(ticking(100), tally())
    for step in (90, 17, 16, 15, 99, 100, 33):
        [node] = timeline.at(step).nodes
        assert (node.sent, node.ticks) == (step, step)


def check_costs(length: int) -> None:
    timeline = Timeline(ticking(length), tally())
    assert timeline.stride == max(SHORTEST, -(-length // CHECKPOINTS))
    assert timeline.replayed == 0
    for step in (length - 1, 10, length // 2, length // 2 - 1, 1, length, 11):
        before = timeline.replayed
        assert timeline.at(step).nodes[0].sent == step
        assert timeline.replayed - before <= timeline.stride
    assert len(timeline._checkpoints) <= CHECKPOINTS + 1


@pytest.mark.slow
def test_a_jump_costs_at_most_a_stride():
    check_costs(6_000)


@pytest.mark.nightly
def test_a_jump_in_a_hundred_thousand_steps_costs_at_most_a_stride():
    assert stride_of(100_000) == 391
    check_costs(100_000)


def test_a_step_forward_costs_one_and_a_step_to_where_one_was_nothing():
    timeline = Timeline(ticking(100), tally())
    timeline.at(10)
    before = timeline.replayed
    timeline.at(11)
    assert timeline.replayed == before + 1
    timeline.at(90)
    before = timeline.replayed
    timeline.at(10)
    assert timeline.replayed == before


def test_checkpoints_share_what_has_not_changed():
    nodes = wl.ids("a", "b")
    system = wl.System({node: Tally() for node in nodes}, name="two")
    tick = wl.Event(wl.Kind.TIMER, nodes[0], name="tick")
    boot = [(wl.Event(wl.Kind.START, node), ()) for node in nodes]
    ending = Ending(None, None, wl.Verdict.UNKNOWN)
    run = [(tick, ())] * 100
    trace = record(
        DirectWorld(system), boot, [], run, ending=ending, engine="test", seed=None
    )
    kept = list(Timeline(trace, system)._checkpoints.values())
    column = system.layout.local(1)
    assert len(kept) == 7
    assert len({id(one.snapshot[column]) for one in kept[1:]}) == 1
    assert len({one.snapshot[system.layout.local(0)] for one in kept}) == 7


def test_a_handler_that_failed_leads_to_no_state():
    timeline = granted().timeline
    assert timeline.is_void(timeline.last)
    world = timeline.at(timeline.last)
    assert world.failure is None
    assert world.snapshot() == timeline.at(timeline.last - 1).snapshot()


def test_a_run_that_goes_otherwise_is_known_up_to_there():
    trace = ticking(50)
    other = wl.System({node: Tally(ticks=1) for node in wl.ids("a")}, name="tally")
    timeline = Timeline(trace, other)
    assert timeline.divergence is not None
    assert (timeline.divergence.step, timeline.last) == (1, 0)
    assert timeline.divergence.recorded == "sent: 0 → 1"
    assert timeline.divergence.happened == "sent: 0 → 2"
    assert [timeline.holds(step) for step in (-2, -1, 0, 1)] == [
        *(False, True, True, False)
    ]
    assert timeline.at(0).nodes[0].sent == 0


def test_how_far_a_long_trace_has_been_replayed_is_told():
    told: list[int] = []
    Timeline(ticking(40), tally(), told.append)
    assert told == [0, 16, 32]


def test_a_trace_without_steps_has_one_state():
    system = wl.System({node: Tally() for node in wl.ids("a")}, boot="events")
    trace = random_trace(system, 0, 0)
    session = opened(trace, system)
    assert (session.timeline.first, session.timeline.last) == (0, 0)
    assert session.evaluate("view.is_up(a)", 0).value is False


def test_faults_of_a_prologue_are_replayed_free_of_charge():
    def make() -> wl.System:
        system = tally()
        system.prologue = (wl.events.reset(system.ids[0]),)
        return system

    timeline = Timeline(random_trace(make(), 0, 40), make())
    assert timeline.divergence is None
    assert timeline.at(40).nodes[0].sent == 40
    assert timeline.at(0).nodes[0].sent == 0
