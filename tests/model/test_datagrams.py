"""What becomes of datagrams that arrive at a node that is down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.model.test_faults import DELIVER, A, B, C, Item, Shop, shop
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.kinds import Origin
from worldline.show.diagram import diagram
from worldline.trace.causality import causal_past
from worldline.trace.format import read

REFUSE = "refuse at b Item(number=1) from a"
ONCE = wl.Faults(crashes=1, restarts=1)
EVERY_DATAGRAM = pytest.mark.parametrize(
    "network", [wl.datagrams(loss=False), wl.datagrams(reordering=False)]
)


@EVERY_DATAGRAM
def test_a_datagram_that_arrives_at_a_crashed_node_is_lost(network: Any):
    driven = shop(faults=ONCE, network=network)
    driven.do(wl.events.crash(B))
    assert driven.offers() == [REFUSE, "restart at b"]
    refused = driven.world.enabled()[0]
    assert refused.origin is Origin.INTERNAL
    driven.do(wl.events.refuse(B, A))
    assert driven.messages(B) == []
    driven.do(wl.events.restart(B))
    assert driven.offers() == []


def test_a_datagram_that_comes_late_finds_the_node_started_again():
    driven = shop(faults=ONCE)
    driven.do(wl.events.crash(B))
    driven.do(wl.events.restart(B))
    assert driven.offers() == [DELIVER]


def test_to_be_lost_at_a_crashed_node_is_no_drop_and_costs_nothing():
    driven = shop(faults=wl.Faults(crashes=1, restarts=1, drops=1), orders=(1, 2))
    driven.do(wl.events.crash(B))
    assert "drop at b Item(number=1) from a" in driven.offers()
    driven.do(wl.events.refuse(B, A))
    assert driven.can(wl.events.drop(B, Item))


def test_of_a_queue_for_a_crashed_node_only_the_head_arrives():
    driven = shop(orders=(1, 2), faults=ONCE, network=wl.datagrams(reordering=False))
    driven.do(wl.events.crash(B))
    assert driven.offers() == [REFUSE, "restart at b"]
    driven.do(wl.events.refuse(B, A))
    driven.do(wl.events.restart(B))
    assert driven.offers() == ["deliver at b Item(number=2) from a"]


def test_a_partition_holds_what_would_be_lost_at_a_crashed_node():
    cut = wl.Faults(crashes=1, restarts=1, partitions=1, cuts=((A,),))
    driven = shop(faults=cut)
    driven.do(wl.events.crash(B))
    driven.world.step(wl.Event(wl.Kind.PARTITION, payload=0))
    assert driven.offers() == ["restart at b", "heal"]
    driven.world.step(wl.Event(wl.Kind.HEAL))
    assert driven.offers() == [REFUSE, "restart at b"]


def test_a_message_set_keeps_what_was_sent_for_a_crashed_node():
    driven = shop(faults=ONCE, network=wl.message_set())
    driven.do(wl.events.crash(B))
    assert driven.offers() == ["restart at b"]


def test_what_is_sent_to_a_node_that_is_gone_stays():
    driven = shop(nodes=(A, B, C), faults=wl.Faults(crashes=2, restarts=1))
    driven.do(wl.events.crash(B))
    driven.do(wl.events.crash(C))
    assert not driven.world.view.is_gone(B)
    driven.do(wl.events.restart(C))
    assert driven.world.view.is_gone(B)
    assert not driven.world.view.is_gone(C)
    assert driven.offers() == ["deliver at c Item(number=1) from a"]
    assert driven.messages(B) == [Item(1)]


def test_a_node_that_has_not_started_loses_nothing():
    nodes: Any = {A: Shop(), B: Shop()}
    driven = Driven(
        wl.System(
            nodes,
            workload=[wl.script(A, [wl.invoke(Shop.order, 1)])],
            boot="events",
            faults=ONCE,
        )
    )
    driven.world.step(wl.Event(wl.Kind.START, A))
    driven.do(wl.events.call(A, Shop.order))
    assert not any(offer.startswith("refuse") for offer in driven.offers())


def test_a_prologue_may_lose_what_arrives_at_a_crashed_node():
    system = wl.System(
        {A: Shop(), B: Shop()},
        workload=[wl.script(A, [wl.invoke(Shop.order, 1)])],
        prologue=[
            wl.events.call(A, Shop.order),
            wl.events.crash(B),
            wl.events.refuse(B, A),
        ],
    )
    report = wl.check(system, traces=False)
    assert (report.states, report.generated) == (1, 1)


# ------------------------------------------------------------------ whole spaces


@wl.node
class Box:
    """Remembers, even through a crash, that something came."""

    got: bool = wl.durable(default=False)

    @wl.call
    def post(self, ctx: wl.Context) -> None:
        ctx.send(B, Item(1))

    @wl.on(Item)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
        self.got = True


def boxes(**faults: Any) -> wl.System:
    """One message from a to b, which may crash and start again."""
    return wl.System(
        {A: Box(), B: Box()},
        workload=[wl.script(A, [Box.post])],
        network=wl.datagrams(loss=False),
        faults=wl.Faults(nodes=(B,), **faults),
        name="boxes",
    )


ENGINES = pytest.mark.parametrize("engine", ["python", "auto"])


@ENGINES
def test_one_message_one_crash_and_one_restart_make_eleven_states(engine: Any):
    """Not sent, under way, taken: each with b up, down, and up again. Lost: the last two.

    Steps from these: 2, 2, 1 and 2, 2, 1 and 1, 1, 0 and 1, 0.
    """
    report = wl.check(
        boxes(crashes=1, restarts=1), engine=engine, deadlock=True, traces=False
    )
    assert (report.states, report.generated, report.depth) == (11, 1 + 13, 5)
    report.expect_holds()


@ENGINES
def test_what_is_under_way_to_a_node_that_is_gone_is_no_deadlock(engine: Any):
    """Not sent, under way, taken: each with b up and down."""
    report = wl.check(boxes(crashes=1), engine=engine, deadlock=True, traces=False)
    assert (report.states, report.generated, report.depth) == (6, 1 + 6, 4)
    report.expect_holds()


@ENGINES
def test_what_is_under_way_to_a_node_that_waits_is_a_deadlock(engine: Any):
    """With a restart left nothing is stuck, as the message can still be lost."""
    system = wl.System(
        {A: Shop(), B: Deaf()},
        workload=[wl.script(A, [wl.invoke(Shop.order, 1)])],
        faults=wl.Faults(crashes=1, restarts=1, nodes=(B,)),
        unhandled="wait",
    )
    report = wl.check(system, engine=engine, deadlock=True, traces=False)
    found = report.expect_violated("deadlock")
    assert found.steps == 1


@wl.node
class Deaf:
    """Takes no item, ever."""

    @wl.on(Item, when=lambda self, src, msg: False)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None: ...


@wl.safety
def what_is_sent_is_taken(view: wl.View) -> bool:
    """False where b is up, and what was sent is gone."""
    waits = not view.is_finished(A) or bool(view.messages())
    return waits or not view.is_up(B) or bool(view[B].got)


@ENGINES
def test_a_run_in_which_a_datagram_is_lost_at_a_crashed_node_is_a_trace(
    engine: Any, tmp_path: Path
):
    system = boxes(crashes=1, restarts=1)
    system.properties = (what_is_sent_is_taken,)
    found = wl.check(system, engine=engine, out=tmp_path / "run.wl")
    assert found.expect_violated("what_is_sent_is_taken").steps == 4
    trace = read(tmp_path / "run.wl")
    *_, call, lost, restart = trace.steps
    assert (call.kind, lost.kind, restart.kind) == ("call", "refuse", "restart")
    assert (lost.sent_in, lost.peer, lost.changes) == (call.step, "a", {})
    assert call.step in causal_past(trace, lost.step)
    assert wl.replay(tmp_path / "run.wl", system=system).reproduced
    shown = "\n".join(diagram(trace))
    assert "refuse Item(number=1) from a" in shown
    assert "lost or refused" in shown


@wl.liveness
def nothing_is_under_way(view: wl.View) -> bool:
    return not view.messages()


@ENGINES
@pytest.mark.parametrize("restarts", [0, 1])
def test_what_can_be_lost_at_a_crashed_node_will_be(restarts: int, engine: Any):
    """It is no fault, so it is owed."""
    system = boxes(crashes=1, restarts=restarts)
    system.properties = (nothing_is_under_way,)
    report = wl.check(system, engine=engine, traces=False)
    report.expect_holds()
