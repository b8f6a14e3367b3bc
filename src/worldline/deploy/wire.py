"""The wire below a node's sends: datagrams, connections, or the node itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, final

from worldline.deploy.counts import NodeCounts
from worldline.deploy.datagrams import LARGEST_DATAGRAM, DatagramSocket
from worldline.deploy.links import Links
from worldline.deploy.outlets import Messages
from worldline.deploy.turn import Leaving
from worldline.model.errors import ModelError
from worldline.model.network import Capability, carrier, members_of
from worldline.model.system import System
from worldline.trace.journal.checkpoints import SavedConnection
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH, MessageFrame


def is_of_streams(network: Any) -> bool:
    """Say whether a network, which is not one of several, has connections."""
    return Capability.DISCONNECT in network.capabilities


@final
class Wire:
    """The way of the messages of one node, in one of its lives.

    Attributes
    ----------
    socket, links
        For datagrams, and for streams; None where no message of the system needs them.
    breaking
        The peers, by index, the connections with which break in this round of the loop: what
        comes on them is lost.
    take
        Takes the messages of the node to itself.
    """

    def __init__(
        self,
        system: System,
        index: int,
        loop: asyncio.AbstractEventLoop,
        codec: Codec,
        take: Callable[[Messages], None],
        counts: NodeCounts,
    ) -> None:
        self._system, self._index, self._loop = system, index, loop
        self._codec, self._take = codec, take
        members = members_of(system.network)
        streamed = [is_of_streams(member) for member in members]
        self._always = streamed[0] if len(set(streamed)) == 1 else None
        self._buffer = system.network.buffer
        self._own = 0
        self._counts = counts
        self.breaking: set[int] = set()
        self._streamed: dict[tuple[str, type], bool] = {}
        self.socket: DatagramSocket | None = None
        self.links: Links | None = None

    def begin(self) -> None:
        """Take what comes from now on."""
        if self.links is not None:
            self.links.begin()
        if self.socket is not None:
            self.socket.begin()

    def put(
        self, leaving: Leaving, to: int, part: str, message: Any, packet: bytes
    ) -> None:
        """Give a packet to what leaves at the end of the turn.

        Raises
        ------
        ModelError
            If it is a datagram, and too large for one.
        """
        if to == self._index:
            self._own += 1
            leaving.own.append(packet)
        elif self._always or (
            self._always is None and self._is_streamed(part, message)
        ):
            assert self.links is not None
            self.links.ends[to].waiting += 1
            leaving.streamed.append((to, packet))
        else:
            if len(packet) > LARGEST_DATAGRAM:
                raise ModelError(
                    f"a {type(message).__qualname__} has {len(packet):,} bytes, and a "
                    f"datagram holds {LARGEST_DATAGRAM:,}",
                    remedy="send it over wl.streams(), or in pieces",
                )
            leaving.datagrams.append((to, packet))

    def leave(self, leaving: Leaving) -> None:
        """Send what a turn has brought about."""
        if leaving.datagrams and self.socket is not None:
            self.socket.send(leaving.datagrams)
        if leaving.streamed and self.links is not None:
            self.links.send(leaving.streamed)
        if leaving.own:
            self._loop.call_soon(self._come_back, leaving.own)

    def is_full(self, to: int, taken: int) -> bool:
        """Say whether the buffer to a node is full, with so many more messages in it."""
        if self._buffer is None:
            return False
        if to == self._index:
            return self._own + taken >= self._buffer
        waiting = 0 if self.links is None else self.links.ends[to].waiting
        return waiting + taken >= self._buffer

    def control(self, to: int, companion: str, body: bytes) -> None:
        """Send a control frame; it may be lost."""
        if self.links is not None:
            self.links.control(to, companion, body)
        elif self.socket is not None:
            self.socket.control(to, companion, body)

    def break_connection(self, peer: int) -> None:
        """Break the connection with a peer, if there are connections.

        What came on it behind the message that is refused is lost with it.
        """
        if self.links is not None:
            self.breaking.add(peer)
            is_new = self.links.ends[peer].is_new(self._counts.events)
            self._loop.call_soon(self._break, self.links, peer, is_new)

    def is_breaking(self, frame: MessageFrame) -> bool:
        """Say whether a message came on one of the connections that break."""
        return frame.sender in self.breaking and (
            self._always or self._is_streamed(frame.part, frame.message)
        )

    def life_of(self, peer: int) -> int | None:
        """Return the life of a peer with which a connection is open; None without one."""
        connection = None if self.links is None else self.links.ends[peer].connection
        return None if connection is None else connection.peer_incarnation

    def connections(self) -> tuple[SavedConnection, ...]:
        """Return what a checkpoint says of connections."""
        return () if self.links is None else self.links.saved()

    def close(self, *, bye: bool) -> None:
        """Close all sockets, with or without a word."""
        if self.links is not None:
            self.links.close(bye=bye)
        if self.socket is not None:
            self.socket.close()

    async def closed(self) -> None:
        """Wait until the loop has closed what was closed."""
        if self.links is not None:
            await self.links.closed_all()

    def _break(self, links: Links, peer: int, is_new: bool) -> None:
        self.breaking.discard(peer)
        links.break_(peer, is_new=is_new)

    def _is_streamed(self, part: str, message: Any) -> bool:
        key = part, type(message)
        streamed = self._streamed.get(key)
        if streamed is None:
            streamed = is_of_streams(carrier(self._system.network, *key))
            self._streamed[key] = streamed
        return streamed

    def _come_back(self, packets: list[bytes]) -> None:
        """Take messages to itself, decoded like all others."""
        self._own -= len(packets)
        messages = []
        for packet in packets:
            frame = self._codec.frame(packet[LENGTH:])
            assert type(frame) is MessageFrame
            messages.append((packet, frame))
        self._take(messages)
