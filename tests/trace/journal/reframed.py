"""Segments taken apart and put together again, as a hand or a bad file system would."""

from __future__ import annotations

import re
from collections.abc import Sequence

from worldline.trace.journal.framing import HEAD, MAGIC, frame_block, salt_of, stamp
from worldline.trace.journal.segments import BOUND


def raw_blocks(data: bytes) -> list[bytes]:
    """Return the blocks of a segment as they stand there, that of the header first.

    One that is torn at the end is left out.
    """
    at, found = len(MAGIC), []
    while at < len(data):
        end = at + HEAD + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            break
        found.append(data[at:end])
        at = end
    return found


def contents_of(data: bytes) -> list[bytes]:
    """Return what is in the blocks of a segment, the header first."""
    return [block[HEAD:] for block in raw_blocks(data)]


def reframed(contents: Sequence[bytes]) -> bytes:
    """Return a segment that is whole and has this in its blocks, the header first."""
    header, *others = contents
    data = MAGIC + frame_block(header)
    said = re.search(rb'"version": *(\d+)', header)
    is_bound = said is None or int(said[1]) >= BOUND
    for content in others:
        where = stamp(salt_of(data), len(data)) if is_bound else 0
        data += frame_block(content, where)
    return data
