"""What runs on the transport: it sends numbered messages, all again after an error."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.macetransport.protocol import MaceTransport


@wl.message
class Item:
    """Message `number` of an attempt; both are counted from 0."""

    attempt: int
    number: int


@wl.node
class Application:
    """A node that sends messages to its peers, and takes in those of others.

    Attributes
    ----------
    peers
        To whom it sends.
    messages
        How many it sends to each.
    attempts
        The attempts to send to a peer so far, but for the one under way.
    sent
        How many messages of this attempt the transport has taken.
    asked
        For how many upcalls of the transport it waits that say that there is room.
    heard
        How many messages came from a node in one of its attempts.
    lost
        How many the transport reported as lost.
    disorder
        Whether a message of an attempt came twice, or before another.
    """

    peers: tuple[wl.NodeId, ...]
    messages: int
    transport: MaceTransport = wl.part()
    attempts: dict[wl.NodeId, int] = wl.durable(default_factory=dict)
    sent: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    asked: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    heard: dict[tuple[wl.NodeId, int], int] = wl.field(default_factory=dict)
    lost: int = wl.ignored(default=0)
    disorder: bool = wl.ghost(default=False)

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        """Send to all peers."""
        for peer in self.peers:
            self._begin_attempt(ctx, peer)

    def _begin_attempt(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.attempts[peer] = self.attempts.get(peer, -1) + 1
        self.sent[peer] = self.asked[peer] = 0
        self._go_on(ctx, peer)

    def _go_on(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Send as much as the transport takes, and ask for more room if need be."""
        while self.sent[peer] < self.messages:
            item = Item(self.attempts[peer], self.sent[peer])
            if not ctx.send(peer, item):
                self.asked[peer] += 1
                self.transport.request_to_send(ctx.part("transport"), peer)
                break
            self.sent[peer] += 1

    @wl.upcall
    def clear_to_send(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.asked[peer] -= 1
        self._go_on(ctx, peer)

    @wl.upcall
    def message_error(self, ctx: wl.Context, peer: wl.NodeId, message: Item) -> None:
        self.lost += 1

    @wl.upcall
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Send all again: what has arrived is not known."""
        self._begin_attempt(ctx, peer)

    @wl.on(Item)
    def receive(self, ctx: wl.Context, src: wl.NodeId, msg: Item) -> None:
        expected = self.heard.get((src, msg.attempt), 0)
        if msg.number == expected:
            self.heard[src, msg.attempt] = expected + 1
        else:
            self.disorder = True
