"""One node of a Pastry ring: joining, the ring, the table, failures.

A bug is a condition such as ``"pastry-1" in self.bugs``; without it stands the published
fix, or ours where none was published.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import worldline as wl
from worldline.zoo.pastry.known import Known
from worldline.zoo.pastry.messages import (
    Inform,
    InformRequest,
    Join,
    LeafsetInfo,
    LeafsetInfoReply,
    LeafsetInfoRequest,
    Match,
    NoMatch,
    Probe,
    ProbeReply,
    Remove,
    Repair,
    Routed,
    RowInfo,
    RowInfoReply,
    RowRequest,
)
from worldline.zoo.pastry.space import Cell, Key

JOIN_TIMEOUT, LEAFSET_PERIOD, TABLE_PERIOD, RECOVERY_PERIOD = 2.0, 5.0, 60.0, 60.0
"""Seconds; they count where time does."""


class State(enum.Enum):
    """How far a node has come since it started."""

    INIT = "init"
    PRE_JOINING = "pre-joining"
    """It has asked for a place."""
    JOINING = "joining"
    """It has got some of what it asked for."""
    JOINED = "joined"


ASKING = (State.PRE_JOINING, State.JOINING)
"""Before it is in the ring, and after it has asked to be."""


@wl.node
class Pastry(Known):
    """A node of the ring, as a service below an application.

    Attributes
    ----------
    peers, asked
        Those whom it asks for its place, and the number of the next.
    missing
        The rows of the table that a joining node has not received yet.
    leafset_received
        Whether it has received the leafset of its neighbour.
    probed
        Who was probed last of those in the table.
    came_back
        Whether a join that this node has sent ever came to it.
    swallowed
        Whether it ever took another's join that was passed on to it, and said nothing.
    """

    state: State = State.INIT
    peers: tuple[wl.NodeId, ...] = ()
    asked: int = 0
    missing: set[int] = wl.field(default_factory=set)
    leafset_received: bool = False
    probed: wl.NodeId | None = None
    came_back: bool = wl.ghost(default=False)
    swallowed: bool = wl.ghost(default=False)

    def is_joining(self) -> bool:
        """Say whether the node has asked for a place and is not in the ring yet."""
        return self.state in ASKING

    def has_joined(self) -> bool:
        """Say whether the node is in the ring."""
        return self.state is State.JOINED

    # ------------------------------------------------------------------------ joining

    def join_overlay(self, ctx: wl.Context, peers: tuple[wl.NodeId, ...]) -> None:
        """Become part of the ring that `peers` are in; of a new one if there are none."""
        self.peers = tuple(peer for peer in peers if peer != self.me)
        if self.peers:
            self.state = State.PRE_JOINING
            self.missing = set(range(self.space.rows))
            self._ask(ctx)
        else:
            self._enter(ctx)

    @wl.timer(when=lambda self: self.state in ASKING)
    def join_timer(self, ctx: wl.Context) -> None:
        """Ask the next peer for what is still missing."""
        self._ask(ctx)

    def _ask(self, ctx: wl.Context) -> None:
        first = min(self.missing, default=self.space.rows)
        ctx.send(self._next_peer(), Join(self.me, first))
        ctx.set_timer(Pastry.join_timer, after=JOIN_TIMEOUT)

    def _next_peer(self) -> wl.NodeId:
        peer = self.peers[self.asked]
        self.asked = (self.asked + 1) % len(self.peers)
        return peer

    @wl.on(Join)
    def receive_join(self, ctx: wl.Context, src: wl.NodeId, msg: Join) -> None:
        """Send the joiner rows, and pass its request on to who is nearer to its key.

        Nothing makes sure that the rows arrive: what the send buffer refuses, and all
        after it, the joiner asks for again.
        """
        if msg.who == self.me:
            self.came_back = True
        elif self.has_joined():
            self._serve(ctx, msg)
        elif src != msg.who:
            if "pastry-5" in self.bugs:
                self.swallowed = True
            else:
                ctx.send(src, Remove())

    def _serve(self, ctx: wl.Context, msg: Join) -> None:
        key = self.space.key(msg.who)
        # Who asks for a place may still be in the table, and is nearer to its key than all.
        hop = self.hop(key, None if "pastry-4" in self.bugs else msg.who)
        if hop == self.me:
            if self._send_rows(ctx, msg.who, range(msg.start_row, self.space.rows)):
                ctx.send(msg.who, LeafsetInfo(self.leaves()))
            return
        end = self.space.shared(self.key, key) + 1
        self._send_rows(ctx, msg.who, range(msg.start_row, end))
        start = 1 if "pastry-1" in self.bugs else max(msg.start_row, end)
        ctx.send(hop, Join(msg.who, start))

    def _send_rows(self, ctx: wl.Context, who: wl.NodeId, rows: Iterable[int]) -> bool:
        """Send rows until one is refused; say whether none was."""
        return all(ctx.send(who, RowInfo(row, self.row(row))) for row in rows)

    @wl.on(RowInfo, when=lambda self, src, msg: self.state is not State.INIT)
    def row_info(self, ctx: wl.Context, src: wl.NodeId, msg: RowInfo) -> None:
        self.learn([src, *msg.nodes])
        if self.is_joining():
            self.state = State.JOINING
            self.missing.discard(msg.row)
            self._enter_if_complete(ctx)

    def _enter_if_complete(self, ctx: wl.Context) -> None:
        if self.leafset_received and not self.missing:
            self._enter(ctx)
            for node in self.leaves():
                ctx.send(node, Inform())

    def _enter(self, ctx: wl.Context) -> None:
        """Be in the ring."""
        self.state = State.JOINED
        ctx.cancel_timer(Pastry.join_timer)
        ctx.set_timer(Pastry.leafset_maintenance, after=LEAFSET_PERIOD)
        ctx.set_timer(Pastry.table_maintenance, after=TABLE_PERIOD)
        if self.peers and "pastry-2" not in self.bugs:
            ctx.set_timer(Pastry.recovery, after=RECOVERY_PERIOD)

    # ----------------------------------------------------------------------- the ring

    @wl.on(LeafsetInfo, when=lambda self, src, msg: self.state is not State.INIT)
    def leafset_info(self, ctx: wl.Context, src: wl.NodeId, msg: LeafsetInfo) -> None:
        """Take what is told into the table, and ask who may be in the leafset."""
        self._consider(ctx, [src, *msg.leaves])
        if self.is_joining():
            self.state = State.JOINING
            self.leafset_received = True
            self._enter_if_complete(ctx)
        elif self.me not in msg.leaves or self.space.key(src) not in self.leafset:
            ctx.send(src, LeafsetInfoReply(self.leaves()))

    @wl.on(LeafsetInfoRequest, when=lambda self, src, msg: self.state is State.JOINED)
    def leafset_info_request(
        self, ctx: wl.Context, src: wl.NodeId, msg: LeafsetInfoRequest
    ) -> None:
        ctx.send(src, LeafsetInfoReply(self.leaves()))

    @wl.on(LeafsetInfoReply, when=lambda self, src, msg: self.state is State.JOINED)
    def leafset_info_reply(
        self, ctx: wl.Context, src: wl.NodeId, msg: LeafsetInfoReply
    ) -> None:
        self._consider(ctx, [src, *msg.leaves])

    def _consider(self, ctx: wl.Context, nodes: list[wl.NodeId]) -> None:
        """Learn of nodes; in the leafset are only those that answer themselves."""
        self.learn(nodes)
        for node in nodes:
            if self.suits(node):
                ctx.send(node, InformRequest(self.has_joined()))

    @wl.on(InformRequest, when=lambda self, src, msg: self.state is State.JOINED)
    def inform_request(
        self, ctx: wl.Context, src: wl.NodeId, msg: InformRequest
    ) -> None:
        ctx.send(src, Inform())
        if msg.joined:
            self.learn([src])
            self.admit(src)

    @wl.on(Inform, when=lambda self, src, msg: self.state is not State.INIT)
    def inform(self, ctx: wl.Context, src: wl.NodeId, msg: Inform) -> None:
        """Let who is in the ring into the leafset; tell it the same of this node."""
        self.learn([src])
        if self.admit(src) and self.has_joined():
            ctx.send(src, Inform())

    @wl.timer(when=lambda self: self.state is State.JOINED)
    def leafset_maintenance(self, ctx: wl.Context) -> None:
        """Tell all in the leafset who else is there."""
        ctx.set_timer(Pastry.leafset_maintenance, after=LEAFSET_PERIOD)
        for node in self.leaves():
            ctx.send(node, LeafsetInfo(self.leaves()))

    @wl.timer(when=lambda self: self.state is State.JOINED)
    def recovery(self, ctx: wl.Context) -> None:
        """Ask for a place once more, but for no rows, and who is beside the one asked.

        Rings that fell apart merge so. The request for a place alone may be routed back,
        where a table still has nodes of the ring that asks.
        """
        ctx.set_timer(Pastry.recovery, after=RECOVERY_PERIOD)
        peer = self._next_peer()
        ctx.send(peer, Join(self.me, self.space.rows))
        ctx.send(peer, LeafsetInfoRequest())

    # ---------------------------------------------------------------------- the table

    @wl.timer(when=lambda self: self.state is State.JOINED)
    def table_maintenance(self, ctx: wl.Context) -> None:
        """Probe the next in the table; its answer leads to a request for its row."""
        ctx.set_timer(Pastry.table_maintenance, after=TABLE_PERIOD)
        there = sorted(self.in_table())
        if there:
            last = self.probed
            later = [node for node in there if last is not None and node > last]
            self.probed = (later or there)[0]
            ctx.send(self.probed, Probe())

    @wl.on(Probe)
    def probe(self, ctx: wl.Context, src: wl.NodeId, msg: Probe) -> None:
        """Answer, in the ring or not."""
        ctx.send(src, ProbeReply())

    @wl.on(ProbeReply, when=lambda self, src, msg: self.state is State.JOINED)
    def probe_reply(self, ctx: wl.Context, src: wl.NodeId, msg: ProbeReply) -> None:
        row, _ = self.space.cell(self.key, self.space.key(src))
        ctx.send(src, RowRequest(row))

    @wl.on(RowRequest, when=lambda self, src, msg: self.state is State.JOINED)
    def row_request(self, ctx: wl.Context, src: wl.NodeId, msg: RowRequest) -> None:
        ctx.send(src, RowInfoReply(msg.row, self.row(msg.row)))

    @wl.on(RowInfoReply, when=lambda self, src, msg: self.state is State.JOINED)
    def row_info_reply(
        self, ctx: wl.Context, src: wl.NodeId, msg: RowInfoReply
    ) -> None:
        self.learn(msg.nodes)

    @wl.on(Repair, when=lambda self, src, msg: self.state is State.JOINED)
    def repair(self, ctx: wl.Context, src: wl.NodeId, msg: Repair) -> None:
        """Answer with a node for a cell of the sender's table."""
        start, cell = self.space.key(src), (msg.row, msg.column)
        others = {*self.leaves(), *self.in_table()} - {src}
        suiting = [
            node
            for node in sorted(others)
            if self.space.cell(start, self.space.key(node)) == cell
        ]
        if suiting:
            ctx.send(src, Match(suiting[0]))
            return
        ctx.send(src, NoMatch(msg.row, msg.column, msg.asked))

    @wl.on(Match, when=lambda self, src, msg: self.state is State.JOINED)
    def match(self, ctx: wl.Context, src: wl.NodeId, msg: Match) -> None:
        self.learn([msg.node])

    @wl.on(NoMatch, when=lambda self, src, msg: self.state is State.JOINED)
    def no_match(self, ctx: wl.Context, src: wl.NodeId, msg: NoMatch) -> None:
        """Ask somebody in the next row."""
        self._mend(ctx, (msg.row, msg.column), msg.asked + 1)

    def _mend(self, ctx: wl.Context, cell: Cell, first: int) -> None:
        """Look for a node for an empty cell, with the first row that has anybody."""
        rows = [number for number, _ in self.table if number >= first]
        if rows and cell not in self.table:
            row = min(rows)
            ctx.send(self.row(row)[0], Repair(*cell, row))

    # ----------------------------------------------------------------------- failures

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Take a lost connection for a lost node."""
        self._lose(ctx, peer)

    @wl.on(Remove)
    def remove(self, ctx: wl.Context, src: wl.NodeId, msg: Remove) -> None:
        """Forget a node that was reset: it is not in the ring any more."""
        self._lose(ctx, src)

    def _lose(self, ctx: wl.Context, node: wl.NodeId) -> None:
        """Forget a node, and look for others in its places."""
        was_leaf = self.space.key(node) in self.leafset
        cell = self.forget(node)
        if not self.has_joined():
            return
        if was_leaf:
            for half in (self.left, self.right):
                if half:
                    ctx.send(half[-1], LeafsetInfoRequest())
        if cell is not None:
            self._mend(ctx, cell, cell[0])

    # -------------------------------------------------------------------- application

    def route(self, ctx: wl.Context, dst: wl.NodeId, message: Any) -> bool:
        """Send a message to the owner of a node's key, which is that node."""
        return self.route_to(ctx, self.space.key(dst), message)

    def route_to(self, ctx: wl.Context, key: Key, message: Any) -> bool:
        """Send a message to the owner of a key; say whether it was taken."""
        return self._pass_on(ctx, Routed(key, self.me, message))

    @wl.on(Routed, when=lambda self, src, msg: self.state is State.JOINED)
    def routed(self, ctx: wl.Context, src: wl.NodeId, msg: Routed) -> None:
        self._pass_on(ctx, msg)

    def _pass_on(self, ctx: wl.Context, msg: Routed) -> bool:
        """Tell the application of a message that touches this node, and send it on."""
        hop = self.hop(msg.key)
        if not ctx.up("forward", msg.origin, msg.key, hop, msg.body):
            return False
        if hop == self.me:
            ctx.up("deliver", msg.origin, msg.body)
            return True
        return ctx.send(hop, msg)
