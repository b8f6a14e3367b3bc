"""Tails: the blocks at the end of a segment that its file does not have yet.

``RECORDING/<node>/tail`` stands beside the segment that is written, while its host runs or after
it was killed: a head of 64 bytes, then blocks, as they belong behind those in the file. The head is
magic, then three little-endian numbers of 64 bits: life and segment to which they belong, and their
*place*, the offset in the segment at which they begin, with their length in its last 24 bits. It is
one number so that it changes at once.

So a segment is its file and the tail from there on where the file ends. What is written from a tail
into the file is in both until the tail begins anew, and both are alike there.

A block in it that is not whole ends the journal, whatever is behind it: those of a tail are bound to
their places, but its pages come to the disk in any order, and none is synced; where that matters,
blocks are in the file. The end is then as torn as that of a file.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from pathlib import Path
from typing import NamedTuple, final

from worldline.model.errors import InputError
from worldline.trace.journal.framing import HEAD, MAGIC, block_at, is_opened, salt_of
from worldline.trace.journal.segments import SegmentFile, segments

TAIL_NAME = "tail"
"""Its name in the folder of a journal."""

TAIL_SIZE = 64 << 10
"""Bytes of one that is written now, with its head."""

TAIL_HEAD = 64
TAIL_ROOM = TAIL_SIZE - TAIL_HEAD
PLACE_AT = 24
"""Offset of the place in the head."""

TAIL_MAGIC = b"\x89WLT\r\n\x1a\n"

_LENGTH_BITS = 24
_LARGEST = TAIL_HEAD + (1 << _LENGTH_BITS)
_WHOSE = struct.Struct("<8sQQ")
_PLACE = struct.Struct("<Q")

_TRIES = 1_000
"""Readings, after which one gives up that always finds a tail begun anew meanwhile."""


@final
class SegmentTail(NamedTuple):
    """A tail as it was read.

    Attributes
    ----------
    incarnation, segment
        To which it belongs; life 0, which there is not, if it does not say so.
    offset
        In the segment, of its first block.
    length
        Bytes of its blocks, as it says.
    blocks
        These, and what was behind them.
    """

    incarnation: int
    segment: int
    offset: int
    length: int
    blocks: bytes

    def is_of(self, file: SegmentFile) -> bool:
        """Say whether it belongs to a segment."""
        return (self.incarnation, self.segment) == file[:2]


def whose(incarnation: int, segment: int) -> bytes:
    """Return the head of a tail before its place."""
    return _WHOSE.pack(TAIL_MAGIC, incarnation, segment)


def place(offset: int, length: int) -> int:
    """Return the number for an offset and a length."""
    return offset << _LENGTH_BITS | length


def read_place(number: int) -> tuple[int, int]:
    """Return the offset and the length for which a number stands."""
    return number >> _LENGTH_BITS, number & ((1 << _LENGTH_BITS) - 1)


def read_tail(folder: Path) -> SegmentTail | None:
    """Return the tail in the folder of a journal; None if there is none, or nothing was put into it.

    Whoever wants a segment with its tail reads the tail first: what is written into the
    file meanwhile is then seen twice, and never not at all.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    path = folder / TAIL_NAME
    try:
        with os.fdopen(_opened(path), "rb", buffering=0) as file:
            for _ in range(_TRIES):
                file.seek(0)
                data = file.read(_LARGEST) or b""
                file.seek(0)
                if _is_same(data, file.read(TAIL_HEAD) or b""):
                    return _tail(data)
        why = "it is never the same twice"
    except FileNotFoundError:
        return None
    except OSError as error:
        why = error.strerror or str(error)
    raise InputError(f"cannot read {path}: {why}", remedy="put back what was there")


def joined(data: bytes, tail: SegmentTail) -> tuple[bytes, int]:
    """Return what a segment is with its tail, and how many bytes of the tail are lost.

    These are no whole blocks in their places. Where the header of the segment is damaged nobody
    can say which are: all of them are there then.

    Parameters
    ----------
    data
        The file of the segment.
    """
    size, offset = len(data), tail.offset
    both = min(size - offset, tail.length)
    if size < len(MAGIC) + HEAD or not _agree(data, tail, both):
        return data, tail.length
    whole = data + tail.blocks[size - offset :]
    if not is_opened(
        data
    ):  # of which nothing is whole, but it shows that more is there
        return whole[: max(size, offset + tail.length)], 0
    end, salt = offset, salt_of(data)
    while (content := block_at(whole, end, salt)) is not None:
        end += HEAD + len(content)
    end = max(end, size)
    return whole[:end], max(0, offset + tail.length - end)


def stray(tail: SegmentTail, folder: Path) -> int:
    """Return how many bytes of a tail are lost, as the segment is not there that it belongs to."""
    return 0 if any(map(tail.is_of, segments(folder))) else tail.length


def _opened(path: Path) -> int:
    """Open a regular file, and nothing else: who made it may be no host."""
    flags = sum(
        getattr(os, f"O_{name}", 0) for name in ("NOFOLLOW", "NONBLOCK", "BINARY")
    )
    fd = os.open(path, os.O_RDONLY | flags)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is no regular file")
    return fd


def _agree(data: bytes, tail: SegmentTail, both: int) -> bool:
    """Say whether a tail is the same as the file, where both have something."""
    return both >= 0 and tail.blocks[:both] == data[tail.offset : tail.offset + both]


def _is_same(data: bytes, head: bytes) -> bool:
    """Say whether a tail was not begun anew: then what was read is of one time."""
    if len(data) < TAIL_HEAD or len(head) < TAIL_HEAD:
        return len(data) == len(head)
    (then,), (now,) = (_PLACE.unpack_from(each, PLACE_AT) for each in (data, head))
    is_there = read_place(then)[0] == read_place(now)[0]
    return is_there and data[:PLACE_AT] == head[:PLACE_AT]


def _tail(data: bytes) -> SegmentTail | None:
    head, blocks = data[:TAIL_HEAD], data[TAIL_HEAD:]
    if not any(head):
        return None  # nobody has begun it
    if len(head) < TAIL_HEAD or not head.startswith(TAIL_MAGIC):
        return SegmentTail(0, 0, 0, len(data), b"")
    _, incarnation, segment = _WHOSE.unpack_from(head)
    (number,) = _PLACE.unpack_from(head, PLACE_AT)
    return SegmentTail(incarnation, segment, *read_place(number), blocks)
