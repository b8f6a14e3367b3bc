"""Drawn arguments and other choices of a run that is made short: the first that do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.model.drawn import taken
from worldline.model.kinds import Kind
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner
from worldline.shrink.passes.options import SimplerOptions
from worldline.shrink.target import PropertyTarget
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")
MANY = wl.integers(-20, 300)


@wl.node
class Till:
    """Takes amounts; it remembers them all."""

    amounts: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    picked: int = 0

    @wl.call
    def put(self, ctx: wl.Context, amount: int, word: str) -> None:
        self.amounts = (*self.amounts, amount)
        self.words = (*self.words, word)

    @wl.call
    def pick(self, ctx: wl.Context) -> None:
        self.picked = ctx.choose(range(10))


def lightened(
    violated: Callable[[Any], bool],
    steps: Sequence[tuple[str, wl.NodeId, tuple[int, ...]]],
    amounts: Any = MANY,
) -> list[tuple[Any, ...]]:
    """What is drawn and chosen in a run after the pass, in which a till is violated."""

    @wl.safety
    def in_order(view: wl.View) -> bool:
        return not any(violated(view[node]) for node in (A, B))

    put = wl.invoke(Till.put, amounts, wl.one_of("x", "y", "z"))
    system = wl.System(
        {A: Till(), B: Till()},
        workload=[wl.whenever(put), wl.whenever(Till.pick)],
        properties=[in_order],
    )
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    offered = {(e.name, e.node): e for e in world.enabled() if e.kind is Kind.CALL}
    runner = CandidateRunner(system, world.snapshot(), PropertyTarget(in_order))
    run = runner.of_schedule(
        [(offered[n, node], options) for n, node, options in steps]
    )
    assert run is not None
    campaign = Campaign(runner, run, Meter(Bounds()))
    SimplerOptions().apply(campaign)
    return [
        taken(step.known.event.payload, step.choices) or step.choices
        for step in campaign.best.steps
    ]


def test_what_does_not_matter_is_the_number_0_and_the_first_option():
    assert lightened(lambda till: bool(till.words), [("put", A, (300, 2))]) == [
        (0, "x")
    ]


def test_numbers_come_as_near_to_0_as_they_can_from_both_sides():
    run = [("put", A, (320, 0))]
    assert lightened(lambda till: max(till.amounts, default=0) > 237, run) == [
        (238, "x")
    ]
    run = [("put", A, (1, 0))]
    assert lightened(lambda till: min(till.amounts, default=0) < -7, run) == [(-8, "x")]


def test_where_0_is_none_of_them_the_number_next_to_it_is_taken():
    run = [("put", A, (40, 0))]
    drawn = lightened(lambda till: bool(till.words), run, wl.integers(10, 60))
    assert drawn == [(10, "x")]


def test_options_that_have_to_be_alike_are_changed_together():
    run = [("put", A, (300, 1)), ("put", A, (300, 2))]
    twice = lightened(
        lambda till: len(till.amounts) == 2 and len(set(till.amounts)) == 1, run
    )
    assert twice == [(0, "x"), (0, "x")]


def test_what_handlers_choose_is_the_first_that_does():
    assert lightened(lambda till: till.picked > 4, [("pick", B, (9,))]) == [(5,)]


@settings(max_examples=40, deadline=None)
@given(least=st.integers(1, 300), begun=st.integers(0, 280))
def test_a_limit_between_is_met_exactly(least: int, begun: int):
    drawn = max(least, begun)
    run = [("put", B, (min(drawn, 300) + 20, 1))]
    assert lightened(lambda till: max(till.amounts, default=0) >= least, run) == [
        (least, "x")
    ]


@pytest.mark.parametrize("word", ["y", "z"])
def test_an_option_that_is_needed_stays(word: str):
    run = [("put", A, (20, "xyz".index(word))), ("put", B, (20, 0))]
    assert lightened(lambda till: word in till.words, run) == [(0, word)]
