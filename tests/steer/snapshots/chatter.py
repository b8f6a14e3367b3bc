"""A system whose states tell in which order everything happened at each node."""

from __future__ import annotations

import worldline as wl
from worldline.model.network.mailbox import Network, permits


@wl.message
class Word:
    number: int


@wl.message
class Call:
    number: int
    to: wl.NodeId


@wl.node
class Talker:
    peers: tuple[wl.NodeId, ...]
    seen: int = 0
    known: set[int] = wl.field(default_factory=set)
    said: int = wl.durable(default=0)
    errors: int = 0
    cache: int = wl.field(default=0, checkpoint=False)
    lives: int = wl.durable(default=0)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.lives += 1
        ctx.set_timer(Talker.talk, after=1.0)
        if self.lives > 1 and ctx.choose([False, True]):
            self._say(ctx, ctx.choose(self.peers))

    @wl.rebuild
    def fill(self) -> None:
        self.cache = self.seen % 5

    @wl.timer
    def talk(self, ctx: wl.Context) -> None:
        self._note(ctx, 1)
        for _ in range(1 + ctx.choose([0, 1])):
            self._say(ctx, ctx.choose((*self.peers, ctx.me)))
        ctx.set_timer(Talker.talk, after=1.0)

    @wl.timer
    def later(self, ctx: wl.Context, number: int) -> None:
        self._note(ctx, number)

    @wl.on(Word)
    def word(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self._note(ctx, msg.number)
        self.known.add(msg.number % 7)
        what = ctx.choose(["nothing", "answer", "tell", "wait"])
        if what == "answer":
            self._say(ctx, src)
        elif what == "tell":
            ctx.send(src, Call(msg.number, ctx.choose(self.peers)))
        elif what == "wait":
            ctx.set_timer(Talker.later, msg.number % 3, after=0.5)

    @wl.on(Call)
    def call(self, ctx: wl.Context, src: wl.NodeId, msg: Call) -> None:
        self._note(ctx, msg.number)
        self._say(ctx, msg.to)

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors += 1
        self._note(ctx, 3)
        if ctx.choose([False, True]):
            self._say(ctx, peer)

    def _say(self, ctx: wl.Context, to: wl.NodeId) -> None:
        self.said += 1
        ctx.send(to, Word(10 * self.said + ctx.sequence() % 7))

    def _note(self, ctx: wl.Context, number: int) -> None:
        # Depends on the order of all that has happened here.
        self.seen = (31 * self.seen + number + 1) % 1_000_003
        self.cache = self.seen % 5


@wl.node
class Gossip(Talker):
    """One that wants to know of the next one, and of those that that one wants to know of."""

    @wl.neighbours(hops=2)
    def near(self) -> tuple[wl.NodeId, ...]:
        return self.peers[self.seen % len(self.peers) :][:1]


def all_faults(network: Network, ids: tuple[wl.NodeId, ...]) -> wl.Faults:
    """Return whatever can happen on a network, as often as it likes."""
    connects = permits(network, "connection_errors")
    return wl.Faults(
        drops=None if permits(network, "drops") else 0,
        duplicates=None if permits(network, "duplicates") else 0,
        connection_errors=None if connects else 0,
        resets=None,
        silent_resets=None if connects else 0,
        deaf=1 if connects else None,
        crashes=None,
        restarts=None,
        partitions=None,
        cuts=((ids[0],), ids[:2])[: len(ids) - 1],
        break_sockets=connects,
    )


def system(network: Network, nodes: int = 4, kind: type[Talker] = Talker) -> wl.System:
    ids = wl.ids(*"abcdefgh"[:nodes])
    made = {node: kind(tuple(p for p in ids if p != node)) for node in ids}
    faults = all_faults(network, ids)
    return wl.System(made, network=network, faults=faults, name="chatter")
