"""Checkpoints that are gathered: the state of one node, and what it knows of its channels.

A consistent cut of a system with its channels needs no state of these: what is under way
from one node to another is what the first has sent, but for what the second has received.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.1: consistent neighbourhood snapshots,
after Manivannan and Singhal. There, what is under way is not captured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.semantics.hidden import PendingTimer


class UnreceivedMessage(NamedTuple):
    """A message that its receiver is not known to have received.

    Attributes
    ----------
    number
        Its place among all that the sender has sent to that peer in this life, from 1 on.
    """

    number: int
    part: str
    message: Any


class HeardEnd(NamedTuple):
    """The other end of a channel, as far as it was heard of.

    Attributes
    ----------
    life
        Of the peer.
    connection
        Which of the connections, as the peer counts those that it has lost.
    """

    life: int
    connection: int


@final
@dataclass(frozen=True, slots=True)
class ChannelRecord:
    """What a node knows of its channels with one peer, to it and from it.

    Attributes
    ----------
    connection
        How many connections with the peer it has lost in this life.
    sent
        The number of the last message to it in this life, 0 without one.
    tail
        Those of them that the peer is not known to have received, in order.
    heard
        The end from which the present connection's messages come; None before the first.
    closed
        The last end of a connection that was lost here, or forgotten in a reset; its
        connection is -1 where of the peer's life only messages outside connections, or
        none that say more, have come.
    received
        The number of the last message that was received in order from that life of the
        peer, and before which nothing is missing that may still come.
    others
        Numbers after that which were received, too, where messages overtake each other.
    life
        Of the peer, with which a connection is open; None without one.
    """

    connection: int
    sent: int
    tail: tuple[UnreceivedMessage, ...]
    heard: HeardEnd | None
    closed: HeardEnd | None
    received: int
    others: tuple[int, ...]
    life: int | None


@final
@dataclass(frozen=True, slots=True)
class MemberRecord:
    """A checkpoint of one node.

    Attributes
    ----------
    number
        That of the checkpoint.
    life
        Of the node.
    local
        The frozen fields, in the order of a state's column; those that are kept out of
        checkpoints have their first values.
    timers
        Those that are set, in order, each with its delay; sorted and with 0 if the
        system does not look at delays.
    positions, sequence
        Of its scripts, and of its sequence.
    waiting
        What came and waits for a guard: from whom, part, message.
    channels
        Those with each peer that it has had to do with, by its index.
    body
        All but the number as bytes, if it was spelt or read: then it need not be again.
    """

    number: int
    life: int
    local: Frozen
    timers: tuple[tuple[PendingTimer, float], ...]
    positions: tuple[int, ...]
    sequence: int
    waiting: tuple[tuple[NodeId, str, Any], ...]
    channels: Mapping[int, ChannelRecord]
    body: bytes | None = field(default=None, compare=False, repr=False)

    def under(self, number: int, body: bytes | None) -> MemberRecord:
        """Return the same checkpoint under a number, with its bytes."""
        return MemberRecord(
            number,
            self.life,
            self.local,
            self.timers,
            self.positions,
            self.sequence,
            self.waiting,
            self.channels,
            body,
        )


@final
@dataclass(frozen=True, slots=True)
class NeighbourhoodSnapshot:
    """A consistent cut through a node and its neighbours.

    Attributes
    ----------
    node
        Who gathered it.
    number
        Each checkpoint is the first of its node with this number or a greater one.
    time
        When that node took its own checkpoint, in seconds by its clock.
    members
        The checkpoints, by index; the nodes that are not there are absent.
    """

    node: int
    number: int
    time: float
    members: Mapping[int, MemberRecord]
