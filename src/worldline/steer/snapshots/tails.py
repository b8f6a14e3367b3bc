"""The messages to a peer that it may not have received: those of a moment are kept together.

To keep each of them by itself would take as long as much else that is done about it. Its
number is known from that of the first one that was sent in the moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import final

from worldline.steer.snapshots.records import UnreceivedMessage
from worldline.worlds.companions import SendEntry

MOST_TAIL = 1024
"""Messages to one peer that are remembered; those before them count as received."""


@final
class Tail:
    """The messages to a peer, those of them that it is not known to have received.

    Attributes
    ----------
    last
        The last ones, in order of sending, to which others may be added.
    first
        The number of the first one of them.
    received
        The number up to which the peer has said that it has received them.
    """

    __slots__ = ("_kept", "_when", "first", "last", "received")

    def __init__(self) -> None:
        self.first, self.received = 1, 0
        self.last: list[SendEntry] = []
        self._when: float | None = None
        # With the number of the first one, and when they were sent, if they are datagrams.
        self._kept: deque[tuple[int, list[SendEntry], float | None]] = deque()

    @property
    def sent(self) -> int:
        """How many messages were sent."""
        return self.first + len(self.last) - 1

    def begin(self, when: float | None) -> list[SendEntry]:
        """Return what takes messages; the next one is added at once.

        Parameters
        ----------
        when
            When they are sent, if they are datagrams, which are not under way for ever.
        """
        last = self.last
        if last:
            if when is not None and when == self._when:
                return last
            if len(last) > MOST_TAIL:
                self._shorten()
            self.first += len(last)
            self.last = last = []
        self._drop()
        self._kept.append((self.first, last, when))
        self._when = when
        return last

    def acknowledge(self, number: int) -> None:
        """Take note that messages up to a number have been received."""
        if self.received < number <= self.sent:
            self.received = number

    def forget(self, before: float) -> None:
        """Forget what has been received, and datagrams that were sent before a time."""
        if not self._kept and not self.last:
            return
        self._shorten()
        self._drop()
        self._keep([one for one in self._kept if one[2] is None or one[2] >= before])

    def lose(self) -> None:
        """Forget what went over a connection."""
        self._keep([one for one in self._kept if one[2] is not None])

    def messages(self) -> tuple[UnreceivedMessage, ...]:
        """Return the messages."""
        sent = self.sent
        after = max(self.received, sent - MOST_TAIL)
        if after == sent:  # as between messages
            return ()
        return tuple(
            UnreceivedMessage(number, part, message)
            for first, some, _ in self._kept
            for number, (_, part, message, _) in enumerate(some, first)
            if number > after
        )

    def _keep(self, kept: Sequence[tuple[int, list[SendEntry], float | None]]) -> None:
        """Keep no others; nothing may be added any more to what is not kept."""
        if len(kept) < len(self._kept):
            self._kept = deque(kept)
        if not self._kept or self._kept[-1][1] is not self.last:
            self._end()

    def _drop(self) -> None:
        """Forget what has been received, or is too much."""
        kept, after = self._kept, self.first + len(self.last) - MOST_TAIL
        if after <= self.received:
            after = self.received + 1
        while kept and kept[0][0] + len(kept[0][1]) <= after:
            kept.popleft()

    def _end(self) -> None:
        self.first += len(self.last)
        self.last, self._when = [], None

    def _shorten(self) -> None:
        """Keep no more of the last ones than is remembered."""
        excess = len(self.last) - MOST_TAIL
        if excess > 0:
            del self.last[:excess]
            self.first += excess
            if self._kept:
                self._kept[-1] = self.first, *self._kept[-1][1:]
