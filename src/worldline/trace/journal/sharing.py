"""Large bytes that stand in a block twice: the second time, where they stand first.

A durable field often keeps what a message or a call has brought, and both are in the block
of that turn. So what is large in a change of fields is looked for in what came in.
"""

from __future__ import annotations

from typing import Any

from worldline.trace.journal.framing import LARGEST_BLOCK
from worldline.trace.journal.messagepack import Ext, pack, unpack
from worldline.trace.journal.records import CALLED, DELTA, RECEIVED
from worldline.trace.json_checks import Malformed

SHARED = 2
"""The extension that stands for bytes: which of those that came in, where, and how many."""

LEAST = 4096
"""Bytes that are large."""

_BEGINNING, _TRIES = 64, 4


def share(records: list[list[Any]]) -> bool:
    """Replace what stands twice in the records of a turn; say whether anything does."""
    sources = _sources(records)
    if not sources:
        return False
    found = likely = 0

    def replaced(value: bytes) -> Any:
        nonlocal found, likely
        if found + len(value) > LARGEST_BLOCK:
            return value  # so that a block stays as small as it is, once it is read
        place = _place(sources, value, likely)
        if place is None:
            return value
        found += len(value)
        likely = place[0] + 1  # changes stand in the order of what has brought them
        return Ext(SHARED, pack([*place, len(value)]))

    for spelt in records:
        if spelt[0] == DELTA:
            _replace(spelt, bytes, replaced)
    return found > 0


def unshare(records: list[Any]) -> None:
    """Put back what `share` has replaced.

    Raises
    ------
    Malformed
        If something stands for bytes that are not there.
    """
    sources = _sources(records)
    read = 0

    def put_back(ext: Any) -> bytes:
        nonlocal read
        place = unpack(bytes(ext.data)) if ext.code == SHARED else None
        if type(place) is not list or [*map(type, place)] != [int, int, int]:
            raise Malformed("", "a change of something unknown")
        which, at, length = place
        read += max(length, 0)
        if not 0 <= which < len(sources) or at < 0 or read > LARGEST_BLOCK:
            raise Malformed("", "a change to what never came in")
        value = sources[which][at : at + length]
        if len(value) != length:
            raise Malformed("", "a change to more than came in")
        return value

    for spelt in records:
        if type(spelt) is list and spelt and spelt[0] == DELTA:
            _replace(spelt, Ext, put_back)


def _sources(records: list[Any]) -> list[bytes]:
    """Return what is large of what came in."""
    sources = []
    for spelt in records:
        if type(spelt) is not list or len(spelt) < 2:
            continue
        if spelt[0] == RECEIVED and type(spelt[1]) is bytes:
            if len(spelt[1]) >= LEAST:
                sources.append(spelt[1])
        elif spelt[0] == CALLED and type(spelt[-1]) is list:
            for value in spelt[-1]:
                if type(value) is bytes and len(value) >= LEAST:
                    sources.append(value)
    return sources


def _place(sources: list[bytes], value: bytes, likely: int) -> tuple[int, int] | None:
    """Return in which source some bytes stand, and where; the likely one is the first to look at."""
    beginning = value[:_BEGINNING]
    for step in range(len(sources)):
        which = (likely + step) % len(sources)
        source = sources[which]
        if source is value:  # an argument of a call that a field keeps
            return which, 0
        at = -1
        for _ in range(_TRIES):
            at = source.find(beginning, at + 1)
            if at < 0:
                break
            if source.startswith(value, at):
                return which, at
    return None


def _replace(spelt: list[Any], kind: type, replaced: Any) -> None:
    for place, item in enumerate(spelt):
        if type(item) is list:
            _replace(item, kind, replaced)
        elif type(item) is kind and (type(item) is not bytes or len(item) >= LEAST):
            spelt[place] = replaced(item)
