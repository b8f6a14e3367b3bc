"""Remembered verdicts: for exactly what was asked, also where an answer fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import worldline as wl
from worldline.engine.tables import Row
from worldline.model.errors import ModelError
from worldline.model.observers import Observer
from worldline.model.properties import Property, safety
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld


@wl.message
class Ping:
    hops: int


@wl.node
class Ponger:
    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(ctx.me, Ping(ctx.choose(range(5))))

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        pass


def low(message: Ping) -> bool:
    assert message.hops < 3
    return message.hops == 2


@safety
def hops_are_low(view: wl.View) -> bool:
    return view.any_message(low, Ping)


def decided(value: int) -> bool:
    assert value < 3
    return value == 2


TOTAL = Observer(
    "total",
    0,
    lambda step: step.sends[0].message.hops if step.sends else None,
    lambda total, hops: total + hops,
    decided,
)


@safety
def total_is_low(view: wl.View) -> bool:
    return TOTAL.holds(view)


def rows(observer: Observer = TOTAL) -> tuple[TabulatedWorld, dict[int, Row]]:
    """Return the rows in which a message of so many hops is under way."""
    (a,) = wl.ids("a")
    system = wl.System(
        {a: Ponger()},
        workload=[wl.whenever(Ponger.begin)],
        observers=[observer],
    )
    world, found = TabulatedWorld(system), {}
    for hops in range(5):
        direct = DirectWorld(system)
        for event in direct.boot_events():
            direct.step(event)
        (call,) = direct.enabled()
        direct.step(call, (hops,))
        found[hops] = world.encode(direct.snapshot())
    return world, found


@pytest.mark.parametrize("known", [hops_are_low, total_is_low])
@pytest.mark.parametrize(
    "order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (3, 2, 4, 2, 0, 3)]
)
def test_an_answer_that_fails_makes_that_state_false_and_no_other(
    known: Property, order: tuple[int, ...]
) -> None:
    world, found = rows()
    decision = world.decision(known)
    for _ in range(2):
        assert {hops: decision(found[hops]) for hops in order} == {
            hops: hops == 2 for hops in order
        }


HELD = {0: False, 1: False, 2: True}
FOUND = Observer("total", 0, TOTAL.project, TOTAL.fold, lambda value: HELD[value])


@pytest.mark.parametrize(
    "asks",
    [
        FOUND.holds,
        lambda view: view.any_message(lambda message: HELD[message.hops], Ping),
    ],
    ids=["history", "message"],
)
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (3, 2, 4, 2, 0, 3)])
@pytest.mark.parametrize("fallback", [True, False])
def test_a_property_goes_on_where_it_catches_what_an_answer_raises(
    asks: Callable[[wl.View], bool], order: tuple[int, ...], fallback: bool
) -> None:
    def is_caught(view: wl.View) -> bool:
        try:
            return asks(view)
        except KeyError:
            return fallback

    world, found = rows(FOUND)
    decision = world.decision(is_caught)
    for _ in range(2):
        assert {hops: decision(found[hops]) for hops in order} == {
            hops: HELD.get(hops, fallback) for hops in order
        }


def test_an_observer_decides_with_a_bool() -> None:
    odd = Observer("odd", 0, TOTAL.project, TOTAL.fold, lambda value: value)
    world, found = rows(odd)
    decision = world.decision(odd.holds)
    with pytest.raises(ModelError, match="decide of observer 'odd' returned 1"):
        decision(found[1])


def test_an_observer_that_decides_nothing_holds() -> None:
    silent = Observer("silent", 0, TOTAL.project, TOTAL.fold)
    world, found = rows(silent)
    assert all(map(world.decision(silent.holds), found.values()))
