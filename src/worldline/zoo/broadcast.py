"""Reliable broadcast in synchronous rounds: five attempts, two of which are right.

One node broadcasts one payload in round 1. If a correct node delivers it, all should.
The variants are those of the game between a programmer and an adversary: each answers
the faults that broke the one before. They are meant for `worldline faults`; where
messages may take for ever, as in `worldline check`, nothing is promised.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: sections 3.1
and 5.2, figures 2 to 7.
"""

from __future__ import annotations

import worldline as wl

VARIANTS = ("simple", "retry", "redun", "ack", "classic")
CRASHED = ("excused", "gone", "silent")


@wl.message
class Payload:
    """What is broadcast."""


@wl.message
class Ack:
    """The sender has the payload."""


@wl.node
class Member:
    """Delivers what is broadcast, and does for others what its variant says.

    Attributes
    ----------
    origin
        Whether it is the one that broadcasts.
    casting
        Whether it sends the payload in this round.
    relaying
        Whether it delivers in the next round (``classic``).
    """

    peers: tuple[wl.NodeId, ...]
    variant: str
    origin: bool = False
    delivered: bool = False
    casting: bool = False
    relaying: bool = False
    acks: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Member.round, after=1.0)

    @wl.call
    def broadcast(self, ctx: wl.Context) -> None:
        self.delivered = self.variant != "classic"
        self.casting = True
        self.act(ctx)

    @wl.on(Payload)
    def receive(self, ctx: wl.Context, src: wl.NodeId, msg: Payload) -> None:
        if self.variant == "classic":
            self.casting = True
        else:
            self.delivered = True
        if self.variant == "ack":
            ctx.send(src, Ack())

    @wl.on(Ack)
    def acknowledged(self, ctx: wl.Context, src: wl.NodeId, msg: Ack) -> None:
        self.acks.add(src)

    @wl.timer
    def round(self, ctx: wl.Context) -> None:
        """Act once in every round, after its messages."""
        ctx.set_timer(Member.round, after=1.0)
        self.delivered = self.delivered or self.relaying
        self.act(ctx)

    def act(self, ctx: wl.Context) -> None:
        if self.variant == "redun":
            # What arrives in the last round but one must be passed on at once.
            self.casting = self.delivered
        needy = [peer for peer in self.peers if peer not in self.acks]
        if self.casting or (self.variant == "ack" and self.delivered):
            for peer in needy:
                ctx.send(peer, Payload())
        if self.variant == "classic":
            self.relaying = self.casting
        if self.variant != "retry":
            self.casting = False


def agreement(crashed: str) -> wl.Property:
    """Return the promise: if a correct node delivers, all deliver.

    The node that began is no witness: that nobody but an isolated sender has its own
    payload breaks no promise.
    """

    def has(view: wl.View, node: wl.NodeId) -> bool:
        if view.is_up(node) or crashed == "silent":
            return bool(view[node].delivered)
        return crashed == "excused"

    @wl.liveness
    def agreement(view: wl.View) -> bool:
        """If a correct node other than the first delivers, all nodes have delivered."""
        witnessed = any(
            view.is_up(node) and view[node].delivered and not view[node].origin
            for node in view
        )
        return not witnessed or all(has(view, node) for node in view)

    return agreement


def system(
    *, variant: str = "redun", n: int = 3, crashed: str = "excused"
) -> wl.System:
    """Return `n` nodes, of which the first broadcasts.

    Parameters
    ----------
    variant
        ``simple`` sends once. ``retry`` sends in every round. In ``redun`` whoever has
        the payload does so. In ``ack`` too, but to those that have not acknowledged.
        ``classic`` passes on every receipt, then delivers.
    n
        How many nodes there are.
    crashed
        What is asked of a crashed node: nothing (``excused``); to have delivered, and
        what it had is ``gone``; or to have delivered, where a crash makes it ``silent``
        only. The Dedalus programs of this name are the last two.

    Raises
    ------
    ValueError
        If there is no such variant, or way to be judged.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant={variant!r}: say one of {', '.join(VARIANTS)}")
    if crashed not in CRASHED:
        raise ValueError(f"crashed={crashed!r}: say one of {', '.join(CRASHED)}")
    ids = wl.ids(*[chr(ord("a") + i) for i in range(n)])
    return wl.System(
        nodes={
            node: Member(
                tuple(peer for peer in ids if peer != node),
                variant,
                origin=node == ids[0],
            )
            for node in ids
        },
        network=wl.datagrams(duplication=False),
        workload=[wl.script(ids[0], [Member.broadcast], on_reset="continue")],
        properties=[agreement(crashed)],
        name=f"broadcast-{variant}",
    )
