"""Races turned round: what no removal alone can leave out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.model.kinds import Kind
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.chunks import each_step
from worldline.shrink.matching import LADDER, Matching
from worldline.shrink.passes.backtracks import Backtracks
from worldline.shrink.passes.removals import PairRemoval, Removal
from worldline.shrink.target import PropertyTarget
from worldline.worlds.direct import DirectWorld

DESK, ONE, TWO, THREE = wl.ids("desk", "one", "two", "three")


@wl.message
class Paper:
    text: str


@wl.node
class Office:
    """Stamps a form that comes after the name; with the rubber, in any order."""

    named: bool = False
    has_form: bool = False
    any_order: bool = False
    stamped: bool = False

    @wl.call
    def give(self, ctx: wl.Context, text: str) -> None:
        ctx.send(DESK, Paper(text))

    @wl.on(Paper)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Paper) -> None:
        if msg.text == "rubber":
            self.any_order = True
        elif msg.text == "form":
            self.has_form = True
            self.stamped = self.named
        else:
            self.named = True
            self.stamped = self.has_form and self.any_order


@wl.safety
def nothing_is_stamped(view: wl.View) -> bool:
    return not view[DESK].stamped


def give(node: wl.NodeId, text: str) -> wl.Event:
    return wl.Event(Kind.CALL, node, name="give", payload=(text,))


def take(node: wl.NodeId, text: str) -> wl.Event:
    return wl.Event(Kind.DELIVER, DESK, name="Paper", peer=node, payload=Paper(text))


def campaign(events: Sequence[wl.Event]) -> Campaign:
    system = wl.System(
        dict.fromkeys((DESK, ONE, TWO, THREE), Office()),
        network=wl.datagrams(loss=False, duplication=False, reordering=False),
        open_workload=True,
        properties=[nothing_is_stamped],
        name="office",
    )
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    target = PropertyTarget(nothing_is_stamped)
    runner = CandidateRunner(system, world.snapshot(), target)
    run = runner.of_schedule([(event, ()) for event in events])
    assert run is not None
    return Campaign(runner, run, Meter(Bounds()))


RUN = [
    give(ONE, "form"),
    give(TWO, "name"),
    give(THREE, "rubber"),
    take(THREE, "rubber"),
    take(ONE, "form"),
    take(TWO, "name"),
]


def texts(shrunk: Campaign) -> list[str]:
    payloads = [step.known.event.payload for step in shrunk.best.steps]
    return [one.text for one in payloads if isinstance(one, Paper)]


def test_a_race_is_turned_round_where_that_makes_an_event_needless():
    shrunk = campaign(RUN)
    Backtracks(10_000).apply(shrunk)
    assert texts(shrunk) == ["name", "form"]
    assert shrunk.best.size.deliveries == 4


@pytest.mark.parametrize("matching", LADDER)
def test_removals_alone_do_not_find_that(matching: Matching):
    shrunk = campaign(RUN)
    Removal("all", each_step, matching).apply(shrunk)
    PairRemoval(matching).apply(shrunk)
    assert shrunk.best.size.deliveries == len(RUN)


def test_it_ends_when_as_many_events_as_it_may_have_brought_nothing():
    shrunk = campaign(RUN)
    before = shrunk.runner.executed
    Backtracks(1).apply(shrunk)
    assert shrunk.best.size.deliveries == len(RUN)
    assert shrunk.runner.executed - before <= 2 * len(RUN)
