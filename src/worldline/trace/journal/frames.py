"""Frames: what a host sends to another, and packets: frames with their length before them.

A message's frame is named by its sender, the sender's incarnation, the Lamport time of
the event that sent it, and its place among that event's sends. Packets are the same on a
connection, in a datagram and in a journal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

from worldline.trace.json_checks import Malformed

HELLO, MESSAGE, CONTROL, BYE, NAMED = range(5)

LENGTH = 4
"""Bytes of a packet before its frame: how long that is, big end first."""

LARGEST = 16 << 20
"""Bytes of a frame."""


MOST_LAMPORT, MOST_SENDS = 1 << 44, 1 << 20
"""Lamport times, and sends of one event, are less: a recording has room for no more."""

FURTHEST = 1 << 42
"""No node follows a Lamport time from here on, which a peer may have made up: its own would
run out, and nobody would read what it sends."""


COUNTS = Struct(">III"), Struct(">IIII")
"""The numbers 1, 3 and 2 beside a message, and perhaps 7, as nearly all have them."""

_SENT_BITS, _SINCE_BITS, _MOST_BITS = 32, 11, 63
"""Of the numbers 3, 7 and 1 beside a message in one integer, from the least bit on."""

Extensions: TypeAlias = dict[int, int] | bytes | int
"""Numbers that companions of hosts put beside a message: any, those of `COUNTS`, or those
of `in_one`."""


def in_one(number: int, sent: int, since: int | None) -> int:
    """Return the numbers 1, 3 and perhaps 7 beside a message in one integer.

    The next message has the next integer, if the others are the same; -1 if there is no
    room for one of them, or for many of the next messages.
    """
    back = 0 if since is None else number - since + 1
    if back >> _SINCE_BITS or sent >> _SENT_BITS - 1:
        return -1
    made = (number << _SINCE_BITS | back) << _SENT_BITS | sent
    return -1 if made >> _MOST_BITS else made


def numbers_of(extensions: Extensions | None) -> dict[int, int]:
    """Return the numbers beside a message, by what they are."""
    if extensions is None:
        return {}
    if isinstance(extensions, dict):
        return extensions
    if isinstance(extensions, int):
        rest, sent = divmod(extensions, 1 << _SENT_BITS)
        number, back = divmod(rest, 1 << _SINCE_BITS)
        said = {1: number, 3: sent}
        return {**said, 7: max(number - back + 1, 0)} if back else said
    packed = COUNTS[len(extensions) // 16].unpack(extensions)
    return dict(zip((1, 3, 2, 7), packed, strict=False))


class MessageFrame(NamedTuple):
    """A message to a node.

    Attributes
    ----------
    sender
        The index of the node that sent it.
    incarnation, lamport, place
        Of the sender, of the event that sent it, and among that event's sends.
    extensions
        Numbers that companions of hosts put beside it, see `numbers_of`; None as a rule.
    part
        From which part of its sender, and to which part of its receiver.
    """

    sender: int
    incarnation: int
    lamport: int
    place: int
    extensions: Extensions | None
    part: str
    message: Any


class NamedFrame(NamedTuple):
    """A large message in a journal, by its name: what it says is known to its sender.

    Attributes
    ----------
    digest
        BLAKE2b-128 of its part and its content.
    size
        Bytes of its frame.
    """

    sender: int
    incarnation: int
    lamport: int
    place: int
    part: str
    digest: bytes
    size: int


class HelloFrame(NamedTuple):
    """The first frame of either end of a connection.

    Attributes
    ----------
    version
        Of the protocol.
    digest
        Of what both ends must have alike; see `Digest`.
    receiver
        The index of the node that it is for.
    extra
        What its sender knows of connections with the receiver, and, where there is a
        secret, a nonce.
    """

    version: int
    digest: bytes
    sender: int
    incarnation: int
    receiver: int
    extra: bytes


class ControlFrame(NamedTuple):
    """A frame from a companion of one host to the companion of that name of another."""

    sender: int
    incarnation: int
    companion: str
    body: bytes


class ByeFrame(NamedTuple):
    """The last frame of a node that stops."""

    sender: int
    incarnation: int


Frame = MessageFrame | NamedFrame | HelloFrame | ControlFrame | ByeFrame


def packet(frame: bytes) -> bytes:
    """Return a frame with its length before it."""
    return len(frame).to_bytes(LENGTH, "big") + frame


def places(packets: bytes) -> Iterable[tuple[int, int]]:
    """Return what `split` yields; most packets of a turn are one."""
    size = len(packets)
    if int.from_bytes(packets[:LENGTH], "big") == size - LENGTH <= LARGEST:
        return ((LENGTH, size),)
    return split(packets)


def split(buffer: bytes | bytearray, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where each whole frame in some packets begins and ends, without its length.

    What is left behind the last end is the beginning of a packet.

    Raises
    ------
    Malformed
        If one would be longer than `LARGEST`.
    """
    size = len(buffer)
    while start + LENGTH <= size:
        begin = start + LENGTH
        length = int.from_bytes(buffer[start:begin], "big")
        if length > LARGEST:
            raise Malformed("", f"a frame of {length} bytes")
        start = begin + length
        if start > size:
            return
        yield begin, start
