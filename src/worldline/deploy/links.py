"""The connections of a node: one with each peer, opened by the first message to it.

If both nodes open one, that of the node declared first stays. A connection that could not
be made, or broke, is heard of once at each end; what waited for it is lost then, and the
next message opens another.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import final

from worldline.deploy.connection import PeerConnection
from worldline.deploy.counts import NodeCounts
from worldline.deploy.link import PeerLink, current_task
from worldline.deploy.listener import ConnectionListener
from worldline.deploy.outlets import Outlets
from worldline.deploy.strangers import Strangers
from worldline.model.events import LOST, UNREACHABLE
from worldline.model.printable import one_line
from worldline.trace.journal.checkpoints import SavedConnection
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import ControlFrame, MessageFrame

_RETRY_S = 0.005
_PING = ""
"""The companion that control frames are for which say nothing but that somebody lives."""


@final
class Links:
    """The connections of a node in one of its lives.

    Attributes
    ----------
    ends
        This node's ends of those with each peer, by index. Who puts a message into a turn
        counts it there (`PeerLink.waiting`), before it is sent at the turn's end.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        codec: Codec,
        index: int,
        incarnation: int,
        counts: NodeCounts,
        outlets: Outlets,
    ) -> None:
        self._loop, self._codec, self._outlets = loop, codec, outlets
        self._me, self._incarnation, self._counts = index, incarnation, counts
        self.ends = [PeerLink(peer) for peer in range(len(codec.vocabulary.nodes))]
        expelled = "it has not proved who it is"
        self._strangers = Strangers(
            loop, outlets.limits.connect, lambda one: self._ended(one, expelled)
        )
        self._open: set[PeerConnection] = set()
        self._listener: ConnectionListener | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._is_over = self._has_begun = False
        if outlets.weather is not None:
            outlets.weather.on_change(self._release_all)

    def listen(self, sock: socket.socket) -> None:
        """Take connections that come to a socket, which is bound."""
        ssl = None if self._outlets.tls is None else self._outlets.tls.server
        self._listener = ConnectionListener(
            self._loop, sock, ssl, lambda: self._connection(None), self.ended
        )
        self._plan_sweep()

    def begin(self) -> None:
        """Take what comes from now on."""
        self._has_begun = True
        for stranger in self._strangers:
            stranger.resume_reading()

    def close(self, *, bye: bool) -> None:
        """Close all, with or without a word."""
        self._is_over = True
        if self._listener is not None:
            self._listener.close()
        if self._sweep is not None:
            self._sweep.cancel()
        for link in self.ends:
            self._stop_making(link)
            if link.connection is None:
                continue
            if bye:
                self._flush(link, by_force=True)
                link.connection.write([self._codec.bye(self._me, self._incarnation)])
                link.connection.close()
            else:
                link.connection.abort()
        for stranger in self._strangers:
            stranger.abort()

    async def closed_all(self) -> None:
        """Wait until the loop has closed what was closed; a second is enough."""
        end = self._loop.time() + 1.0
        while self._open and self._loop.time() < end:
            await asyncio.sleep(0)

    # ----------------------------------------------------------------- what is sent

    def send(self, packets: Sequence[tuple[int, bytes]]) -> None:
        """Send packets of messages, which are counted by now, each to the node of an index."""
        concerned = set()
        for to, packet in packets:
            self.ends[to].queue.append(packet)
            concerned.add(to)
        for to in concerned:
            link = self.ends[to]
            if link.connection is not None:
                self._flush(link)
            elif not link.is_being_made:
                self._make(to)

    def control(self, to: int, companion: str, body: bytes) -> None:
        """Send a control frame, if there is a connection; weather holds it back."""
        link, weather = self.ends[to], self._outlets.weather
        seconds: float | None = 0.0  # what is held back does not break a connection
        if weather is not None and companion != _PING:
            seconds = weather.hold(self._me, to)
        if link.connection is not None and seconds is not None:
            packet = self._codec.control(self._me, self._incarnation, companion, body)
            self._counts.control_bytes += len(packet)
            link.write_after(seconds, packet, self._loop)

    def break_(self, peer: int, *, is_new: bool) -> None:
        """Break the connection with a peer: both ends hear of it, of a new one the peer."""
        link = self.ends[peer]
        if link.connection is not None:
            link.connection.abort()
            self._lose(peer, LOST, "broken by a companion", is_heard=not is_new)

    def saved(self) -> tuple[SavedConnection, ...]:
        """Return what a checkpoint says of connections."""
        return tuple(
            SavedConnection(peer, link.connection is not None, link.sent, link.received)
            for peer, link in enumerate(self.ends)
            if link.sent or link.received or link.connection is not None
        )

    # ------------------------------------------------------ what connections tell

    def opened(self, connection: PeerConnection) -> None:
        """Take note that a connection is there; nothing is read before the node begins."""
        if self._is_over:
            connection.abort()
        elif not self._has_begun:
            connection.pause_reading()

    def welcomes(self, connection: PeerConnection) -> bool:
        """Say whether a connection that the peer is making may be the one with it."""
        peer = connection.peer
        assert peer is not None
        link = self.ends[peer]
        if self._is_over or not link.is_wanted(connection, self._me, self._incarnation):
            return False
        link.drop_coming()
        link.coming = connection
        return True

    def greeted(self, connection: PeerConnection) -> None:
        """Take the connection for the one with its peer."""
        self._strangers.discard(connection)
        peer = connection.peer
        assert peer is not None
        link = self.ends[peer]
        if connection is link.coming:
            link.coming, link.taken = None, connection.identity
        elif connection is not link.attempt or self._is_over:
            connection.abort()
            return
        else:
            # Whoever makes it may not have heard yet that it is made: a loop that is
            # stopped there closes it again.
            link.attempt = link.making = None
            link.drop_coming()
        link.unproved = 0
        if link.connection is not None:
            link.connection.abort()
            self._lose(peer, LOST, "it connects anew")
        self._adopt(link, connection)

    def took(
        self, connection: PeerConnection, messages: Sequence[tuple[bytes, MessageFrame]]
    ) -> None:
        """Hand on messages."""
        peer = connection.peer
        assert peer is not None
        link = self.ends[peer]
        if link.connection is not connection:
            return
        link.takes(len(messages), self._counts.events)
        self._outlets.take(messages)
        if self._outlets.is_clogged():
            connection.pause_reading()
            self._loop.call_later(_RETRY_S, self._go_on, connection)

    def told(self, connection: PeerConnection, frame: ControlFrame, size: int) -> None:
        """Hand on a control frame."""
        self._counts.control_bytes += size
        if frame.companion != _PING and connection.peer is not None:
            self._outlets.heard(connection.peer, frame.companion, frame.body)

    def yielded(self, connection: PeerConnection) -> None:
        """Wait for the connection that the peer has instead; or it leaves."""
        peer = connection.peer
        link = None if peer is None else self.ends[peer]
        if link is not None and link.attempt is connection:
            link.attempt = None  # until the deadline, the other one may come
            connection.abort()
        elif link is not None and peer is not None and link.connection is connection:
            connection.abort()
            self._lose(peer, LOST, "it has left")

    def refused(self, connection: PeerConnection, why: str, *, malformed: bool) -> None:
        """Count what is not as it should be; a connection that is open breaks."""
        peer, who = connection.peer, "a stranger"
        if malformed:
            self._counts.malformed += 1
        else:
            self._counts.refused += 1
        if peer is not None:
            who = self._codec.vocabulary.nodes[peer].name
        if not malformed:
            self._outlets.refuse(who, one_line(why))
        self._strangers.discard(connection)
        self._ended(connection, "it says what nobody understands" if malformed else why)

    def drained(self, connection: PeerConnection) -> None:
        """Go on writing."""
        for link in self.ends:
            if link.connection is connection:
                link.has_written()
                self._flush(link)

    def closed(self, connection: PeerConnection, why: str) -> None:
        """Take note that a connection is no more."""
        self._ended(connection, why)

    def ended(self, connection: PeerConnection) -> None:
        """Take note that nothing is left of a connection."""
        self._open.discard(connection)
        self._strangers.discard(connection)

    # ------------------------------------------------------------------------ inside

    def _connection(self, link: PeerLink | None) -> PeerConnection:
        """Return a new connection: to a peer, or one that was accepted."""
        made = PeerConnection(
            self,
            self._codec,
            self._outlets.seal,
            self._me,
            self._incarnation,
            *(() if link is None else (link.peer, link.attempts, link.taken)),
        )
        self._open.add(made)
        if link is None:
            self._strangers.add(made)
        return made

    def _make(self, peer: int) -> None:
        link, limit = self.ends[peer], self._outlets.limits.connect
        link.deadline = self._loop.call_later(limit, self._time_out, peer)
        link.making = self._loop.create_task(self._connect(peer))

    async def _connect(self, peer: int) -> None:
        link, tls = self.ends[peer], self._outlets.tls
        host, port = self._outlets.addresses[peer]
        link.attempts += 1
        made = link.attempt = self._connection(link)
        try:
            await self._loop.create_connection(
                lambda: made,
                host,
                port,
                ssl=None if tls is None else tls.client,
                server_hostname=None if tls is None else host,
            )
        except asyncio.CancelledError:
            self._open.discard(made)
            raise
        except OSError as error:
            self._open.discard(made)
            if link.attempt is made:
                self._lose(peer, UNREACHABLE, (error.strerror or str(error)).lower())

    def _time_out(self, peer: int) -> None:
        link = self.ends[peer]
        if link.attempt is not None:
            link.attempt.abort()
        limit = self._outlets.limits.connect
        self._lose(peer, UNREACHABLE, f"no hello within {limit:g} s")

    def _stop_making(self, link: PeerLink) -> None:
        if link.deadline is not None:
            link.deadline.cancel()
            link.deadline = None
        if link.attempt is not None:
            link.attempt.abort()
            link.attempt = None
        if link.making is not None and link.making is not current_task():
            link.making.cancel()
        link.making = None

    def _adopt(self, link: PeerLink, connection: PeerConnection) -> None:
        """Take a connection for the one with its peer."""
        self._stop_making(link)
        link.opens(connection)
        self._flush(link)

    def _ended(self, connection: PeerConnection, why: str) -> None:
        peer = connection.peer
        if peer is None or self._is_over:
            return
        link = self.ends[peer]
        if link.connection is connection:
            self._lose(peer, LOST, why)
        elif link.attempt is connection:
            self._lose(peer, UNREACHABLE, why)
        elif link.coming is connection:
            link.drop_coming()
            if link.waits and link.connection is None and not link.is_being_made:
                self._make(peer)

    def _lose(self, peer: int, kind: str, why: str, *, is_heard: bool = True) -> None:
        """Forget the connection with a peer, and what waits for it; let the node hear."""
        link = self.ends[peer]
        self._stop_making(link)
        self._counts.lost += link.forget()
        link.connection = None
        if is_heard and not self._is_over:
            self._outlets.hear(peer, kind, why)

    def _flush(self, link: PeerLink, *, by_force: bool = False) -> None:
        """Write what waits, unless weather or the other end holds it back."""
        connection = link.connection
        if connection is None or not link.waits:
            return
        weather = self._outlets.weather
        if weather is not None and not by_force:
            now = self._loop.time()
            for at in link.hold(lambda: weather.hold(self._me, link.peer), now):
                self._loop.call_at(at, self._flush, link)
            ready = link.ready(now)
        else:
            ready = link.all()
        if connection.is_paused and not by_force:
            link.queue.extendleft(reversed(ready))
            return
        if ready:
            link.writes(len(ready))
            connection.write(ready)
            if not connection.is_paused:
                link.has_written()

    # ----------------------------------------------------------------- the weather

    def _release_all(self) -> None:
        for link in () if self._is_over else self.ends:
            self._flush(link)

    def _go_on(self, connection: PeerConnection) -> None:
        if self._outlets.is_clogged():
            self._loop.call_later(_RETRY_S, self._go_on, connection)
        else:
            connection.resume_reading()

    # --------------------------------------------------------------------- silence

    def _plan_sweep(self) -> None:
        self._sweep = self._loop.call_later(self._outlets.limits.ping, self._look)

    def _look(self) -> None:
        """Give a sign of life on all connections, and lose those that give none."""
        limit, now = self._outlets.limits.silence, self._loop.time()
        for peer, link in enumerate(self.ends):
            connection = link.connection
            if connection is None:
                continue
            if now - connection.heard_at > limit:
                connection.abort()
                self._lose(peer, LOST, f"nothing heard for {limit:g} s")
            else:
                self.control(peer, _PING, b"")
        self._plan_sweep()
