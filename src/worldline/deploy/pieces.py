"""Packets as they are put into records: joined, as far as that is worth a copy."""

from __future__ import annotations

from itertools import groupby

LARGE = 4 << 10
"""Bytes of a message that is large."""


def pieces(packets: list[bytes]) -> list[bytes]:
    """Return packets in few pieces, in their order; large ones are not copied."""
    if len(packets) == 1 or sum(map(len, packets)) <= LARGE:
        return [b"".join(packets)]
    found: list[bytes] = []
    for is_large, run in groupby(packets, key=_is_large):
        if is_large:
            found += run
        else:
            found.append(b"".join(run))
    return found


def _is_large(packet: bytes) -> bool:
    return len(packet) > LARGE
