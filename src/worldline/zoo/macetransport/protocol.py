"""MaceTransport at one node: it sends, receives, gives up, and is told to give up.

A bug is a condition such as ``"mt5" in self.bugs``: what it guards, or what stands beside
it, is the published fix.

Why both ends agree. A connection begins with a packet that has the SYN identifier of
the connection, greater than those of all before, and nothing else of it is sent until
that one is acknowledged. The receiver takes only the greatest identifier that it has
seen from a node, and only once: so a packet without one belongs to the connection that
it has open, or is from an older one, or from one that it has closed. By its number it is
then no more than a duplicate, or beyond a gap that nobody will fill, or unasked for; in
the last two cases the sender is told, by a Reset, and begins another connection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import worldline as wl
from worldline.zoo.macetransport.connections import (
    Held,
    Incoming,
    Outgoing,
    syn_of,
)
from worldline.zoo.macetransport.messages import (
    FIRST,
    STRIDE,
    Ack,
    Data,
    DataFragment,
    Fragment,
    Packet,
    Reset,
    Segment,
)

TIMEOUT, LONGEST_TIMEOUT = 1.0, 3.0
"""Seconds until a packet is sent again, at first and at most."""

PATIENCE = 30.0
"""Seconds after which a packet that is still in flight ends the connection."""

DUPLICATES = 3
"""How many duplicate acks have a packet sent again, how many packets a Reset."""

BEFORE_FAST_RESET = frozenset({"mt3", "mt3a", "mt3b", "mt11"})
"""Bugs of versions in which no number of duplicates led to a Reset."""

Due: TypeAlias = tuple[wl.NodeId, int]
"""To whom a packet is sent, and its number."""


@wl.node
class MaceTransport:
    """A transport of messages in order, each once, over datagrams; a part of a node.

    The node above sends through it with ``ctx.send``, and by `request_to_send`, asks to
    be told when there is room. It gets messages, and ``error`` with the peer when a
    connection is lost; what it sent before may have arrived or not.

    Attributes
    ----------
    bugs
        Which of the published bugs are present.
    buffer
        How many packets to one node may wait to be sent or acknowledged, for it to take
        another message.
    fragments
        In how many packets each message travels.
    timeouts
        How often at most a packet is found to have been in flight for too long; None
        for no limit. While checking it may be found so at any time.
    reports
        Whether the node above is told which messages a lost connection had still to
        deliver, by an upcall ``message_error`` with the peer and the message.
    out, incoming
        The connections, by the node at the other end.
    last_syn
        The greatest SYN identifier of each node. It outlives the connection.
    waiting
        For whom the node above waits to be told that there is room, and how often.
    local
        Messages to the node itself.
    arrived
        The numbers that have arrived from each node.
    torn
        Whether a message was delivered without all of its pieces.
    """

    bugs: frozenset[str] = frozenset()
    buffer: int = 20
    fragments: int = 1
    timeouts: int | None = None
    reports: bool = False
    out: dict[wl.NodeId, Outgoing] = wl.field(default_factory=dict)
    incoming: dict[wl.NodeId, Incoming] = wl.field(default_factory=dict)
    last_syn: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    waiting: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    local: list[Any] = wl.field(default_factory=list)
    arrived: dict[wl.NodeId, frozenset[int]] = wl.ghost(default_factory=dict)
    torn: bool = wl.ghost(default=False)

    # ------------------------------------------------------------- from the node above

    def route(self, ctx: wl.Context, dst: wl.NodeId, message: Any) -> bool:
        """Take a message that is to be sent; False if there is no room for it."""
        if dst == ctx.me:
            self.local.append(message)
            ctx.set_timer(MaceTransport.loop_back)
            return True
        if not self.is_sendable(dst):
            return False
        out = self.out.get(dst) or self._open(ctx)
        self.out[dst] = out.queued(message, self.fragments, self._syn(out))
        self._send_packets(ctx, dst)
        return True

    def request_to_send(self, ctx: wl.Context, dst: wl.NodeId) -> None:
        """Ask for an upcall ``clear_to_send`` with `dst`, once there is room."""
        self.waiting[dst] = self.waiting.get(dst, 0) + 1
        self._tell_of_room(ctx, dst)

    def is_sendable(self, dst: wl.NodeId) -> bool:
        """Say whether there is room for a message."""
        out = self.out.get(dst)
        return out is None or len(out.unacknowledged) < self.buffer

    # -------------------------------------------------------------------- as a sender

    def _open(self, ctx: wl.Context) -> Outgoing:
        first = FIRST + STRIDE * ctx.sequence()
        return Outgoing(first=first, curseq=first - 1, since=ctx.now())

    def _syn(self, out: Outgoing) -> int:
        """Return the identifier of a connection; with mt3 there is only one."""
        return 1 if "mt3" in self.bugs else out.first // STRIDE + 1

    def _send_packets(self, ctx: wl.Context, dst: wl.NodeId) -> None:
        """Send what the window has room for."""
        out = self.out[dst]
        while (packet := out.due()) is not None:
            out = out.launched(packet, ctx.now())
            self._send(ctx, dst, packet)
        self.out[dst] = out

    def _send(self, ctx: wl.Context, dst: wl.NodeId, packet: Packet) -> None:
        ctx.send(dst, packet.segment)
        wait = min(TIMEOUT * (1 + packet.retries), LONGEST_TIMEOUT)
        ctx.set_timer(MaceTransport.retransmission, (dst, packet.seq), after=wait)

    @wl.on(Ack)
    def acknowledged(self, ctx: wl.Context, src: wl.NodeId, msg: Ack) -> None:
        """Let go of what has arrived, and send what the window has room for now."""
        out = self.out.get(src)
        if out is None or not out.has_numbered(msg.seq):
            return
        if msg.seq == out.last:
            self._count_duplicate(ctx, src, out)
        elif msg.seq > out.last and self._knows(out, msg.seq):
            for seq in out.inflight:
                if seq <= msg.seq:
                    ctx.cancel_timer(MaceTransport.retransmission, (src, seq))
            self.out[src] = out.acknowledged(msg.seq, ctx.now())
            self._send_packets(ctx, src)
            self._tell_of_room(ctx, src)

    def _knows(self, out: Outgoing, seq: int) -> bool:
        """Say whether an ack is of use: with mt6 only if its number is in flight."""
        return seq in out.inflight or "mt6" not in self.bugs

    def _count_duplicate(self, ctx: wl.Context, dst: wl.NodeId, out: Outgoing) -> None:
        """Send the packet again that duplicate acks tell to be lost."""
        lost = out.inflight.get(out.last + 1)
        if lost is None:
            return
        if out.dupacks + 1 < DUPLICATES:
            self.out[dst] = replace(out, dupacks=out.dupacks + 1)
        else:
            self.out[dst] = out.halved()
            self._send(ctx, dst, lost)

    @wl.timer(when=lambda self, due: due[0] in self.out)
    def retransmission(self, ctx: wl.Context, due: Due) -> None:
        """Send a packet again, or give up after all."""
        dst, seq = due
        out = self.out[dst]
        packet = out.inflight[seq]
        if self._is_overdue(ctx, out):
            self.close_incoming(dst)
            self._lose(ctx, dst)
        else:
            self.out[dst] = out.timed_out(packet)
            self._send_packets(ctx, dst)

    def _is_overdue(self, ctx: wl.Context, out: Outgoing) -> bool:
        """Say whether the oldest packet has been in flight for too long."""
        if self.timeouts == 0:
            return False
        overdue = ctx.now() - out.since > PATIENCE
        if overdue and self.timeouts is not None:
            self.timeouts -= 1
        return overdue

    @wl.on(Reset)
    def reset(self, ctx: wl.Context, src: wl.NodeId, msg: Reset) -> None:
        """Give up a connection of which the other end knows nothing.

        With mt7 what comes from there is discarded, too, until there is a SYN: for the
        other end is taken to have begun anew, and what it sent to be from before.
        """
        out = self.out.get(src)
        if out is None or not out.has_numbered(msg.seq):
            return
        if "mt7" in self.bugs and src in self.incoming:
            empty = replace(self.incoming[src], held=wl.FrozenMap(), expects_syn=True)
            self.incoming[src] = empty
        self._lose(ctx, src)

    def _lose(self, ctx: wl.Context, dst: wl.NodeId) -> None:
        """Close an outgoing connection, and say so above."""
        out = self.out.pop(dst)
        survive = 1 if "mt2" in self.bugs else len(out.inflight)
        for seq in list(out.inflight)[:survive]:
            ctx.cancel_timer(MaceTransport.retransmission, (dst, seq))
        if "mt10" not in self.bugs:
            ctx.cancel_timer(MaceTransport.cts, dst)
            self.waiting.pop(dst, None)
        if self.reports:
            lost = {p.seq - p.frag: p.message for p in out.unacknowledged}
            for message in lost.values():
                ctx.up("message_error", dst, message)
        ctx.up("error", dst)

    # --------------------------------------------------------------- room for messages

    def _tell_of_room(self, ctx: wl.Context, dst: wl.NodeId) -> None:
        if dst in self.waiting and self.is_sendable(dst):
            ctx.set_timer(MaceTransport.cts, dst)

    @wl.timer(when=lambda self, dst: dst in self.waiting)
    def cts(self, ctx: wl.Context, dst: wl.NodeId) -> None:
        """Tell the node above that there is room, as often as it has asked."""
        for _ in range(self.waiting.pop(dst)):
            ctx.up("clear_to_send", dst)

    @wl.timer
    def loop_back(self, ctx: wl.Context) -> None:
        """Deliver what the node has sent to itself."""
        messages = list(self.local)
        self.local.clear()
        for message in messages:
            ctx.up("deliver", ctx.me, message)

    # ------------------------------------------------------------------ as a receiver

    @wl.on(Data)
    def data(self, ctx: wl.Context, src: wl.NodeId, msg: Data) -> None:
        self._receive(ctx, src, msg)

    @wl.on(DataFragment)
    def data_fragment(self, ctx: wl.Context, src: wl.NodeId, msg: DataFragment) -> None:
        self._receive(ctx, src, msg)

    @wl.on(Fragment)
    def fragment(self, ctx: wl.Context, src: wl.NodeId, msg: Fragment) -> None:
        self._receive(ctx, src, msg)

    def _receive(self, ctx: wl.Context, src: wl.NodeId, msg: Segment) -> None:
        """Take a packet in, if it is of the connection that is open."""
        before = self.arrived.get(src, frozenset())
        self.arrived[src] = before | {msg.seq}
        syn = syn_of(msg)
        if syn and self._begins(src, msg.seq, syn):
            self.incoming[src] = Incoming(msg.seq, msg.seq, msg.seq)
            self.last_syn[src] = syn
        incoming = self.incoming.get(src)
        is_old = bool(syn) and syn < self.last_syn[src]
        if incoming is None or is_old:
            ctx.send(src, Reset(msg.seq))
        elif not incoming.expects_syn:
            self._take(ctx, src, incoming, msg)

    def _begins(self, src: wl.NodeId, seq: int, syn: int) -> bool:
        """Say whether a SYN begins a connection: others are duplicates, or old.

        The first version knew no duplicates, the second none but those of the
        connection that is open. The third looked only whether the identifier is another.
        """
        if "mt1" in self.bugs:
            return True
        if "mt3" in self.bugs:
            incoming = self.incoming.get(src)
            return incoming is None or incoming.first != seq
        newest = self.last_syn.get(src, 0)
        return syn != newest if "mt3a" in self.bugs else syn > newest

    def _take(
        self, ctx: wl.Context, src: wl.NodeId, incoming: Incoming, msg: Segment
    ) -> None:
        """Hold a packet that is new, deliver what is complete, and acknowledge."""
        is_ahead = msg.seq > incoming.next
        if msg.seq >= incoming.next:
            if msg.seq not in incoming.held or "mt8" in self.bugs:
                assert msg.seq >= incoming.next_deliver, "it was delivered before"
                incoming = self._advanced(incoming.holding(msg))
            else:
                repeats = min(incoming.repeats + 1, DUPLICATES)
                incoming = replace(incoming, repeats=repeats)
        if incoming.repeats >= DUPLICATES and not BEFORE_FAST_RESET & self.bugs:
            self.close_incoming(src)
            ctx.send(src, Reset(msg.seq))
            return
        self._acknowledge(ctx, src, incoming, msg.seq, is_ahead=is_ahead)
        self._deliver(ctx, src, incoming)

    def _advanced(self, incoming: Incoming) -> Incoming:
        """Expect the first number that is missing; with mt4 the next is taken for it."""
        expected = incoming.next
        while expected in incoming.held:
            expected += 1
            if "mt4" in self.bugs:
                break
        repeats = incoming.repeats if expected == incoming.next else 0
        return replace(incoming, next=expected, repeats=repeats)

    def _acknowledge(
        self,
        ctx: wl.Context,
        src: wl.NodeId,
        incoming: Incoming,
        seq: int,
        *,
        is_ahead: bool,
    ) -> None:
        """Say up to where all has arrived."""
        last = incoming.next - 1
        if "mt9" in self.bugs:
            last = seq
        elif is_ahead and "mt5" in self.bugs:
            last = incoming.next
        ctx.send(src, Ack(last))

    def _deliver(self, ctx: wl.Context, src: wl.NodeId, incoming: Incoming) -> None:
        """Hand the messages that are complete to the node above, in order."""
        complete: list[Held] = []
        while (head := incoming.deliverable()) is not None:
            pieces = range(incoming.next_deliver, incoming.next_deliver + head.nfrag)
            if not incoming.held.keys() >= set(pieces):
                self.torn = True
            complete.append(head)
            incoming = incoming.delivered(head)
        self.incoming[src] = incoming
        for head in complete:
            ctx.up("deliver", src, head.message)

    def close_incoming(self, src: wl.NodeId) -> None:
        """Forget an incoming connection; with mt3b its identifier, too."""
        self.incoming.pop(src, None)
        if "mt3b" in self.bugs:
            self.last_syn.pop(src, None)
