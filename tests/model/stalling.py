"""Two kinds of faults that Worldline does not have, and systems in which they happen.

Registers them when it is imported, so only a process of its own may do that.
"""

from __future__ import annotations

import worldline as wl
from worldline.model.kinds import Kind, register_kind
from worldline.model.network.link import Link
from worldline.model.network.streams import register_effect

A, B = wl.ids("a", "b")

STALL = Kind(
    value="stall",
    origin=wl.Origin.FAULT,
    weight="fault",
    budgets=("stalls",),
    is_about_connection=True,
    flushes=True,
    mark="~",
    meaning="stalled",
    phrase="the connection to {peer}",
)
"""What is under way on a connection is lost; neither end learns of it."""

EXPIRE = Kind(
    value="expire",
    origin=wl.Origin.FAULT,
    weight="fault",
    budgets=("expiries",),
    arrives=True,
    is_about_message=True,
    takes_message=True,
    mark="e",
    meaning="expired",
)
"""A datagram is lost: like a drop, with a budget of its own."""


def clear(link: Link) -> None:
    link.queue.clear()


register_kind(STALL)
register_effect(STALL, here=clear, there=clear)
register_kind(EXPIRE)


@wl.message
class Item:
    number: int


@wl.node
class Peer:
    sent: int = 0
    got: tuple[int, ...] = ()

    @wl.call
    def send(self, ctx: wl.Context) -> None:
        self.sent += 1
        ctx.send(B, Item(self.sent))

    @wl.on(Item)
    def item(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
        self.got += (msg.number,)


@wl.safety
def no_gaps(view: wl.View) -> bool:
    got = view[B].got
    return bool(got == tuple(range(1, len(got) + 1)))


def streams(stalls: int = 1, items: int = 3) -> wl.System:
    """`a` sends to `b` over a connection that may stall."""
    return wl.System(
        {A: Peer(), B: Peer()},
        network=wl.streams(),
        workload=[wl.script(A, [Peer.send] * items)],
        faults=wl.Faults(others={"stalls": stalls}),
        properties=[no_gaps],
        done=lambda view: True,
    )


def datagrams(expiries: int = 1) -> wl.System:
    """`a` sends to `b` in order, but what is under way may expire."""
    return wl.System(
        {A: Peer(), B: Peer()},
        network=wl.datagrams(reordering=False),
        workload=[wl.script(A, [Peer.send] * 2)],
        faults=wl.Faults(others={"expiries": expiries}),
        properties=[no_gaps],
        done=lambda view: True,
    )
