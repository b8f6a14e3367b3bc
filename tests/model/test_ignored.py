"""A message of a class that a node ignores never keeps another from being taken."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.semantics.execute import Result

A, B = wl.ids("a", "b")


@wl.message
class Gossip:
    """Nobody wants to know."""


@wl.message
class News:
    """Is taken by whoever has not heard it."""


@wl.ignores(Gossip)
@wl.node
class Neighbour:
    heard: bool = False

    @wl.call
    def tell(self, ctx: wl.Context) -> None:
        ctx.send(B, Gossip())
        ctx.send(B, News())

    @wl.on(News, when=lambda self, src, msg: not self.heard)
    def news(self, ctx: wl.Context, src: wl.NodeId, msg: News) -> None:
        self.heard = True


@wl.liveness
def b_hears_the_news(view: wl.View) -> bool:
    return bool(view[B].heard)


NETWORKS: dict[str, Any] = {
    "streams": wl.streams(),
    "fifo": wl.datagrams(reordering=False),
    "datagrams": wl.datagrams(),
    "message set": wl.message_set(),
}


def neighbours(network: str, *calls: Any, **options: Any) -> wl.System:
    return wl.System(
        {A: Neighbour(), B: Neighbour()},
        workload=[wl.script(A, calls or [Neighbour.tell])],
        network=NETWORKS[network],
        properties=[b_hears_the_news],
        name="neighbours",
        **options,
    )


@pytest.mark.parametrize("unhandled", ["drop", "wait", "error"])
@pytest.mark.parametrize("network", ["streams", "fifo"])
def test_an_ignored_message_is_consumed_and_what_is_behind_it_arrives(
    network: str, unhandled: Any
):
    driven = Driven(neighbours(network, unhandled=unhandled))
    driven.do(wl.events.call(A, Neighbour.tell))
    outcome = driven.do(wl.events.deliver(B, Gossip))
    assert outcome.result is Result.UNHANDLED
    driven.do(wl.events.deliver(B, News))
    assert driven[B].heard
    assert driven.offers() == []


def test_in_a_message_set_the_arrival_of_an_ignored_message_is_no_event():
    driven = Driven(neighbours("message set"))
    driven.do(wl.events.call(A, Neighbour.tell))
    assert driven.offers() == ["deliver at b News() from a"]


@pytest.mark.parametrize("engine", ["python", "auto"])
@pytest.mark.parametrize("unhandled", ["drop", "wait", "error"])
@pytest.mark.parametrize(
    ("network", "states"),
    [
        ("streams", 4),  # told nothing; both under way; the news is; nothing is
        ("fifo", 4),
        ("datagrams", 5),  # also: the gossip is under way alone
        ("message set", 3),  # told nothing; not heard; heard
    ],
)
def test_whole_spaces_have_ignored_messages_consumed(
    network: str, states: int, unhandled: Any, engine: Any
):
    if network == "message set":
        unhandled = None
    system = neighbours(network, unhandled=unhandled)
    report = wl.check(system, engine=engine, traces=False)
    report.expect_holds()
    assert report.states == states
    counts = explore(Oracle(neighbours(network, unhandled=unhandled)))
    assert (report.states, report.generated, report.depth) == (
        counts.distinct,
        counts.generated,
        counts.depth,
    )


@pytest.mark.parametrize("engine", ["python", "auto"])
def test_a_message_whose_guard_is_false_still_waits(engine: Any):
    """The second news blocks the gossip behind it, for ever."""
    system = neighbours("fifo", Neighbour.tell, Neighbour.tell, unhandled="wait")
    report = wl.check(system, engine=engine, deadlock=True, traces=False)
    report.expect_violated("deadlock")


def test_a_guard_that_is_false_is_still_a_violation_where_that_is_an_error():
    system = neighbours("fifo", Neighbour.tell, Neighbour.tell, unhandled="error")
    report = wl.check(system, traces=False)
    assert "News" in report.expect_violated("unhandled").explanation


def test_an_ignored_message_is_not_among_those_that_were_never_handled():
    report = wl.check(neighbours("streams"), traces=False)
    assert not any("never handled" in note for note in report.notes), report.notes
