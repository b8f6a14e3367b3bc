"""What is said of growth: only what was observed, and never of what has stopped."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.shares import share

import worldline as wl

A, B = wl.ids("a", "b")
Engine = Literal["native", "python"]
ENGINES: tuple[Engine, ...] = ("native", "python")


@wl.message
class Item:
    pass


@wl.node
class Counter:
    """Counts to a limit, every `pace` turns; then it turns on until `turns`."""

    limit: int
    turns: int
    pace: int = 1
    posts: bool = False
    count: int = 0
    bits: tuple[int, ...] = ()

    @wl.call(when=lambda self: self.turn_number() < self.turns)
    def go_on(self, ctx: wl.Context) -> None:
        number = self.turn_number() + 1
        # As bits, so that no size in the state grows with the turns.
        self.bits = tuple(number >> bit & 1 for bit in range(8))
        if self.count < self.limit and number % self.pace == 0:
            self.count += 1
            if self.posts:
                ctx.send(B, Item())

    def turn_number(self) -> int:
        return sum(bit << place for place, bit in enumerate(self.bits))


@wl.node
class Box:
    """Is sent items, and takes none."""

    @wl.on(Item, when=lambda self, src, msg: False)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None: ...


def counting(
    limit: int, turns: int = 60, *, pace: int = 1, posts: bool = False
) -> wl.System:
    nodes = {A: Counter(limit, turns, pace, posts), B: Box()}
    calls = [wl.whenever(Counter.go_on)]
    return wl.System(nodes, workload=calls, name="counting", unhandled="wait")


def said(
    system: wl.System,
    engine: Engine,
    *,
    max_depth: int | None = None,
    max_states: int | None = None,
) -> list[str]:
    report = wl.check(
        system,
        engine=engine,
        traces=False,
        max_depth=max_depth,
        max_states=max_states,
    )
    return [note for note in report.notes if "rose up" in note]


@pytest.mark.parametrize("engine", ENGINES)
def test_growth_up_to_the_end_is_said_as_it_was_observed(engine: Engine) -> None:
    (note,) = said(counting(10**6, 200), engine, max_depth=30)
    assert note == (
        "Counter.count rose up to the end of the search (9 → 19 → 29 in its thirds): "
        "if nothing bounds it, bound it"
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("pace", share([1, 3], only=[3]))
def test_nothing_is_said_of_what_has_stopped_growing(engine: Engine, pace: int) -> None:
    """The count stops at its tenth step; the space goes on to depth 61."""
    system = counting(10, pace=pace)
    stopped = 1 + 10 * pace
    for depth in range(stopped + pace, 61, 4):
        assert said(system, engine, max_depth=depth) == [], depth
        assert said(system, engine, max_states=depth) == [], depth
    assert said(system, engine, max_depth=stopped)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mailbox_that_no_longer_fills_is_not_named(engine: Engine) -> None:
    system = counting(12, posts=True)
    _, mailbox = said(system, engine, max_depth=12)
    assert mailbox.startswith("the messages under way to a node rose up to the end")
    for depth in (14, 15, 20, 30, 60):
        assert said(system, engine, max_depth=depth) == []


def test_a_field_that_is_filled_at_once_is_not_named() -> None:
    for limit in range(0, 5, 2):
        for depth in range(2, 30, 6):
            assert said(counting(limit), "python", max_depth=depth) == []


def test_depth_first_search_observes_no_growth() -> None:
    report = wl.check(counting(10**6, 200), depth_first=True, max_depth=30)
    assert not any("rose up" in note for note in report.notes)
