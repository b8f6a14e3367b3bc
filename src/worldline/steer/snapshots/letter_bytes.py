"""The bytes of letters, and the letters of bytes from outside.

A letter begins with a byte for its kind and its flags. What follows it are numbers, seven
bits in each byte and the lowest first, and bytes: a tenth of what nodes send for the sake of
snapshots would else be the brackets around them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from worldline.steer.snapshots.letters import (
    ANEW,
    BESIDE,
    BUT,
    HAVE,
    MORE,
    NEWS,
    Busy,
    Gone,
    Received,
    Reply,
    Request,
    SnapshotLetter,
    ToldCheckpoint,
)
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.record_bytes import is_number
from worldline.trace.json_checks import Malformed

_SLACK = 1 << 12
"""Bytes of a letter beside what it carries."""

_MOST_NAMED = 64
"""Nodes that a letter names in one place."""

_REQUEST, _REPLY, _GONE, _BUSY, _RECEIVED = range(5)
_KIND = 3
"""Bits of the first byte for the kind; the others are for flags."""

_SAID = NEWS | BESIDE | BUT
_HAS, _ACKNOWLEDGES = 8, 16
"""Flags of a request beside those that it says: what of the rest is there."""

_TELLS = 4
"""The flag of a reply that says something."""

_SAME, _DIFFERENCE, _WHOLE = range(3)
_FORM = 2
"""Bits before the number of a checkpoint for what is said of it."""


def write(letter: SnapshotLetter) -> bytes:
    """Return a letter as bytes."""
    match letter:
        case Request():
            return _request_bytes(letter)
        case Reply():
            return _reply_bytes(letter)
        case Gone():
            return _numbers(_GONE, *letter)
        case Busy():
            return _numbers(_BUSY, *letter)
        case Received():
            return _numbers(_RECEIVED, *letter)


def read(data: bytes, nodes: int | None = None) -> SnapshotLetter:
    """Return the letter of bytes from outside.

    Parameters
    ----------
    nodes
        How many there are; None if the letter may name any.

    Raises
    ------
    Malformed
        If they are none, or name a node that there is not.
    """
    if len(data) > LARGEST + _SLACK:
        raise Malformed("", "a letter that is too large")
    if not data:
        raise Malformed("", "a letter that is too short")
    kind, flags = data[0] & (1 << _KIND) - 1, data[0] >> _KIND
    left = _Left(data, nodes)
    if kind >= len(_READERS):
        raise Malformed("", "a letter of an unknown kind")
    reads, known = _READERS[kind]
    if flags & ~known:
        raise Malformed("", "a letter with unknown flags")
    letter = reads(left, flags)
    left.end()
    return letter


# ---------------------------------------------------------------------------- writing


def _numbers(*numbers: int) -> bytes:
    """Return numbers as bytes; the first one stands for a kind without flags."""
    if max(numbers) <= 0x7F:
        return bytes(numbers)
    written = bytearray()
    for number in numbers:
        rest = number
        while rest > 0x7F:
            written.append(rest & 0x7F | 0x80)
            rest >>= 7
        written.append(rest)
    return bytes(written)


def _head(kind: int, flags: int) -> bytes:
    return bytes((kind | flags << _KIND,))


def _request_bytes(one: Request) -> bytes:
    has, acknowledges = bool(one.have), bool(one.life or one.received)
    flags = one.flags | _HAS * has | _ACKNOWLEDGES * acknowledges
    written = _head(_REQUEST, flags) + _numbers(one.gather, one.number) + one.have
    if acknowledges:
        written += _numbers(one.life, one.received)
    if one.flags & BUT:
        written += _numbers(len(one.without), *one.without)
    return written


def _reply_bytes(one: Reply) -> bytes:
    tells = bool(one.told or one.without)
    head = _head(_REPLY, one.flags | _TELLS * tells)
    if not tells:
        return head + _numbers(one.gather)
    written = [head, _numbers(one.gather, len(one.told))]
    for told in one.told:
        form = _SAME if not told.body else _WHOLE - told.is_difference
        numbers = told.node, told.ahead << _FORM | form
        if told.body:
            written += _numbers(*numbers, len(told.body)), told.body
        else:
            written.append(_numbers(*numbers))
    written.append(_numbers(len(one.without), *one.without))
    return b"".join(written)


# ---------------------------------------------------------------------------- reading


@final
class _Left:
    """What is left to read of a letter, behind its first byte."""

    __slots__ = ("_at", "_data", "_nodes")

    def __init__(self, data: bytes, nodes: int | None) -> None:
        self._data, self._at, self._nodes = data, 1, nodes

    def number(self) -> int:
        """Return the next number."""
        at, data = self._at, self._data
        if at < len(data) and data[at] <= 0x7F:  # as most are
            self._at = at + 1
            return data[at]
        number = 0
        for place in range(8):
            if self._at >= len(data):
                break
            byte = data[self._at]
            self._at += 1
            number |= (byte & 0x7F) << 7 * place
            if byte <= 0x7F:
                if not is_number(number):
                    break
                return number
        raise Malformed("", "a letter without a number")

    def bytes(self, count: int) -> bytes:
        """Return so many bytes."""
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise Malformed("", "a letter that is too short")
        self._at += count
        return taken

    def count(self) -> int:
        """Return how many nodes are named."""
        count = self.number()
        if count > _MOST_NAMED:
            raise Malformed("", "a letter that names too many")
        return count

    def node(self) -> int:
        """Return the index of a node."""
        index = self.number()
        if self._nodes is not None and index >= self._nodes:
            raise Malformed("", "a letter that names nobody")
        return index

    def nodes(self) -> tuple[int, ...]:
        """Return indices of nodes."""
        return tuple(self.node() for _ in range(self.count()))

    def end(self) -> None:
        """See to it that nothing is left."""
        if self._at < len(self._data):
            raise Malformed("", "a letter with something behind it")


def _request(left: _Left, flags: int) -> Request:
    gather, number = left.number(), left.number()
    have = left.bytes(HAVE) if flags & _HAS else b""
    life = received = 0
    if flags & _ACKNOWLEDGES:
        life, received = left.number(), left.number()
    without = left.nodes() if flags & BUT else ()
    said = flags & _SAID
    return Request(gather, number, have, said, life, received, without)


def _reply(left: _Left, flags: int) -> Reply:
    gather, said = left.number(), flags & (ANEW | MORE)
    if not flags & _TELLS:
        return Reply(gather, said)
    told = tuple(_told(left) for _ in range(left.count()))
    return Reply(gather, said, told, left.nodes())


def _told(left: _Left) -> ToldCheckpoint:
    node, spelt = left.node(), left.number()
    ahead, form = spelt >> _FORM, spelt & (1 << _FORM) - 1
    if form == _SAME:
        return ToldCheckpoint(node, ahead)
    body = left.bytes(left.number())
    if form > _WHOLE or not body:
        raise Malformed("", "a letter without a checkpoint")
    return ToldCheckpoint(node, ahead, form == _DIFFERENCE, body)


def _gone(left: _Left, flags: int) -> Gone:
    return Gone(left.number(), left.number())


def _busy(left: _Left, flags: int) -> Busy:
    return Busy(left.number())


def _received(left: _Left, flags: int) -> Received:
    return Received(left.number(), left.number(), left.number())


_READERS: tuple[tuple[Callable[[_Left, int], SnapshotLetter], int], ...] = (
    (_request, _SAID | _HAS | _ACKNOWLEDGES),
    (_reply, ANEW | MORE | _TELLS),
    (_gone, 0),
    (_busy, 0),
    (_received, 0),
)
"""By kind, with the flags that it can have."""
