"""The datagrams of a node: one socket, one message each.

The socket is drained in each round of the loop: asyncio's own transport takes one datagram
a round, and three to eight times as long. Behind the packet stands a mark of eight bytes,
of what both ends must have alike and of the receiver; where there is a secret, a seal.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
from collections.abc import Callable, Sequence
from typing import Any, final

from worldline.deploy.counts import NodeCounts
from worldline.deploy.outlets import Outlets
from worldline.deploy.seal import TAG
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH, ControlFrame, MessageFrame
from worldline.trace.json_checks import Malformed

LARGEST_DATAGRAM = 65_000
"""Bytes of a message that goes in a datagram."""

_MARK = 8
_DRAINED = 64
_RETRY_S = 0.005
_BUFFER = 4 << 20


@final
class DatagramSocket:
    """The socket of a node.

    Parameters
    ----------
    sock
        It, bound and not blocking.
    outlets
        Take what comes in, and say what the weather is.
    """

    def __init__(
        self,
        sock: socket.socket,
        loop: asyncio.AbstractEventLoop,
        codec: Codec,
        index: int,
        incarnation: int,
        counts: NodeCounts,
        outlets: Outlets,
    ) -> None:
        self._loop, self._sock, self._codec = loop, sock, codec
        self._index, self._incarnation = index, incarnation
        self._counts, self._outlets = counts, outlets
        self._seal = outlets.seal
        nodes = range(len(codec.vocabulary.nodes))
        self._marks = [_mark(codec, node) for node in nodes]
        self._tail = _MARK if self._seal is None else TAG
        self._fallback: asyncio.DatagramTransport | None = None
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)

    def begin(self) -> None:
        """Take what comes from now on."""
        try:
            self._go_on()
        except NotImplementedError:  # a loop without readers, as on Windows
            self._opening = self._loop.create_task(self._fall_back())

    async def _fall_back(self) -> None:
        transport, _ = await self._loop.create_datagram_endpoint(
            lambda: _Fallback(self._take), sock=self._sock
        )
        self._fallback = transport

    def close(self) -> None:
        """Close the socket."""
        if self._fallback is not None:
            self._fallback.abort()
            return
        with contextlib.suppress(OSError, ValueError):
            self._loop.remove_reader(self._sock.fileno())
        self._sock.close()

    def send(self, packets: Sequence[tuple[int, bytes]]) -> None:
        """Send packets, each to the node of an index."""
        weather = self._outlets.weather
        if weather is None and self._seal is None and self._fallback is None:
            # What most hosts do, in place: most of the time of a datagram is the kernel's.
            put, marks, addresses = (
                self._sock.sendto,
                self._marks,
                self._outlets.addresses,
            )
            for to, packet in packets:
                try:
                    put(packet + marks[to], addresses[to])
                except OSError:  # full, or closed meanwhile: lost, as datagrams may be
                    self._counts.lost += 1
            return
        if weather is None:
            for to, packet in packets:
                self._send(to, packet)
            return
        for to, packet in packets:
            copies = weather.copies(self._index, to)
            if not copies:
                self._counts.lost += 1
            for delay in copies:
                if delay > 0:
                    self._loop.call_later(delay, self._send, to, packet)
                else:
                    self._send(to, packet)

    def control(self, to: int, companion: str, body: bytes) -> None:
        """Send a control frame."""
        packet = self._codec.control(self._index, self._incarnation, companion, body)
        self._counts.control_bytes += len(packet)
        weather = self._outlets.weather
        for delay in (0.0,) if weather is None else weather.copies(self._index, to):
            if delay > 0:
                self._loop.call_later(delay, self._send, to, packet)
            else:
                self._send(to, packet)

    # ------------------------------------------------------------------------ inside

    def _send(self, to: int, packet: bytes) -> None:
        if self._seal is None:
            data = packet + self._marks[to]
        else:
            data = packet + self._seal.datagram(self._index, to, packet)
        try:
            if self._fallback is None:
                self._sock.sendto(data, self._outlets.addresses[to])
            else:
                self._fallback.sendto(data, self._outlets.addresses[to])
        except OSError:  # full, or closed meanwhile: lost, as datagrams may be
            self._counts.lost += 1

    def _drain(self) -> None:
        if self._outlets.is_clogged():
            self._loop.remove_reader(self._sock.fileno())
            self._loop.call_later(_RETRY_S, self._go_on)
            return
        came: list[tuple[bytes, Any]] = []
        receive = self._sock.recvfrom
        for _ in range(_DRAINED):
            try:
                came.append(receive(1 << 16))
            except BlockingIOError:
                break
            except OSError:
                continue  # what was said of something that was sent earlier
        self._take(came)

    def _go_on(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.add_reader(self._sock.fileno(), self._drain)

    def _take(self, came: Sequence[tuple[bytes, Any]]) -> None:
        """Take datagrams, each with the address that it came from."""
        messages: list[tuple[bytes, MessageFrame]] = []
        read, tail, mark = self._codec.frame, self._tail, self._marks[self._index]
        is_open = self._seal is None
        for data, address in came:
            packet = data[:-tail]
            try:
                if int.from_bytes(packet[:LENGTH], "big") != len(packet) - LENGTH:
                    raise Malformed("", "no packet")
                # Before it is read: what has another digest may say anything.
                if not (data.endswith(mark) if is_open else self._opens(data, packet)):
                    self._refuse(address)
                    continue
                frame = read(packet[LENGTH:])
            except Malformed:
                self._counts.malformed += 1
                continue
            if type(frame) is MessageFrame:
                messages.append((packet, frame))
            elif type(frame) is ControlFrame:
                self._counts.control_bytes += len(data)
                self._outlets.heard(frame.sender, frame.companion, frame.body)
            else:
                self._counts.malformed += 1
        if messages:
            self._outlets.take(messages)

    def _opens(self, data: bytes, packet: bytes) -> bool:
        """Say whether a datagram comes from who it says it does."""
        assert self._seal is not None, "there is a secret"
        sender = self._codec.sender(packet[LENGTH:])
        return self._seal.opens(sender, self._index, packet, data[-self._tail :])

    def _refuse(self, address: Any) -> None:
        self._counts.refused += 1
        why = (
            "another secret, or other nodes or messages"
            if self._seal
            else "other nodes or messages, or another node"
        )
        self._outlets.refuse(f"{address[0]}:{address[1]}", why)


class _Fallback(asyncio.DatagramProtocol):
    """Hands on one datagram after the other, where a loop has no readers."""

    def __init__(self, take: Callable[[Sequence[tuple[bytes, Any]]], None]) -> None:
        self._hand_on = take

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._hand_on([(data, addr)])


def _mark(codec: Codec, receiver: int) -> bytes:
    said = codec.digest.raw + receiver.to_bytes(4, "big")
    return hashlib.blake2b(said, digest_size=_MARK).digest()
