"""One node's end of the connection with a peer, and the messages that wait for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from typing import final

from worldline.deploy.connection import PeerConnection

_MOST_UNPROVED = 3


@final
class PeerLink:
    """What a node knows of its connection with one peer.

    Attributes
    ----------
    peer
        Its index.
    connection
        The one that is open; None if none is.
    attempt
        The one that is being made, and what makes it.
    attempts
        How many have been made so far.
    coming
        One that the peer is making, as long as it has not proved who it is.
    unproved
        How many came in vain since one was open.
    taken
        The last one of the peer's that was the one: its incarnation, and the number.
    queue
        Packets that wait for it.
    waiting
        Messages for the peer that have not left this process.
    sent, received
        Messages, since the node's start.
    """

    __slots__ = (
        "_events",
        "_is_used",
        "attempt",
        "attempts",
        "coming",
        "connection",
        "deadline",
        "held",
        "making",
        "not_before",
        "peer",
        "queue",
        "received",
        "sent",
        "taken",
        "under_way",
        "unproved",
        "waiting",
    )

    def __init__(self, peer: int) -> None:
        self.peer = peer
        self.connection: PeerConnection | None = None
        self.attempt: PeerConnection | None = None
        self.attempts = 0
        self.coming: PeerConnection | None = None
        self.taken, self.unproved = (0, 0), 0
        self.making: asyncio.Task[None] | None = None
        self.deadline: asyncio.TimerHandle | None = None
        self.queue: deque[bytes] = deque()
        self.held: deque[tuple[float, bytes]] = deque()
        self.waiting = self.under_way = self.sent = self.received = 0
        self.not_before = 0.0
        self._is_used = False
        self._events: int | None = None

    @property
    def is_being_made(self) -> bool:
        """Whether it will be open, or fail to be, before long."""
        # Whoever replays hellos of the peer must not keep this node from making one.
        is_coming = self.coming is not None and self.unproved < _MOST_UNPROVED
        return self.deadline is not None or is_coming

    @property
    def waits(self) -> bool:
        """Whether packets wait for it."""
        return bool(self.queue or self.held)

    def is_wanted(self, offered: PeerConnection, me: int, incarnation: int) -> bool:
        """Say whether one that the peer is making is to be the one.

        If both nodes make one, that of the node declared first is. One that the peer
        began before it knew of the one that is open is not; one that it began since shows
        that the other is no more.

        Parameters
        ----------
        me, incarnation
            Of the node at this end.
        """
        latest = self.taken if self.coming is None else self.coming.identity
        if offered.identity <= latest:
            return False
        current = self.connection
        if current is None:
            return self.attempt is None or me > self.peer
        if offered.peer_incarnation != current.peer_incarnation:
            return offered.peer_incarnation > current.peer_incarnation
        known = incarnation, current.number
        return not current.is_ours or offered.peer_knows == known

    def drop_coming(self) -> None:
        """Close what the peer, or somebody in its name, began to make."""
        if self.coming is not None:
            self.coming.abort()
            self.coming = None
            self.unproved += 1

    def hold(self, delay: Callable[[], float | None], now: float) -> list[float]:
        """Let what is queued wait for as long as the weather says, in its order.

        Parameters
        ----------
        delay
            Returns for how long the next packet is held back; None while nothing goes.

        Returns
        -------
        list of float
            The times at which something is ready, later than now.
        """
        times = []
        while self.queue:
            seconds = delay()
            if seconds is None:
                break
            at = self.not_before = max(self.not_before, now + seconds)
            self.held.append((at, self.queue.popleft()))
            if at > now:
                times.append(at)
        return times

    def ready(self, now: float) -> list[bytes]:
        """Return the packets that have been held back for long enough."""
        ready = []
        while self.held and self.held[0][0] <= now:
            ready.append(self.held.popleft()[1])
        return ready

    def all(self) -> list[bytes]:
        """Return all packets that wait."""
        packets = [*self.queue]
        self.queue.clear()
        if self.held:
            packets = [*[packet for _, packet in self.held], *packets]
            self.held.clear()
        return packets

    def write_after(
        self, seconds: float, packet: bytes, loop: asyncio.AbstractEventLoop
    ) -> None:
        """Write a packet that is no message, if the connection lasts as long."""
        connection = self.connection
        assert connection is not None
        if seconds <= 0:
            connection.write([packet])
            return

        def write() -> None:
            if self.connection is connection:
                connection.write([packet])

        loop.call_later(seconds, write)

    def opens(self, connection: PeerConnection) -> None:
        """Take a connection, on which nothing has gone through yet."""
        self.connection, self._is_used, self._events = connection, False, None

    def takes(self, messages: int, events: int) -> None:
        """Note messages that have come.

        Parameters
        ----------
        events
            How many events the node has had before them.
        """
        self._is_used = self._is_used or self._events is not None
        self.received += messages
        self._events = events

    def is_new(self, events: int) -> bool:
        """Say whether the last event was the first message that came on a connection.

        Nothing was sent on it, either. So its end here is not open yet, as the model of
        streams has it.
        """
        return not self._is_used and self._events == events - 1

    def writes(self, messages: int) -> None:
        """Note messages that are being written."""
        self._is_used = True
        self.sent += messages
        self.under_way += messages

    def has_written(self) -> None:
        """Note that all that was written has left this process."""
        self.waiting -= self.under_way
        self.under_way = 0

    def forget(self) -> int:
        """Forget what waits; return how many messages did.

        What the present turn has reserved is sent at its end, and connects anew.
        """
        lost = len(self.all())
        self.has_written()
        self.waiting -= lost
        return lost


def current_task() -> asyncio.Task[object] | None:
    """Return the task that is running; None if none is."""
    with contextlib.suppress(RuntimeError):
        return asyncio.current_task()
    return None
