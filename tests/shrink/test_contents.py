"""The pass that changes arguments, by itself: what is left is what is needed."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.shrink.arguments import GONE, parts_of, with_parts
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.passes.contents import Contents
from worldline.shrink.target import PropertyTarget
from worldline.worlds.direct import DirectWorld

(A,) = wl.ids("a")


@wl.node
class Box:
    packed: frozenset[str] = frozenset()
    weights: tuple[int, ...] = ()

    @wl.call
    def pack(
        self, ctx: wl.Context, items: frozenset[str], weights: tuple[int, ...]
    ) -> None:
        self.packed = self.packed | items
        self.weights = (*self.weights, *weights)


def shrunk(
    needed: frozenset[str], least: int, calls: list[tuple[Any, Any]], **kept: Any
) -> list[tuple[Any, ...]]:
    """The calls after the pass, of boxes that should lack some things or be light."""

    @wl.safety
    def shut(view: wl.View) -> bool:
        box = view[A]
        return not (box.packed >= needed and sum(box.weights) >= least)

    script = wl.script(A, [wl.invoke(Box.pack, *call) for call in calls])
    system = wl.System({A: Box()}, workload=[script], properties=[shut])
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    runner = CandidateRunner(system, world.snapshot(), PropertyTarget(shut))
    made = [
        (wl.Event(wl.Kind.CALL, A, name="pack", payload=call), ()) for call in calls
    ]
    run = runner.of_schedule(made)
    assert run is not None
    campaign = Campaign(runner, run, Meter(Bounds()))
    Contents(**kept).apply(campaign)
    return [step.known.event.payload for step in campaign.best.steps]


THINGS = st.frozensets(st.sampled_from("pqrst"))


@settings(max_examples=12, deadline=None)
@given(needed=THINGS, others=THINGS, least=st.integers(1, 300), more=st.integers(0, 99))
def test_what_is_left_is_what_is_needed(
    needed: frozenset[str], others: frozenset[str], least: int, more: int
):
    ((items, weights),) = shrunk(needed, least, [(needed | others, (7, least + more))])
    assert items == needed
    assert weights == (least,)


def test_a_member_is_left_out_of_all_calls_at_once():
    first, second = (frozenset("pq"), (4,)), (frozenset("pr"), (5, 4))
    last, others = shrunk(frozenset("qr"), 5, [first, second])
    assert (last[0], others[0]) == (frozenset("q"), frozenset("r"))
    assert sum((*last[1], *others[1])) == 5


def test_calls_that_are_kept_stay_as_they_are():
    call = frozenset("pq"), (4,)
    world = wl.script(A, [wl.invoke(Box.pack, *call)])
    assert shrunk(frozenset("p"), 1, [call], kept=[world.calls[0].key]) == [call]


def test_parts_are_found_and_changed_by_their_place():
    arguments = wl.invoke(Box.pack, frozenset("pq"), (3, 3, 0)).key[1]
    parts = list(parts_of(arguments))
    members = [part.value for part in parts if part.is_member]
    assert members == ["p", "q", 3, 3, 0]
    assert [part.value for part in parts if not part.is_member] == [3, 3]
    second = [part.path for part in parts if part.value == 3 and part.is_member][1]
    assert with_parts(arguments, {second: GONE}) == (frozenset("pq"), (3, 0))
    assert with_parts(arguments, {second: 8}) == (frozenset("pq"), (3, 8, 0))
