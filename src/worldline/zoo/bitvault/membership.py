"""Membership: the nodes that are up, as one node sees it.

Nodes send heart-beats to their neighbours on the ring, and declare those dead that have
been silent for too long. Heart-beats carry the sender's whole view. Of two things said
of a node the greater counts (its incarnation, then whether it is dead), so views become
equal in whatever order they spread. Only a node itself begins a new incarnation: when
it starts, and when it hears that others take it for dead.

At intervals a heart-beat goes to a node that is taken for dead, since no other node
would tell it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import worldline as wl
from worldline.zoo.bitvault.messages import Heartbeat
from worldline.zoo.bitvault.ring import neighbours, ring, share_of

BEAT, SILENCE = 3.0, 15.0
"""Seconds between two heart-beats, and without one until a node counts as dead."""

Standing: TypeAlias = tuple[int, bool]
"""The incarnation of a node, and whether that one is dead."""


@wl.node
class Membership:
    """The view of one node.

    Attributes
    ----------
    tempo
        By what all times are multiplied.
    incarnation
        How often this node has started, or heard that it is dead.
    members
        The standing of every node, this one too.
    loads
        How many replicas the nodes had that were heard of.
    load
        How many this node has; who stands on this part says so.
    """

    me: wl.NodeId
    tempo: float = 1.0
    incarnation: int = wl.durable(default=0)
    members: dict[wl.NodeId, Standing] = wl.field(default_factory=dict)
    loads: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    load: int = 0

    @wl.start
    def join(self, ctx: wl.Context) -> None:
        """Take all nodes to be up, and tell them that this one is."""
        self.members = dict.fromkeys(ctx.nodes, (0, False))
        self._begin_incarnation(ctx)
        ctx.set_timer(Membership.beat, after=self.tempo * BEAT * share_of(self.me))

    def up(self) -> list[wl.NodeId]:
        """Return the nodes that this one takes to be up, in the order of the ring."""
        return ring(node for node, (_, dead) in self.members.items() if not dead)

    def near(self) -> list[wl.NodeId]:
        """Return the neighbours of this node."""
        return neighbours(self.me, self.up())

    def meet(self, ctx: wl.Context, node: wl.NodeId, incarnation: int) -> None:
        """Learn of a node from itself."""
        self._learn(ctx, [(node, incarnation, False)])

    @wl.on(Heartbeat)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Heartbeat) -> None:
        self.loads[src] = msg.load
        self._learn(ctx, msg.members)
        if src in self.near():
            self._watch(ctx, src)
        if self.members[src][1]:
            self._tell(ctx, [src])  # it has still to hear that it is dead

    @wl.timer
    def beat(self, ctx: wl.Context) -> None:
        """Send heart-beats, and watch the neighbours of now."""
        near = self.near()
        for peer in ctx.nodes:
            is_watched = ctx.is_pending(Membership.silence, peer)
            if is_watched and peer not in near:
                ctx.cancel_timer(Membership.silence, peer)
            elif peer in near and not is_watched:
                self._watch(ctx, peer)
        dead = [peer for peer in ctx.nodes if self.members[peer][1]]
        self._tell(ctx, near if not dead else [*near, ctx.choose(dead)])
        ctx.set_timer(Membership.beat, after=self.tempo * BEAT)

    @wl.timer
    def silence(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Declare a neighbour dead."""
        if peer in self.near():
            self._learn(ctx, [(peer, self.members[peer][0], True)])
            self._tell(ctx, self.up())

    def _watch(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        ctx.set_timer(Membership.silence, peer, after=self.tempo * SILENCE)

    def _learn(
        self, ctx: wl.Context, said: Iterable[tuple[wl.NodeId, int, bool]]
    ) -> None:
        """Keep what is newer than what is known, and say above what has changed."""
        before = dict(self.members)
        for node, incarnation, dead in said:
            standing = incarnation, dead
            if standing <= self.members[node]:
                continue
            if node == self.me:
                self.incarnation = incarnation
                self._begin_incarnation(ctx)
            else:
                self.members[node] = standing
        if self.members != before:
            was_up = {node for node, (_, dead) in before.items() if not dead}
            ctx.up("view_changed", was_up, before[self.me] != self.members[self.me])

    def _begin_incarnation(self, ctx: wl.Context) -> None:
        self.incarnation += 1
        self.members[self.me] = self.incarnation, False
        self._tell(ctx, ctx.nodes)

    def _tell(self, ctx: wl.Context, peers: Iterable[wl.NodeId]) -> None:
        view = tuple((node, *standing) for node, standing in self.members.items())
        for peer in peers:
            if peer != self.me:
                ctx.send(peer, Heartbeat(view, self.load))
