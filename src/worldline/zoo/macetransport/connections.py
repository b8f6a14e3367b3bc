"""The two ends of a connection, as values: each change makes another one."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import worldline as wl
from worldline.zoo.macetransport.messages import (
    DataFragment,
    Fragment,
    Packet,
    Segment,
)

Packets = wl.FrozenMap[int, Packet]

SLOW_START, LEAST_THRESHOLD = 64, 2
"""Where slow start ends, at first and at the least, in packets."""

MOST_RETRIES = 2
"""How many time-outs of one packet make the next one longer."""


V = TypeVar("V")


def _with(kept: Mapping[int, V], more: Mapping[int, V]) -> wl.FrozenMap[int, V]:
    return wl.FrozenMap({**kept, **more})


def _without(kept: Mapping[int, V], gone: Container[int]) -> wl.FrozenMap[int, V]:
    return wl.FrozenMap({seq: one for seq, one in kept.items() if seq not in gone})


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """The end of a connection that sends.

    Attributes
    ----------
    first, curseq
        The number of the first packet, and of the last.
    last
        The last that was acknowledged; 0 if none was.
    cwnd, ssthresh
        The congestion window, in packets, and up to where each acknowledged packet
        widens it.
    credit
        How many packets of a whole window have been acknowledged, beyond that.
    inflight, rtbuf, sendbuf
        What is sent and not acknowledged, what is to be sent again, and what waits for
        its first time; by number.
    dupacks
        How often `last` was acknowledged again.
    since
        When the oldest packet in flight became the oldest.
    """

    first: int
    curseq: int
    last: int = 0
    cwnd: int = 1
    ssthresh: int = SLOW_START
    credit: int = 0
    inflight: Packets = field(default_factory=wl.FrozenMap)
    rtbuf: Packets = field(default_factory=wl.FrozenMap)
    sendbuf: Packets = field(default_factory=wl.FrozenMap)
    dupacks: int = 0
    since: wl.Time

    @property
    def unacknowledged(self) -> list[Packet]:
        """What may still have to be sent, in order."""
        kept = {**self.inflight, **self.rtbuf, **self.sendbuf}
        return [kept[seq] for seq in sorted(kept)]

    def has_numbered(self, seq: int) -> bool:
        """Say whether a number is one of this connection, and not of another."""
        return self.first <= seq <= self.curseq

    def queued(self, message: Any, nfrag: int, syn: int) -> Outgoing:
        """Append a message; the first of all has the identifier `syn`."""
        start = self.curseq + 1
        pieces = {
            start + frag: Packet(
                start + frag,
                syn if start + frag == self.first else 0,
                frag,
                nfrag,
                message,
            )
            for frag in range(nfrag)
        }
        return replace(
            self, curseq=start + nfrag - 1, sendbuf=_with(self.sendbuf, pieces)
        )

    def due(self) -> Packet | None:
        """Return what is to be sent next, if the window has room and anything waits."""
        waiting = self.rtbuf or self.sendbuf
        if not waiting or len(self.inflight) >= self.cwnd:
            return None
        return waiting[min(waiting)]

    def launched(self, packet: Packet, now: wl.Time) -> Outgoing:
        """Take what was to be sent next for sent."""
        gone = {packet.seq}
        return replace(
            self,
            since=self.since if self.inflight else now,
            inflight=_with(self.inflight, {packet.seq: packet}),
            rtbuf=_without(self.rtbuf, gone),
            sendbuf=_without(self.sendbuf, gone),
        )

    def acknowledged(self, seq: int, now: wl.Time) -> Outgoing:
        """Let go of all up to a number, and widen the window."""
        acked = {packet.seq for packet in self.unacknowledged if packet.seq <= seq}
        cwnd, credit = self._widened(len(acked))
        return replace(
            self,
            last=seq,
            cwnd=cwnd,
            credit=credit,
            dupacks=0,
            since=now,
            inflight=_without(self.inflight, acked),
            rtbuf=_without(self.rtbuf, acked),
        )

    def _widened(self, acked: int) -> tuple[int, int]:
        """Widen the window by one for each packet, beyond `ssthresh` for each window."""
        cwnd, credit = self.cwnd, self.credit
        for _ in range(acked):
            credit += 1
            if cwnd < self.ssthresh or credit == cwnd:
                cwnd, credit = cwnd + 1, 0
        return cwnd, credit

    def timed_out(self, packet: Packet) -> Outgoing:
        """Put a packet among those to be sent again, one by one."""
        again = replace(packet, retries=min(packet.retries + 1, MOST_RETRIES))
        return replace(
            self,
            cwnd=1,
            ssthresh=self._half(),
            credit=0,
            dupacks=0,
            inflight=_without(self.inflight, {packet.seq}),
            rtbuf=_with(self.rtbuf, {packet.seq: again}),
        )

    def halved(self) -> Outgoing:
        """Narrow the window because a packet was lost, as duplicate acks tell."""
        half = self._half()
        return replace(self, cwnd=half, ssthresh=half, credit=0, dupacks=0)

    def _half(self) -> int:
        return max(self.cwnd // 2, LEAST_THRESHOLD)


@dataclass(frozen=True)
class Held:
    """A piece of a message that has arrived, until all of it can be delivered.

    Attributes
    ----------
    frag
        Which piece it is.
    nfrag, fragrecv
        Of the first piece, how many there are and how many were counted; else 0.
    """

    frag: int
    nfrag: int
    fragrecv: int
    message: Any


@dataclass(frozen=True)
class Incoming:
    """The end of a connection that receives.

    Attributes
    ----------
    first
        The number of its first packet.
    next, next_deliver
        The number that is expected next, and that of the next message to deliver.
    held
        The pieces that are not delivered yet, by number.
    repeats
        How often packets came again that are held beyond a gap, since there was the gap.
    expects_syn
        With the bug mt7, whether all that has no SYN is discarded.
    """

    first: int
    next: int
    next_deliver: int
    held: wl.FrozenMap[int, Held] = field(default_factory=wl.FrozenMap)
    repeats: int = 0
    expects_syn: bool = False

    def holding(self, segment: Segment) -> Incoming:
        """Put a piece among those held, and count it for its message."""
        seq, held = segment.seq, dict(self.held)
        if isinstance(segment, Fragment):
            held[seq] = Held(segment.frag, 0, 0, None)
            head = held.get(seq - segment.frag)
            if head is not None:
                more = replace(head, fragrecv=head.fragrecv + 1)
                held[seq - segment.frag] = more
        else:
            nfrag = segment.nfrag if isinstance(segment, DataFragment) else 1
            here = sum(seq + frag in held for frag in range(1, nfrag))
            held[seq] = Held(0, nfrag, here + 1, segment.message)
        return replace(self, held=wl.FrozenMap(held))

    def deliverable(self) -> Held | None:
        """Return the next message, by its first piece, if all of it is counted."""
        head = self.held.get(self.next_deliver)
        return head if head is not None and head.fragrecv >= head.nfrag else None

    def delivered(self, head: Held) -> Incoming:
        """Let go of the pieces of the next message."""
        end = self.next_deliver + head.nfrag
        gone = range(self.next_deliver, end)
        return replace(self, next_deliver=end, held=_without(self.held, gone))


def syn_of(segment: Segment) -> int:
    """Return the identifier of the connection that a segment begins; 0 if none."""
    return 0 if isinstance(segment, Fragment) else segment.syn
