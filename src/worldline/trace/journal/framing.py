"""Blocks as bytes of a segment: each with its length and a checksum before it.

The checksum is the CRC-32 of the content and, from version 3 on, the *stamp* of the place at
which the block begins: so a block checks there and nowhere else, at no cost in bytes. A stamp
is made of the offset and of the CRC-32 of the segment's header, in which node, run, life and
segment stand; the header itself has none.
"""

from __future__ import annotations

import contextlib
import json
import struct
import zlib

MAGIC = b"\x89WLJ\r\n\x1a\n"
"""What a segment begins with."""

HEAD = 8
"""Bytes of a block before its content."""

LARGEST_BLOCK = 64 << 20
"""Bytes of a block: a turn is ended before it has more."""

_LARGEST_HEADER = 1 << 20
"""Bytes in which the header of a segment is looked for whose length is damaged."""

_DECODER = json.JSONDecoder()

_HEADS = struct.Struct(">II")
_head_at, _pack_head = _HEADS.unpack_from, _HEADS.pack

_ALL = 0xFFFF_FFFF
_SPREAD = 0x9E37_79B1
"""Spreads offsets over all bits, so that a checksum of which one bit is another is hardly that of a
place in the same file. `kernel/journal_block.hpp` has it, too."""

_GATHER = pow(_SPREAD, -1, _ALL + 1)


def stamp(salt: int, offset: int) -> int:
    """Return the stamp of an offset in the segment whose header has this CRC-32."""
    return offset * _SPREAD & _ALL ^ salt


def frame_block(content: bytes, stamp: int = 0) -> bytes:
    """Return a block's content with its length and its checksum before it."""
    return _pack_head(len(content), zlib.crc32(content) ^ stamp) + content


def block_at(data: bytes, at: int, salt: int | None) -> bytes | None:
    """Return the content of the block at an offset; None if there is no whole one.

    Parameters
    ----------
    salt
        The CRC-32 of the segment's header; None for blocks without a stamp.
    """
    found = _unchecked(data, at)
    if found is None:
        return None
    content, checksum = found
    if salt is not None:
        checksum ^= stamp(salt, at)
    return content if zlib.crc32(content) == checksum else None


def salt_of(opening: bytes) -> int:
    """Return the CRC-32 of the header with which a segment begins."""
    _, checksum = _head_at(opening, len(MAGIC))
    return int(checksum)


def is_opened(data: bytes) -> bool:
    """Say whether a segment begins with a whole header."""
    return data.startswith(MAGIC) and block_at(data, len(MAGIC), None) is not None


def salts_of(data: bytes) -> tuple[int, ...]:
    """Return what the CRC-32 of a damaged header can be: by its checksum, or by its content.

    The content ends where its length says it does, or where its JSON ends.
    """
    begin = len(MAGIC) + HEAD
    if len(data) < begin:
        return ()
    found = _unchecked(data, len(MAGIC))
    salts = [salt_of(data), *(() if found is None else [zlib.crc32(found[0])])]
    text = data[begin : begin + _LARGEST_HEADER].decode(
        "latin-1"
    )  # a byte, a character
    with contextlib.suppress(ValueError, RecursionError):
        _, end = _DECODER.raw_decode(text)
        salts.append(zlib.crc32(data[begin : begin + end]))
    return tuple(salts)


def origin_of(data: bytes, at: int, salt: int) -> int | None:
    """Return for which offset the block at another one was written, if it is whole.

    If it is not, that is any number of 32 bits. None if no block can begin there.
    """
    found = _unchecked(data, at)
    if found is None:
        return None
    content, checksum = found
    return (zlib.crc32(content) ^ checksum ^ salt) * _GATHER & _ALL


def is_followed(data: bytes, at: int, length: int) -> bool:
    """Say whether a block and the next one are whole, whatever segment they are of.

    For a block alone there is always a header of which it could be; two have to agree.
    """
    beside = at + HEAD + length
    salts = [_implied(data, place) for place in (at, beside)]
    return None not in salts and salts[0] == salts[1]


def _implied(data: bytes, at: int) -> int | None:
    """Return the CRC-32 that the header has if the block at an offset is whole."""
    found = _unchecked(data, at)
    if found is None:
        return None
    content, checksum = found
    return stamp(zlib.crc32(content) ^ checksum, at)


def _unchecked(data: bytes, at: int) -> tuple[bytes, int] | None:
    """Return the content of what may be a block, and the checksum before it."""
    begin = at + HEAD
    if begin > len(data):
        return None
    length, checksum = _head_at(data, at)
    end = begin + length
    if length > LARGEST_BLOCK or end > len(data) or not length:
        return None
    return data[begin:end], checksum
