"""One node of Bullet': what it has, what it tells its receivers, what it requests.

A bug is a condition such as ``"cb1" in self.bugs``; without it stands the fix.

Two nodes are a sender and its receiver for as long as neither loses the connection.
The sender keeps a *shadow map* of the receiver, the blocks that it has not told it
about; the receiver keeps what it knows the sender to have. The one together with the
other, and with what is under way, is always all that the sender has.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.bullet.messages import Block, Diff, PeerAck, PeerReq, Request

DIFF_PERIOD, ASK_PERIOD = 0.5, 1.0
"""Seconds; they count where time does."""


@wl.node
class Bullet:
    """A node of the mesh; the source is one that has all blocks from the start.

    Attributes
    ----------
    size
        How many blocks the file has; they are numbered from 0.
    window
        How many requests to one sender may be without an answer.
    have
        The blocks that this node has, on its disk: its file map.
    contacts
        The nodes that it wants for its senders.
    known
        By sender, the blocks that it is known to have.
    requested
        The blocks that were requested and have not come, and of whom.
    shadow
        By receiver, the blocks that it has not been told about.
    waiting
        Requests of receivers for which the send buffer had no room, with who asked.
    """

    size: int
    window: int = 1
    bugs: frozenset[str] = frozenset()
    have: set[int] = wl.durable(default_factory=set)

    contacts: tuple[wl.NodeId, ...] = ()
    known: dict[wl.NodeId, set[int]] = wl.field(default_factory=dict)
    requested: dict[int, wl.NodeId] = wl.field(default_factory=dict)
    shadow: dict[wl.NodeId, set[int]] = wl.field(default_factory=dict)
    waiting: list[tuple[wl.NodeId, int]] = wl.field(default_factory=list)

    def has_finished(self) -> bool:
        """Say whether this node has the whole file."""
        return len(self.have) == self.size

    @wl.neighbours
    def peers(self) -> list[wl.NodeId]:
        """Return the senders of this node, and its receivers."""
        return [*self.contacts, *self.known, *self.shadow]

    # ------------------------------------------------------------------- a receiver

    @wl.call
    def download(self, ctx: wl.Context, contacts: tuple[wl.NodeId, ...]) -> None:
        """Get the file from `contacts`, whatever they have of it and will have."""
        self.contacts = contacts
        self._look_for_senders(ctx)

    @wl.timer(when=lambda self: not self.has_finished())
    def ask(self, ctx: wl.Context) -> None:
        """Ask again who has not answered, and request what there was no room for."""
        self._look_for_senders(ctx)
        self._request(ctx)

    def _look_for_senders(self, ctx: wl.Context) -> None:
        silent = [node for node in self.contacts if node not in self.known]
        if silent and not self.has_finished():
            for node in silent:
                ctx.send(node, PeerReq())
            ctx.set_timer(Bullet.ask, after=ASK_PERIOD)

    @wl.on(PeerAck)
    def hear_of_all(self, ctx: wl.Context, src: wl.NodeId, msg: PeerAck) -> None:
        self._learn(ctx, src, msg.blocks)

    @wl.on(Diff)
    def hear_of_new(self, ctx: wl.Context, src: wl.NodeId, msg: Diff) -> None:
        self._learn(ctx, src, msg.blocks)

    def _learn(
        self, ctx: wl.Context, sender: wl.NodeId, blocks: frozenset[int]
    ) -> None:
        """Know more of a sender; nobody ever loses a block."""
        self.known.setdefault(sender, set()).update(blocks)
        self._request(ctx)

    def _request(self, ctx: wl.Context) -> None:
        """Request blocks of every sender, as many as may be under way."""
        for sender in self.known:
            while wanted := self.rarest(sender):
                block = ctx.choose(wanted)
                if not ctx.send(sender, Request(block)):
                    ctx.set_timer(Bullet.ask, after=ASK_PERIOD)
                    break
                self.requested[block] = sender

    def rarest(self, sender: wl.NodeId) -> list[int]:
        """Return what to request next of a sender: any of those that the fewest have."""
        under_way = sum(asked == sender for asked in self.requested.values())
        lacking = self.known[sender] - self.have - set(self.requested)
        if under_way == self.window or not lacking:
            return []
        copies = {
            block: sum(block in blocks for blocks in self.known.values())
            for block in sorted(lacking)
        }
        fewest = min(copies.values())
        return [block for block, count in copies.items() if count == fewest]

    @wl.on(Block)
    def receive_block(self, ctx: wl.Context, src: wl.NodeId, msg: Block) -> None:
        self.requested.pop(msg.block, None)
        self.have.add(msg.block)
        for owed in self.shadow.values():
            owed.add(msg.block)
        self._tell_later(ctx)
        self._request(ctx)

    # --------------------------------------------------------------------- a sender

    @wl.on(PeerReq)
    def take_receiver(self, ctx: wl.Context, src: wl.NodeId, msg: PeerReq) -> None:
        """Tell a receiver everything; at once, or as a diff when there is room."""
        if src not in self.shadow or "cb2" not in self.bugs:
            self.shadow[src] = set(self.have)
        owed = self.shadow[src]
        if ctx.send(src, PeerAck(frozenset(owed))) or "cb3" in self.bugs:
            owed.clear()
        self._tell_later(ctx)

    @wl.on(Request)
    def serve(self, ctx: wl.Context, src: wl.NodeId, msg: Request) -> None:
        self._send_block(ctx, src, msg.block)
        self._tell_later(ctx)

    def _send_block(self, ctx: wl.Context, receiver: wl.NodeId, block: int) -> None:
        if not ctx.send(receiver, Block(block)):
            self.waiting.append((receiver, block))

    @wl.timer
    def tell(self, ctx: wl.Context) -> None:
        """Send diffs, and the blocks that wait, as far as there is room."""
        for receiver, owed in self.shadow.items():
            if owed and (
                ctx.send(receiver, Diff(frozenset(owed))) or "cb1" in self.bugs
            ):
                owed.clear()
        waiting, self.waiting = self.waiting, []
        for receiver, block in waiting:
            self._send_block(ctx, receiver, block)
        self._tell_later(ctx)

    def _tell_later(self, ctx: wl.Context) -> None:
        """See to it that receivers get what they are owed."""
        is_owed = self.waiting or any(self.shadow.values())
        if is_owed and not ctx.is_pending(Bullet.tell):
            ctx.set_timer(Bullet.tell, after=DIFF_PERIOD)

    # --------------------------------------------------------------------- failures

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Forget a peer: what was under way is lost, in either direction."""
        if "cb2" not in self.bugs:
            self.shadow.pop(peer, None)
        self.waiting = [request for request in self.waiting if request[0] != peer]
        self.known.pop(peer, None)
        self.requested = {
            block: asked for block, asked in self.requested.items() if asked != peer
        }
        self._request(ctx)
        if peer in self.contacts:
            # Not at once: it may be down, and each attempt would end here again.
            ctx.set_timer(Bullet.ask, after=ASK_PERIOD)
