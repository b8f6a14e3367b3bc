"""What a keeper attends to in the messages of its node: numbers that go up by one.

Nearly all messages come in order, on the connection of the last one, and acknowledge what
was sent. These are counted here, with few calls, as the keeper and its channels count all
others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from struct import error as CannotPack  # noqa: N812 -- what it is called says nothing
from typing import Any, Protocol, final

from worldline.steer.snapshots.channels import (
    CONNECTION,
    LOOK_S,
    MOST_UNTOLD,
    NUMBER,
    RECEIVED,
    RECEIVED_LIFE,
    SENT,
    Channels,
)
from worldline.steer.snapshots.log import CheckpointLog
from worldline.steer.snapshots.records import MemberRecord
from worldline.steer.unchanged import SINCE, Unchanged
from worldline.trace.journal.frames import COUNTS, Extensions, numbers_of
from worldline.worlds.companions import Attention

_SMALL, _LARGE = COUNTS

READS = 8
"""Beside a message whose sender reads the short form of the numbers."""


class Keeps(Protocol):
    """The keeper, as its attention knows it."""

    def came(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of a message that comes, before it is handled."""

    def beside(self, to: int, part: str, message: Any) -> dict[int, int]:
        """Return the numbers beside a message that is sent."""

    def passed(self) -> None:
        """Take note that events have happened."""

    def tell_peer(self, peer: int) -> None:
        """Tell a peer what was received of it."""


class Ears(Protocol):
    """Who else hears what stands beside messages, in order to know what others know.

    Attributes
    ----------
    heard
        Of each peer, the life in which it sent what it sent last of all that has come, and
        the numbers beside that.
    records
        The checkpoints of peers that a message may put out of date.
    """

    heard: dict[int, tuple[int, Extensions | None]]
    records: Mapping[int, MemberRecord]

    def noticed(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message."""


@final
class SnapshotAttention(Attention):
    """The attention of a keeper in one life of its node.

    Attributes
    ----------
    ears
        Who else hears of the numbers beside messages; None if nobody does.
    unchanged
        Says since when nothing has changed, for those with ears; None if nobody has any.
    until
        The time at which what is known of neighbours is too old.
    """

    __slots__ = (
        *("_channels", "_connects", "_keeper", "_life", "_log"),
        *("ears", "unchanged", "until"),
    )

    def __init__(
        self,
        keeper: Keeps,
        channels: Channels,
        log: CheckpointLog,
        *,
        connects: bool,
    ) -> None:
        super().__init__()
        self._keeper, self._log, self._connects = keeper, log, connects
        self._channels, self._life = channels.by_peer, channels.life
        self.until = math.inf
        self.ears: Ears | None = None
        self.unchanged: Unchanged | None = None

    def begin(self, now: float) -> None:
        self.now = now
        if now > self.until:
            self.until, self.is_gated = math.inf, True

    def came(self, peer: int, life: int, beside: Extensions | None) -> None:
        channel, since = self._channels.get(peer), math.inf
        connection, in_life = 0, 1
        if type(beside) is bytes:
            if len(beside) == _LARGE.size:
                number, sent, received, since = _LARGE.unpack(beside)
            else:
                number, sent, received = _SMALL.unpack(beside)
        else:
            said = numbers_of(beside).get
            number, sent, received = said(NUMBER, 0), said(SENT, 0), said(RECEIVED, 0)
            connection, in_life = said(CONNECTION, 0), said(RECEIVED_LIFE, 1)
            since = said(SINCE, math.inf)
        if (
            channel is None
            or sent != channel.received + 1
            or life != channel.life
            or connection != channel.at
            or in_life != self._life
            or number > self._log.number
            or channel.others
        ):
            self._count(peer, life, beside)
            return
        channel.received, channel.last = sent, self.now
        if received <= channel.sent:
            tail = channel.tail
            while tail and tail[0][0] <= received:
                tail.popleft()
        if self.now >= channel.looked + LOOK_S:
            channel.forget(self.now)
        channel.untold += 1
        if channel.untold > MOST_UNTOLD:
            self._keeper.tell_peer(peer)
        ears = self.ears
        if ears is not None:
            record = ears.records.get(peer)
            if record is None or (record.number >= since and life == record.life):
                ears.heard[peer] = life, beside
            else:
                ears.noticed(peer, life, numbers_of(beside))
                self.is_gated = True

    def beside(self, to: int, part: str, message: Any) -> Extensions | None:
        channel, number = self._channels.get(to), self._log.number
        since, unchanged = None, self.unchanged
        if unchanged is not None:
            since = unchanged.stands_since
            if unchanged.changed_at is not None:
                since = unchanged.since(number)
        if channel is None or channel.beside is None:
            self.is_due = True
            numbers = self._keeper.beside(to, part, message)
            numbers[READS] = 1
        else:
            channel.sent = sent = channel.sent + 1
            channel.last = now = self.now
            channel.tail.append((sent, part, message, None if self._connects else now))
            received = channel.received if channel.is_told else 0
            if received:
                channel.untold = 0
            if channel.reads_counts and not channel.beside:
                try:
                    if since is None:
                        return _SMALL.pack(number, sent, received)
                    return _LARGE.pack(number, sent, received, since)
                except CannotPack:
                    pass  # of so many there is no room for the number
            numbers = {NUMBER: number, SENT: sent, RECEIVED: received, **channel.beside}
        if since is not None:
            numbers[SINCE] = since
        return numbers

    def changed(self) -> None:
        """Take note that something has changed that those with ears look at."""
        if self.unchanged is not None:
            self.unchanged.change(self._log.number)

    def passed(self) -> None:
        self.is_due = False
        self._keeper.passed()

    def _count(self, peer: int, life: int, beside: Extensions | None) -> None:
        """Take note of a message that tells something new besides its counts."""
        numbers, before = numbers_of(beside), self._channels.get(peer)
        was = 0 if before is None else before.life
        self.is_due = True
        self._keeper.came(peer, life, numbers)
        channel = self._channels[peer]
        if type(beside) is bytes or READS in numbers:
            channel.reads_counts = True
        elif life > was:
            channel.reads_counts = False
        if self.ears is not None:
            self.ears.noticed(peer, life, numbers)
            self.is_gated = True
