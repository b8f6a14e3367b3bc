"""One TCP connection between two nodes: packets in, packets out, and who is at its other end.

Each end says hello as soon as it is there; nothing else is taken before. Where there is a
secret, it says so a second time, sealed by what both have said (`seal`).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Sequence
from typing import Any, Protocol, cast, final

from worldline.deploy.rooms import room_of
from worldline.deploy.seal import TAG, Seal, StreamSeal, nonce
from worldline.deploy.tls import peer_names
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import (
    LARGEST,
    LENGTH,
    ByeFrame,
    ControlFrame,
    HelloFrame,
    MessageFrame,
)
from worldline.trace.json_checks import Malformed

LARGEST_HELLO = 1 << 18
"""Bytes of the first frames, from whoever may have sent them."""

_KNOWN = struct.Struct(">QQQ")

DIGEST = "digest"
"""The name of the control frame that says why a hello is refused: what the sender has."""


class Owner(Protocol):
    """The one that has connections: `Links`."""

    def opened(self, connection: PeerConnection) -> None:
        """Take note that a connection is there."""

    def welcomes(self, connection: PeerConnection) -> bool:
        """Say whether a connection that was accepted may be the one with its peer."""

    def greeted(self, connection: PeerConnection) -> None:
        """Take note that both ends have said who they are."""

    def took(
        self, connection: PeerConnection, messages: Sequence[tuple[bytes, MessageFrame]]
    ) -> None:
        """Take messages, each with its packet."""

    def told(self, connection: PeerConnection, frame: ControlFrame, size: int) -> None:
        """Take a control frame."""

    def yielded(self, connection: PeerConnection) -> None:
        """Take note that the peer has another connection instead, or leaves."""

    def refused(self, connection: PeerConnection, why: str, *, malformed: bool) -> None:
        """Take note that the other end is not what it should be."""

    def drained(self, connection: PeerConnection) -> None:
        """Take note that all that was written has left this process."""

    def closed(self, connection: PeerConnection, why: str) -> None:
        """Take note that the connection is no more, and not closed from this end."""

    def ended(self, connection: PeerConnection) -> None:
        """Take note that nothing is left of it, however it came to its end."""


@final
class PeerConnection(asyncio.BufferedProtocol):
    """A connection.

    Parameters
    ----------
    me, incarnation
        The node at this end.
    peer
        The index of the node that it was made to; None if it was accepted.
    number, known
        If it was made: how many have been made to that node; and which the last one was
        that was accepted from there, as `identity`.

    Attributes
    ----------
    peer, peer_incarnation
        The node at the other end, once that is known.
    number
        How many the end that made it has made to the other, in its incarnation.
    peer_knows
        What the peer gave as `known` when it made it.
    is_greeted
        Whether both ends have said who they are.
    is_paused
        Whether something that was written has not left this process.
    heard_at
        The time of the loop at which something came last.
    """

    def __init__(
        self,
        owner: Owner,
        codec: Codec,
        seal: Seal | None,
        me: int,
        incarnation: int,
        peer: int | None = None,
        number: int = 0,
        known: tuple[int, int] = (0, 0),
    ) -> None:
        self._owner, self._codec, self._seal = owner, codec, seal
        self._me, self._incarnation = me, incarnation
        self.peer, self.peer_incarnation = peer, 0
        self.is_greeted = self.is_paused = False
        self.is_ours = peer is not None
        self.heard_at = 0.0
        self._loop = asyncio.get_running_loop()
        self.number, self.peer_knows = number, (0, 0)
        # What is said of connections is sealed with the hello.
        self._extra = _KNOWN.pack(number, *known) + (b"" if seal is None else nonce())
        self._sealing: StreamSeal | None = None
        self._opening: StreamSeal | None = None
        self._transport: asyncio.Transport | None = None
        self._room = room_of(self._loop)
        self._rest = bytearray()
        self._need = 0
        self._is_over = False
        self._tail = 0 if seal is None else TAG

    @property
    def identity(self) -> tuple[int, int]:
        """The peer's incarnation, and the number of the connection, if the peer made it."""
        return self.peer_incarnation, self.number

    # ------------------------------------------------------------- as asyncio has it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The transports of uvloop are none by their class.
        self._transport = made = cast("asyncio.Transport", transport)
        self.heard_at = self._loop.time()
        made.set_write_buffer_limits(high=0)
        sock = made.get_extra_info("socket")
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.is_ours:
            self._say_hello()
        self._owner.opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.take(self._room[:nbytes].tobytes())

    def take(self, data: bytes) -> None:
        """Take what has come."""
        self.heard_at = self._loop.time()
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return
            data = bytes(self._rest)
            self._rest.clear()
        try:
            self._split(data)
        except Malformed as error:
            self._owner.refused(self, str(error), malformed=True)
            self.abort()

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False
        if not self._is_over:
            self._owner.drained(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.ended(self)
        if not self._is_over:
            self._is_over = True
            why = "closed by its other end" if exc is None else _reason(exc)
            self._owner.closed(self, why)

    # --------------------------------------------------------------- for their owner

    def write(self, packets: Sequence[bytes]) -> None:
        """Write packets."""
        if self._transport is None or self._is_over:
            return
        if self._sealing is not None:
            tag = self._sealing.tag
            packets = [packet + tag(packet) for packet in packets]
        self._transport.write(b"".join(packets))

    def pause_reading(self) -> None:
        """Take nothing more, until `resume_reading`."""
        if self._transport is not None and not self._is_over:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Go on taking what comes."""
        if self._transport is not None and not self._is_over:
            self._transport.resume_reading()

    def close(self) -> None:
        """Close it when all that was written has left; nobody is told of it any more."""
        self._is_over = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close it at once; nobody is told of it any more."""
        self._is_over = True
        if self._transport is not None:
            self._transport.abort()

    # ------------------------------------------------------------------------ inside

    def _say_hello(self) -> None:
        """Say who is at this end, to the peer that is known by now."""
        assert self.peer is not None
        assert self._transport is not None
        packet = self._hello()
        if self._seal is not None:
            packet += self._seal.hello(self._me, self.peer, packet)
        self._transport.write(packet)

    def _hello(self) -> bytes:
        assert self.peer is not None
        return self._codec.hello(self._me, self._incarnation, self.peer, self._extra)

    def _split(self, data: bytes) -> None:
        """Take the whole packets in some bytes, and keep what is left."""
        messages: list[tuple[bytes, MessageFrame]] = []
        at, size, tail, read = 0, len(data), self._tail, self._codec.frame
        while at + LENGTH <= size and not self._is_over:
            begin = at + LENGTH
            length = int.from_bytes(data[at:begin], "big")
            if length > (LARGEST if self.is_greeted else LARGEST_HELLO):
                raise Malformed("", f"a frame of {length} bytes")
            end = begin + length
            if end + tail > size:
                break
            packet, first = data[at:end], at
            at = end + tail
            opening = self._opening
            if opening is not None and not opening.opens(packet, data[end:at]):
                self._refuse_seal()
                return
            frame = read(data[begin:end])
            if type(frame) is MessageFrame and self.is_greeted:
                if (frame.sender, frame.incarnation) != (
                    self.peer,
                    self.peer_incarnation,
                ):
                    raise Malformed("", "a message of another node")
                messages.append((packet, frame))
                continue
            if messages:
                self._owner.took(self, messages)
                messages = []
            self._take(frame, packet, data[end:at], at - first)
        if messages:
            self._owner.took(self, messages)
        if at < size and not self._is_over:
            self._rest += data[at:]
            known = size - at >= LENGTH
            length = int.from_bytes(data[at : at + LENGTH], "big") if known else 0
            self._need = LENGTH + length + tail

    def _take(self, frame: Any, packet: bytes, tag: bytes, size: int) -> None:
        """Take a frame that is no message."""
        if type(frame) is HelloFrame and not self.is_greeted:
            self._greet(frame, packet, tag)
        elif type(frame) is ControlFrame and self.is_greeted:
            self._owner.told(self, frame, size)
        elif type(frame) is ControlFrame and frame.companion == DIGEST:
            self._explain(frame)
        elif type(frame) is ByeFrame:
            self._owner.yielded(self)
        else:
            raise Malformed("", "a frame where another is due")

    def _greet(self, hello: HelloFrame, packet: bytes, tag: bytes) -> None:
        if self._opening is not None:  # the second one, which nobody else can seal
            self._is_present()
            return
        if hello.digest != self._codec.digest.raw:
            self._refuse_digest()
            return
        if hello.receiver != self._me or hello.sender == self._me:
            self._owner.refused(self, "it looks for another node", malformed=False)
            self.abort()
            return
        if self.peer is not None and hello.sender != self.peer:
            self._owner.refused(self, "another node is there", malformed=False)
            self.abort()
            return
        if len(hello.extra) != len(self._extra) or not (
            self._seal is None
            or self._seal.opens_hello(hello.sender, self._me, packet, tag)
        ):
            self._refuse_seal()
            return
        if not self._is_certified(hello.sender):
            self._owner.refused(self, "its certificate names others", malformed=False)
            self.abort()
            return
        self.peer, self.peer_incarnation = hello.sender, hello.incarnation
        if not self.is_ours:
            self.number, *known = _KNOWN.unpack_from(hello.extra)
            self.peer_knows = known[0], known[1]
            if not self._owner.welcomes(self):
                self._decline()
                return
            self._say_hello()
        if self._seal is None:
            self._is_present()
            return
        mine = self._incarnation, self._extra
        theirs = hello.incarnation, hello.extra
        self._sealing = self._seal.stream(
            self._me, self.peer, mine[0], theirs[0], mine[1], theirs[1]
        )
        self._opening = self._seal.stream(
            self.peer, self._me, theirs[0], mine[0], theirs[1], mine[1]
        )
        self.write([self._hello()])

    def _is_certified(self, peer: int) -> bool:
        """Say whether the certificate of the other end, if it has one, names a node."""
        assert self._transport is not None
        connection = self._transport.get_extra_info("ssl_object")
        if connection is None:
            return True
        return self._codec.vocabulary.nodes[peer].name in peer_names(connection)

    def _is_present(self) -> None:
        self.is_greeted = True
        self._owner.greeted(self)

    def _decline(self) -> None:
        """Say that this end has another connection, and knows no more than that."""
        assert self._transport is not None
        said = self._codec.bye(self._me, self._incarnation)
        self._transport.write(said + bytes(self._tail))
        self.close()

    def _refuse_seal(self) -> None:
        self._owner.refused(self, "wrong secret", malformed=False)
        self.abort()

    def _refuse_digest(self) -> None:
        """Say what this end has, so that the other can say what differs."""
        self._owner.refused(self, "it has other nodes or messages", malformed=False)
        if self._transport is not None:
            body = self._codec.pack(list(self._codec.digest.lines))
            if len(body) < LARGEST_HELLO - 100:
                said = self._codec.control(0, 0, DIGEST, body)
                self._transport.write(said + bytes(self._tail))
        self.close()

    def _explain(self, frame: ControlFrame) -> None:
        """Say what differs at the end that has refused this one."""
        lines = self._codec.unpack(frame.body)
        if type(lines) is not list or not all(type(line) is str for line in lines):
            raise Malformed("", "a refusal without its reason")
        difference = self._codec.digest.difference(lines) or "nothing"
        self._owner.refused(self, f"it differs: {difference}", malformed=False)
        self.close()


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) else None
    return (said or str(error) or type(error).__name__).lower()
