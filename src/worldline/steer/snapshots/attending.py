"""What a keeper attends to in the messages of its node: numbers that go up by one.

Nearly all messages come in order, on the connection of the last one, and acknowledge what
was sent. These are counted here, with few calls, as the keeper and its channels count all
others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.usercode.running import Series
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
from worldline.worlds.attention import Attention
from worldline.worlds.companions import Effects, Instead


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

    heard: dict[int, tuple[int, Mapping[int, int]]]
    records: Mapping[int, MemberRecord]

    def noticed(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message."""


Vets: TypeAlias = Callable[
    [NodeId, Any, Effects, Series], "tuple[Event, Instead] | None"
]
"""Says what is to happen instead of a message that was handled; see `Attention.vet`."""


@final
class SnapshotAttention(Attention):
    """The attention of a keeper in one life of its node.

    Attributes
    ----------
    ears
        Who else hears of the numbers beside messages; None if nobody does.
    unchanged
        Says since when nothing has changed, beside messages to those with ears.
    vets
        What `vet` asks; None if nobody is to be asked.
    until
        The time at which what is known of neighbours is too old.
    """

    __slots__ = (
        *("_channels", "_connects", "_keeper", "_life", "_log"),
        *("ears", "unchanged", "until", "vets"),
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
        self.vets: Vets | None = None

    def begin(self, now: float) -> None:
        self.now = now
        if now > self.until:
            self.until, self.is_gated = math.inf, True

    def came(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        channel, said = self._channels.get(peer), numbers.get
        number = said(SENT, 0)
        if (
            channel is None
            or number != channel.received + 1
            or life != channel.life
            or said(CONNECTION, 0) != channel.at
            or said(RECEIVED_LIFE, 1) != self._life
            or said(NUMBER, 0) > self._log.number
            or self.now >= channel.looked + LOOK_S
            or channel.others
        ):
            self.is_due = True
            self._keeper.came(peer, life, numbers)
            if self.ears is not None:
                self.ears.noticed(peer, life, numbers)
                self.is_gated = True
            return
        channel.received, channel.last = number, self.now
        received, tail = said(RECEIVED, 0), channel.tail
        if received <= channel.sent:
            while tail and tail[0][0] <= received:
                tail.popleft()
        channel.untold += 1
        if channel.untold > MOST_UNTOLD:
            self._keeper.tell_peer(peer)
        ears = self.ears
        if ears is not None:
            record = ears.records.get(peer)
            if record is not None and (
                life != record.life or record.number < said(SINCE, math.inf)
            ):
                ears.noticed(peer, life, numbers)
                self.is_gated = True
            else:
                ears.heard[peer] = life, numbers

    def beside(self, to: int, part: str, message: Any) -> dict[int, int] | None:
        channel, number = self._channels.get(to), self._log.number
        if channel is None or channel.beside is None:
            self.is_due = True
            numbers = self._keeper.beside(to, part, message)
        else:
            channel.sent = sent = channel.sent + 1
            channel.last = now = self.now
            channel.tail.append((sent, part, message, None if self._connects else now))
            numbers = {NUMBER: number, SENT: sent}
            if channel.is_told and channel.received:
                channel.untold = 0
                numbers[RECEIVED] = channel.received
            if channel.beside:
                numbers |= channel.beside
        if self.ears is not None and self.unchanged is not None:
            unchanged = self.unchanged
            if unchanged.changed_at is None:
                numbers[SINCE] = unchanged.stands_since
            else:
                since = unchanged.since(number)
                if since is not None:
                    numbers[SINCE] = since
        return numbers

    def vet(
        self, src: NodeId, message: Any, effects: Effects, series: Series
    ) -> tuple[Event, Instead] | None:
        vets, unchanged = self.vets, self.unchanged
        refusal = None if vets is None else vets(src, message, effects, series)
        if refusal is not None:
            self.is_gated = True
        elif unchanged is not None:  # nobody asks about what is not watched
            unchanged.change(self._log.number)
        return refusal

    def passed(self) -> None:
        self.is_due = False
        self._keeper.passed()
