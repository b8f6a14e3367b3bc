"""Damage within a segment, told from an end that was torn.

A process that is killed, or a disk that loses power, leaves a last block that is not whole, and
nothing behind it. If anything that a host has written is behind the place where blocks cease to be
whole, the segment was damaged otherwise: copied without care, edited, or by its file system.
"""

from __future__ import annotations

from collections.abc import Sequence

from worldline.model.errors import InputError
from worldline.trace.journal.framing import HEAD, block_at, is_followed, origin_of

_SCANNED = 256 << 20
"""Bytes that are looked through for a whole block behind a damaged one."""

_TURN = b"\x93"
"""The first byte of a block's content behind the header: a list of three."""

_TRIES = 1 << 20
"""Places where one may begin, of which so many are looked at."""

_GOES_ON = ", and goes on behind it"


PUT_BACK = "put back what was there, or --partial goes on behind what is missing"
"""What whoever reads a damaged journal can do."""


def damaged(what: str) -> InputError:
    """Return the error of a journal of which something is not as it was written, before its end."""
    return InputError(what, remedy=PUT_BACK)


def damage_at(data: bytes, at: int, salts: Sequence[int | None]) -> str:
    """Say what shows that a segment was damaged at an offset, where no whole block is.

    Parameters
    ----------
    salts
        What the CRC-32 of the header may be; None: blocks do not depend on it.

    Returns
    -------
    str
        Words behind "is damaged at byte ..."; empty if nothing shows it, as when the end
        is torn. One block alone that belongs elsewhere shows nothing: a torn one may look so.
    """
    looked = tries = 0
    found = data.find(_TURN, at + HEAD)
    while found >= 0:
        offset = found - HEAD
        length = int.from_bytes(data[offset : offset + 4], "big")
        if length and found + length <= len(data):
            looked += length
            if looked > _SCANNED:
                return _GOES_ON  # nobody writes such a file by chance
            for salt in salts:
                said = _said(data, at, offset, length, salt)
                if said:
                    return said
        tries += 1
        if tries > _TRIES:
            return _GOES_ON
        found = data.find(_TURN, found + 1)
    return ""


def _said(data: bytes, at: int, offset: int, length: int, salt: int | None) -> str:
    """Say what a block shows that may begin behind the damage, or just there."""
    if salt is None:
        is_block = block_at(data, offset, None) or is_followed(data, offset, length)
        return _GOES_ON if offset > at and is_block else ""
    origin = origin_of(data, offset, salt)
    if origin is None:
        return ""
    if origin == offset:
        return _GOES_ON
    follower = offset + HEAD + length
    beside = origin_of(data, follower, salt)
    if origin == at:
        moved = f": what belongs there stands at byte {offset}"
    elif beside is not None and beside - follower == origin - offset:
        moved = f": what stands at byte {offset} was written at byte {origin}"
    else:
        return ""
    return _copied(data, at, salt) or moved


def _copied(data: bytes, at: int, salt: int) -> str:
    """Say of what the block is a copy that stands where none is expected."""
    origin = origin_of(data, at, salt)
    size = HEAD + int.from_bytes(data[at : at + 4], "big")
    if origin is None or data[origin : origin + size] != data[at : at + size]:
        return ""
    return f": what stands there is a copy of what stands at byte {origin}"
