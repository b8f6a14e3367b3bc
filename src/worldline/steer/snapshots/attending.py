"""What a keeper attends to in the messages of its node: numbers that go up by one.

Nearly all messages come in order, on the connection of the last one, and acknowledge what
was sent. These are counted here, with few calls, as the keeper and its channels count all
others.

Of the messages to one peer in a thousandth of a second, the first says all there is to say.
Where messages come in order and none is lost, as over a connection, the others say nothing:
they are counted when somebody looks. Datagrams say which they are. The next one says all
again if there is something else to be said, as when a checkpoint has another number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import count, repeat
from struct import error as CannotPack  # noqa: N812 -- what it is called says nothing
from typing import Any, Protocol, final

from worldline.steer.changes import NO_NEWS
from worldline.steer.snapshots.channels import (
    CONNECTION,
    LOOK_S,
    MOST_UNTOLD,
    NUMBER,
    RECEIVED,
    RECEIVED_LIFE,
    SENT,
    Channel,
    Channels,
)
from worldline.steer.snapshots.ears import Ears
from worldline.steer.snapshots.log import CheckpointLog
from worldline.steer.unchanged import SINCE, Unchanged
from worldline.trace.journal.frames import COUNTS, Extensions, in_one, numbers_of
from worldline.worlds.companions import Attention

_SMALL, _LARGE = COUNTS

_SIZE = _SMALL.size

_SILENT_S = 0.001
"""Seconds for which a peer is not told again what was received of it: as long, what it has
sent may be taken for under way when its checkpoint is spelt."""

READS = 8
"""Beside a message whose sender reads more than a map of the numbers: which, of these."""

SHORT, SILENCE = 1, 2
"""The short form of the numbers; and that messages after one that says them need not."""


_nothing = repeat(None).__next__
"""Returns None, without a frame of Python's."""


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
        *("_channels", "_connects", "_counted", "_heard", "_keeper", "_life"),
        *("_log", "_me", "_next", "ears", "unchanged", "until"),
    )

    def __init__(
        self,
        keeper: Keeps,
        channels: Channels,
        log: CheckpointLog,
        me: int,
        *,
        connects: bool,
    ) -> None:
        super().__init__()
        self._keeper, self._log, self._connects = keeper, log, connects
        self._me = me
        self._channels, self._life = channels.by_peer, channels.life
        self.told, channels.attends = channels.told, self
        # Of `arrivals`, those that have been counted; and for whom others are.
        self._counted, self._heard = 0, Channel()
        self.until = self._next = math.inf
        self.ears: Ears | None = None
        self.unchanged: Unchanged | None = None

    def begin(self, now: float) -> None:
        self.now = now
        if now > self._next:
            self.told.clear()
            self._next = math.inf
        if now > self.until:
            self.until, self.is_gated = math.inf, True

    def came(self, peer: int, life: int, beside: Extensions | None) -> None:
        arrived, channel = self.arrivals.received, self._heard
        if type(beside) is bytes and (
            peer == self.quiet or (self.following >= 0 and peer == self.sender)
        ):
            since: float = math.inf
            if len(beside) == _SIZE:
                number, sent, received = _SMALL.unpack(beside)
            else:
                number, sent, received, since = _LARGE.unpack(beside)
            new = arrived - self._counted
            if (
                sent == channel.received + new
                and life == channel.life
                and number <= self._log.number
                and self._life == 1  # no other is meant by these numbers
                and not (channel.at or channel.others)
                and self.now < channel.looked + LOOK_S
            ):
                self._counted, channel.received = arrived, sent
                channel.last = self.now
                tail = channel.tail
                if tail.received < received < tail.first + len(tail.last):
                    tail.received = received
                channel.untold += new
                if channel.untold > MOST_UNTOLD:
                    self._tell(peer, channel)
                if not self._connects:
                    said = None if since == math.inf else int(since)
                    self.following = in_one(number, sent + 1, said)
                if self.ears is not None:
                    self._listen(peer, life, beside, number, since)
                return
        self._came(peer, life, beside, arrived)

    def beside(self, to: int, part: str, message: Any) -> Extensions | None:
        channel, number = self._channels.get(to), self._log.number
        since, unchanged = None, self.unchanged
        if unchanged is not None:
            since = unchanged.stands_since
            if unchanged.changed_at is not None:
                since = unchanged.since(number)
        if channel is None or channel.beside is None:
            numbers = self._introduced(to, part, message)
        else:
            if channel is self._heard:
                self._settle(self.arrivals.received)
            tail, channel.last, received = channel.tail, self.now, 0
            last = tail.begin(None if self._connects else self.now)
            last.append((None, part, message, True))
            sent = tail.first + len(last) - 1
            if channel.is_told:
                received, channel.untold = channel.received, 0
            news = NO_NEWS if self.ears is None else self._news(to, channel)
            if channel.reads == SILENCE and (self._connects or not news):
                self._be_silent(to, channel, number, sent, since)
            if channel.reads and channel.is_introduced and not (channel.beside or news):
                try:
                    if since is None:
                        return _SMALL.pack(number, sent, received)
                    return _LARGE.pack(number, sent, received, since)
                except CannotPack:
                    pass  # of so many there is no room for the number
            numbers = {NUMBER: number, SENT: sent, RECEIVED: received, **channel.beside}
            numbers |= news
            if not channel.is_introduced:
                numbers[READS], channel.is_introduced = SILENCE, True
        if since is not None:
            numbers[SINCE] = since
        return numbers

    def _introduced(self, to: int, part: str, message: Any) -> dict[int, int]:
        """Return the numbers beside a message to a peer that is told all there is."""
        self.is_due = True
        numbers = self._keeper.beside(to, part, message)
        numbers[READS] = SILENCE
        self._channels[to].is_introduced = True
        if self.ears is not None:
            numbers |= self.ears.changes.numbers(to)
        return numbers

    def _news(self, to: int, channel: Channel) -> Mapping[int, int]:
        """Return what to tell a peer of others: once on a connection, or with each datagram."""
        assert self.ears is not None
        changes = self.ears.changes
        news = changes.numbers(to, channel.told_changes)
        if self._connects:
            channel.told_changes = changes.version
        return news

    def settle(self) -> None:
        """Count the messages that were not told, before somebody looks at the counts."""
        self._settle(self.arrivals.received)

    def lose(self) -> None:
        """Take nothing for granted of what comes next."""
        self.quiet = self.following = -1

    def changed(self) -> None:
        """Take note that something has changed that those with ears look at."""
        unchanged = self.unchanged
        if unchanged is not None and unchanged.changed_at != self._log.number:
            unchanged.change(self._log.number)

    def passed(self) -> None:
        self.is_due = False
        self._keeper.passed()

    def _came(
        self, peer: int, life: int, beside: Extensions | None, arrived: int
    ) -> None:
        """Take note of a message, as one of `arrived`."""
        if self.quiet >= 0 or self.following >= 0:
            self._settle(arrived - 1)
        channel, since = self._channels.get(peer), math.inf
        connection, in_life, received = 0, self._life, 0
        if type(beside) is bytes:
            in_life = 1
            if len(beside) == _SIZE:
                number, sent, received = _SMALL.unpack(beside)
            else:
                number, sent, received, since = _LARGE.unpack(beside)
        elif beside is None and channel is not None and self._knows(channel, life):
            self.quiet, self._heard, self._counted = peer, channel, arrived - 1
            return
        else:
            said = numbers_of(beside).get
            number, sent, received = said(NUMBER, 0), said(SENT, 0), said(RECEIVED, 0)
            since, connection = said(SINCE, math.inf), said(CONNECTION, 0)
            if type(beside) is not int:
                in_life = said(RECEIVED_LIFE, 1)
        self._counted = arrived
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
        tail = channel.tail
        if tail.received < received < tail.first + len(tail.last):
            tail.received = received
        if self.now >= channel.looked + LOOK_S:
            self.told.pop(peer, None)
            channel.forget(self.now)
        channel.untold += 1
        if channel.untold > MOST_UNTOLD:
            self._tell(peer, channel)
        self._expect(peer, channel, number, since)
        if self.ears is not None:
            self._listen(peer, life, beside, number, since)

    def _be_silent(
        self, to: int, channel: Channel, number: int, sent: int, since: int | None
    ) -> None:
        """Say no more to a peer for a while than is said with a message of these numbers."""
        keep = channel.tail.last.append
        if not self._connects:
            following = in_one(number, sent + 1, since)
            if following >= 0:
                self.told[to] = keep, count(following).__next__
        # What it was last told is known to come before all else on the connection, but
        # for messages to itself, which go over none.
        elif channel.is_told and to != self._me:
            self.told[to] = keep, _nothing
        if self._next == math.inf:
            self._next = self.now + _SILENT_S

    def _tell(self, peer: int, channel: Channel) -> None:
        """Tell a peer what was received, unless it soon is with what is sent to it."""
        if channel.reads == SILENCE and channel.sent != channel.sent_before:
            channel.sent_before = channel.sent
        else:
            self._keeper.tell_peer(peer)

    def _listen(
        self,
        peer: int,
        life: int,
        beside: Extensions | None,
        number: int,
        since: float,
    ) -> None:
        """Let those with ears hear what stands beside a message."""
        ears = self.ears
        assert ears is not None
        record = ears.records.get(peer)
        if type(beside) is dict or not (
            record is None or (record.number >= since and life == record.life)
        ):
            self._notice(ears, peer, life, numbers_of(beside))
            return
        ears.heard[peer] = life, beside
        changed = number if since == math.inf else min(int(since) - 1, number)
        if ears.changes.heard_of(peer, life, changed):
            self.told.clear()

    def _notice(
        self, ears: Ears, peer: int, life: int, numbers: Mapping[int, int]
    ) -> None:
        """Let those with ears hear numbers that may tell them something new."""
        before = ears.changes.version
        ears.noticed(peer, life, numbers)
        if ears.changes.version != before:
            self.told.clear()  # as others are to be told, too
        self.is_gated = self.is_gated or ears.has_to_learn

    def _count(self, peer: int, life: int, beside: Extensions | None) -> None:
        """Take note of a message that tells something new besides its counts."""
        self.quiet, self.following, self.is_due = -1, -1, True
        self.told.pop(peer, None)
        numbers, before = numbers_of(beside), self._channels.get(peer)
        was = 0 if before is None else before.life
        self._keeper.came(peer, life, numbers)
        channel = self._channels[peer]
        if READS in numbers:
            channel.reads = min(numbers[READS], SILENCE)
        elif type(beside) is int:
            channel.reads = SILENCE
        elif type(beside) is bytes:
            channel.reads = max(channel.reads, SHORT)
        elif life > was:
            channel.reads = 0
        if life > was:
            channel.is_introduced, channel.told_changes = False, 0
        if beside is not None and self._knows(channel, life):
            self.quiet, self._heard = peer, channel
        if self.ears is not None:
            self._notice(self.ears, peer, life, numbers)
            self.is_gated = True

    def _knows(self, channel: Channel, life: int) -> bool:
        """Say whether a message with nothing beside it is the next one of a channel."""
        return (
            self._connects
            and channel.reads == SILENCE
            and channel.at >= 0
            and life == channel.life
        )

    def _expect(self, peer: int, channel: Channel, number: int, since: float) -> None:
        """Take for granted what comes next, if it does in order, and need not be told of it."""
        if not self._connects:
            self.sender, self.life = peer, channel.life
            said = None if since == math.inf else int(since)
            self.following = in_one(number, channel.received + 1, said)
        elif channel.reads == SILENCE:
            self.quiet = peer
        else:
            return
        self._heard = channel

    def _settle(self, arrived: int) -> None:
        """Count messages that were not told, up to one of all that have arrived."""
        new = arrived - self._counted
        if new and (self.quiet >= 0 or self.following >= 0):
            channel = self._heard
            channel.received += new
            channel.untold += new
            channel.last = self.now
        self._counted = arrived
