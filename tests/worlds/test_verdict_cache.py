"""Remembered verdicts: for exactly what was asked, also where an answer fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import worldline as wl
from worldline.engine.tables import Row
from worldline.model.errors import ModelError, PropertyError
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


def one_in(message: Ping) -> bool:
    return 6 // message.hops == 3


@safety
def goes_on_if_a_message_fails(view: wl.View) -> bool:
    try:
        return view.any_message(one_in, Ping)
    except ZeroDivisionError:
        return True


@safety
def goes_on_if_an_element_fails(view: wl.View) -> bool:
    try:
        return view.for_each_node(lambda view, node: view.any_message(one_in, dst=node))
    except ZeroDivisionError:
        return True


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


@pytest.mark.parametrize("order", [(0, 1, 2, 0), (1, 0, 2, 1), (2, 1, 0, 2)])
def test_an_answer_that_fails_is_one_though_the_property_catches_it(
    order: tuple[int, ...],
) -> None:
    world, found = rows()
    decision = world.decision(goes_on_if_a_message_fails)
    for hops in order:
        assert decision(found[hops]) == (hops != 1)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_element_that_fails_is_refused_though_the_property_catches_it(
    order: tuple[int, ...],
) -> None:
    world, found = rows()
    decision = world.decision(goes_on_if_an_element_fails)
    for hops in order:
        if hops:
            assert decision(found[hops]) is False
        else:
            with pytest.raises(PropertyError, match="raised ZeroDivisionError"):
                decision(found[hops])


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
