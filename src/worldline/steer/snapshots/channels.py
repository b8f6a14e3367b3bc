"""Channels: what a node has sent to each peer and received from it, counted.

Messages under way cannot be seen. So each message carries its number, the number up to
which its sender has received the other direction, and on which connection it is; what a
node has sent and its peer has not received is then known from the two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, final

from worldline.model.network import Capability, members_of, number_of
from worldline.model.system import System
from worldline.steer.snapshots.options import MEMORY_S
from worldline.steer.snapshots.records import ChannelRecord, HeardEnd
from worldline.steer.snapshots.tails import Tail
from worldline.steer.unchanged import MOST_NUMBER
from worldline.worlds.companions import ToldPeers

NUMBER, RECEIVED, SENT, CONNECTION, RECEIVED_LIFE, LOOSE = range(1, 7)
"""The numbers beside a message: that of the sender's last checkpoint; of the last message
that it has received in order; of the message itself; of its connection, if not 0; the
life in which what was received was sent, if not 1; and 1 for a message outside connections
where the network has some."""

MOST_OTHERS = 64
"""Messages that were received early; what is missing before them counts as lost then."""

_MOST = MOST_NUMBER >> 1
"""Numbers from outside that are greater are lies: a checkpoint that says them, or after as
many messages a greater one, would be none to whoever reads it."""

MOST_UNTOLD = 32
"""Messages that are received before their sender is told so."""


NOWHERE = HeardEnd(0, -1)
"""The end of what comes outside connections, where nothing else was heard of a life."""


@final
class Carriers:
    """What a network does with the order of messages, and whether it has connections."""

    def __init__(self, system: System) -> None:
        network = system.network
        self._connects = [
            Capability.DISCONNECT in member.capabilities
            for member in members_of(network)
        ]
        self._network = network
        self.is_connected = any(self._connects)
        self.is_mixed = self.is_connected and not all(self._connects)

    def is_on_connection(self, part: str, message: Any) -> bool:
        """Say whether a message goes over a connection."""
        if not self.is_mixed:
            return self.is_connected
        return self._connects[number_of(self._network, part, type(message))]


LOOK_S = 1.0
"""Seconds between two looks for datagrams that are too old to be under way."""


class Attends(Protocol):
    """Who counts messages that come, many at once."""

    def settle(self) -> None:
        """Count those that have come, before somebody looks at the counts."""

    def lose(self) -> None:
        """Take nothing for granted of what comes next."""


@final
class Channel:
    """A node's ends of the two channels with one peer, in one life of the node.

    Attributes
    ----------
    last, looked
        When the last message went or came, and when somebody looked for what is too old.
    life
        That of the peer to whose messages `received` refers; 0 before the first.
    untold
        How many messages were received that the peer has not been told of.
    sent_before
        How many were sent to it when somebody last looked whether it has to be told.
    opened
        The life of the peer with which there was a connection when somebody last looked;
        None if it was lost since.
    beside
        What stands beside each message to the peer besides counts, as things are; None if
        that has to be found out.
    is_told
        Whether it stands there what was received.
    tail
        The messages that were sent, those of them that are remembered.
    reads
        What the peer reads: 0 a map of numbers only; 1 the short form of them as well; 2
        besides, messages that leave them out.
    told_changes
        Which version of what was heard of other nodes the peer has been told, in its present
        life and on the present connection.
    is_introduced
        Whether the peer, in its present life, has been told what this node reads.
    at
        The connection of `heard`, as long as messages that come on it tell nothing new but
        by their counts; -1 if they may.
    stale
        An end of an earlier life of the peer than the one that is heard; that it was lost
        is still to be heard of.
    """

    __slots__ = (
        "at",
        "beside",
        "closed",
        "connection",
        "heard",
        "is_introduced",
        "is_told",
        "last",
        "life",
        "looked",
        "opened",
        "others",
        "reads",
        "received",
        "sent_before",
        "stale",
        "tail",
        "told_changes",
        "untold",
    )

    def __init__(self) -> None:
        self.connection = self.received = self.untold = self.life = 0
        self.sent_before = self.reads = self.told_changes = 0
        self.tail = Tail()
        self.heard: HeardEnd | None = None
        self.closed: HeardEnd | None = None
        self.stale: HeardEnd | None = None
        self.opened: int | None = None
        self.others: dict[int, float] = {}
        self.last = self.looked = 0.0
        self.beside: dict[int, int] | None = None
        self.is_told, self.is_introduced, self.at = False, False, -1

    @property
    def sent(self) -> int:
        """How many messages were sent."""
        return self.tail.sent

    def record(self, life: int | None) -> ChannelRecord:
        """Return what a checkpoint says of it.

        Parameters
        ----------
        life
            Of the peer, if there is a connection with it.
        """
        self.look(life)
        heard, closed = self.heard, self.closed
        if self.life and self.life != (heard or closed or NOWHERE).life:
            heard, closed = None, HeardEnd(self.life, NOWHERE.connection)
        return ChannelRecord(
            self.connection,
            self.sent,
            self.tail.messages(),
            heard,
            closed,
            self.received,
            tuple(sorted(self.others)),
            life,
        )

    def look(self, life: int | None) -> None:
        """Take note of the life of the peer, if there is a connection with it."""
        if life is not None and self.opened is None:
            self.opened = life

    def hear(self, end: HeardEnd) -> None:
        """Take note of the end from which a message came over a connection."""
        if self.heard is not None and self.heard.life < end.life:
            self.stale = self.stale or self.heard
        elif self.heard is None and self.opened is not None and self.opened < end.life:
            self.stale = self.stale or HeardEnd(self.opened, NOWHERE.connection)
        self.heard = end

    def lose(self) -> None:
        """Take note that the connection is lost: the one of an earlier life first."""
        self.connection += 1
        self.tail.lose()
        self.closed = self.stale or self.heard or self.closed
        # After the error of an earlier life, the peer's end of this one is open still; but
        # it would close without a word.
        self.opened = self.stale = self.heard = None
        self.beside, self.is_introduced, self.at = None, False, -1
        self.told_changes = 0

    def forget(self, now: float) -> None:
        """Forget datagrams that were sent long ago, and what was missing for long."""
        before = now - MEMORY_S
        if now >= self.looked + LOOK_S:
            self.looked = now
            self.tail.forget(before)
        while self.others:
            first = min(self.others)
            if self.others[first] >= before and len(self.others) <= MOST_OTHERS:
                break
            self._go_on(first)

    def come(self, number: int, now: float) -> None:
        """Count a message that may have overtaken others."""
        if number == self.received + 1:
            self._go_on(number)
        elif number > self.received and number not in self.others:
            self.others[number] = now
            if len(self.others) > MOST_OTHERS:
                self.forget(now)

    def _go_on(self, number: int) -> None:
        """Count all up to a number as received or lost, and what follows it."""
        self.received = number
        while self.received + 1 in self.others:
            self.received += 1
        for early in [one for one in self.others if one <= self.received]:
            del self.others[early]


@final
class Channels:
    """The channels of one node.

    They are kept from one life of the node to the next as far as the peer's ends are
    concerned: who connects anew is to know that it does.

    Attributes
    ----------
    life
        Of the node.
    by_peer
        The channels, by the index of the peer.
    attends
        Who counts messages of the present life; None if all are counted here.
    told
        Of `Attention`: a node is told all again once something else is to be said.
    """

    def __init__(self, carriers: Carriers) -> None:
        self._carriers = carriers
        self.by_peer: dict[int, Channel] = {}
        self.life = 0
        self.attends: Attends | None = None
        self.told: ToldPeers = {}

    def begin(self, life: int) -> None:
        """Begin a life of the node."""
        self.settle()
        self.attends, self.life = None, life
        self.told.clear()
        for peer in list(self.by_peer):
            before, after = self.by_peer[peer], Channel()
            if self._carriers.is_connected:
                after.closed = before.heard or before.closed
            else:
                after.heard = before.heard
            after.received, after.others = before.received, before.others
            after.life, after.last = before.life, before.last
            self.by_peer[peer] = after

    def of(self, peer: int) -> Channel:
        """Return the channels with a peer."""
        self.settle()
        channel = self.by_peer.get(peer)
        if channel is None:
            channel = self.by_peer[peer] = Channel()
        return channel

    def items(self) -> Iterator[tuple[int, Channel]]:
        """Iterate over peers and channels."""
        self.settle()
        return iter(self.by_peer.items())

    def settle(self) -> None:
        """Count what has come."""
        if self.attends is not None:
            self.attends.settle()

    def send(self, peer: int, part: str, message: Any, now: float) -> dict[int, int]:
        """Count a message that is sent; return the numbers beside it."""
        channel, carriers = self.of(peer), self._carriers
        channel.last = now
        connected = carriers.is_on_connection(part, message)
        self.told.pop(peer, None)
        sent = channel.tail.begin(None if connected else now)
        sent.append((None, part, message, True))
        numbers = {SENT: channel.sent}
        if channel.connection:
            numbers[CONNECTION] = channel.connection
        if carriers.is_mixed and not connected:
            numbers[LOOSE] = 1
        if self._is_told(channel) and channel.received:
            numbers[RECEIVED] = channel.received
            if channel.life != 1:
                numbers[RECEIVED_LIFE] = channel.life
            channel.untold = 0
        self._foresee(channel)
        return numbers

    def receive(
        self, peer: int, life: int, numbers: Mapping[int, int], now: float
    ) -> None:
        """Count a message that comes, by the numbers beside it."""
        channel = self.of(peer)
        channel.last = now
        self.acknowledge(
            peer, numbers.get(RECEIVED_LIFE, 1), numbers.get(RECEIVED, 0), now
        )
        number, connection = numbers.get(SENT), numbers.get(CONNECTION, 0)
        if number is None or max(number, connection, life) > _MOST:
            return
        if life < channel.life:
            return  # one that overtook the end of its sender's life
        if life > channel.life:
            channel.life, channel.received = life, 0
            channel.others.clear()
        if not numbers.get(LOOSE):
            channel.hear(HeardEnd(life, connection))
        if self._carriers.is_connected and not self._carriers.is_mixed:
            channel.received = max(channel.received, number)
        else:
            channel.come(number, now)
        channel.untold += 1
        self._foresee(channel)

    def acknowledge(self, peer: int, life: int, number: int, now: float) -> None:
        """Take note that a peer has received what was sent in a life, up to a number."""
        channel = self.of(peer)
        if life == self.life:
            channel.tail.acknowledge(number)
        self._forget(peer, channel, now)

    def untold(self, peer: int) -> tuple[int, int] | None:
        """Return what to tell a peer that was received: in its life, up to a number."""
        self.settle()
        channel = self.by_peer.get(peer)
        if channel is None or not channel.untold:
            return None
        channel.untold = 0
        return (channel.life, channel.received) if self._is_told(channel) else None

    def _is_told(self, channel: Channel) -> bool:
        """Say whether a peer can know what it is told: its life may be over."""
        if not self._carriers.is_connected:
            return channel.life > 0
        return channel.heard is not None and channel.heard.life == channel.life

    def _foresee(self, channel: Channel) -> None:
        """Prepare for messages that go and come as the last one did, as nearly all do."""
        carriers = self._carriers
        if carriers.is_mixed:
            return
        channel.beside = {}
        if channel.connection:
            channel.beside[CONNECTION] = channel.connection
        channel.is_told = is_told = self._is_told(channel)
        if is_told and channel.life != 1:
            channel.beside[RECEIVED_LIFE] = channel.life
        heard, channel.at = channel.heard, -1
        is_open = not carriers.is_connected or channel.opened is not None
        if heard is not None and heard.life == channel.life and is_open:
            channel.at = heard.connection

    def lose(self, peer: int) -> None:
        """Take note that the connection with a peer is lost."""
        self.of(peer).lose()
        self.told.pop(peer, None)
        if self.attends is not None:
            self.attends.lose()

    def forget(self, now: float) -> None:
        """Forget what is too old to matter."""
        self.settle()
        for peer, channel in self.by_peer.items():
            self._forget(peer, channel, now)

    def _forget(self, peer: int, channel: Channel, now: float) -> None:
        last = channel.tail.last
        channel.forget(now)
        if channel.tail.last is not last:  # nothing may be added to it any more
            self.told.pop(peer, None)
