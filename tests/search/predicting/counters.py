"""Nodes that count by themselves, and one that is told; costs can be counted by hand."""

from __future__ import annotations

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Told:
    """What was counted."""

    count: int


@wl.node
class Counter:
    """Counts to a limit; if it has a peer, tells it; may fail at a number."""

    limit: int = 5
    peer: wl.NodeId | None = None
    fails_at: int = -1
    count: int = 0
    heard: int = 0

    @wl.call(when=lambda self: self.count < self.limit)
    def up(self, ctx: wl.Context) -> None:
        self.count += 1
        if self.count == self.fails_at:
            raise ValueError("that is too much")
        if self.peer is not None:
            ctx.send(self.peer, Told(self.count))

    @wl.on(Told)
    def told(self, ctx: wl.Context, src: wl.NodeId, msg: Told) -> None:
        self.heard = msg.count


def below(limit: int) -> wl.Property:
    def is_below(view: wl.View) -> bool:
        return all(view[node].count < limit for node in view)

    is_below.__name__ = f"below_{limit}"
    return wl.safety(is_below)


@wl.safety
def not_both(view: wl.View) -> bool:
    """Only one of the nodes counts."""
    return bool(view[A].count == 0 or view[B].count == 0)


@wl.safety
def nothing_is_lost(view: wl.View) -> bool:
    """What was counted has been heard of, or is under way."""
    return bool(view.messages()) or view[A].count == view[B].heard


@wl.sometimes
def somebody_has_counted(view: wl.View) -> bool:
    return bool(view[A].count > 0)


@wl.liveness
def all_is_counted(view: wl.View) -> bool:
    return bool(view[A].count == 5)


def one(
    *properties: wl.Property, limit: int = 5, fails_at: int = -1, faults: int = 0
) -> wl.System:
    """A node that counts: a chain of states."""
    return wl.System(
        {A: Counter(limit=limit, fails_at=fails_at)},
        workload=[wl.whenever(Counter.up)],
        faults=wl.Faults(resets=faults),
        properties=properties,
        name="one",
    )


def two(*properties: wl.Property) -> wl.System:
    """Two nodes that count and know nothing of each other: a square of 36 states."""
    return wl.System(
        {A: Counter(), B: Counter()},
        workload=[wl.whenever(Counter.up)],
        properties=properties,
        name="two",
    )


def teller(predict: wl.Faults | None = None) -> wl.System:
    """A node that counts once and tells its peer, over datagrams."""
    return wl.System(
        {A: Counter(limit=1, peer=B), B: Counter(limit=0)},
        workload=[wl.script(A, [Counter.up])],
        properties=[nothing_is_lost],
        predict=predict,
        name="teller",
    )
