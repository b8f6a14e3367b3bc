"""The rooms into which loops read what comes on connections."""

from __future__ import annotations

import asyncio
import os
from weakref import WeakKeyDictionary

SIZE = 1 << 18
"""Bytes that are read at once, at most."""

_IS_SHARED = os.name == "posix"
_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, memoryview] = WeakKeyDictionary()


def room_of(loop: asyncio.AbstractEventLoop) -> memoryview:
    """Return the room into which a loop reads what comes on a connection.

    asyncio would ask the system for as much anew at each read, and give it back. One room is
    enough for a loop that reads when something has come, and takes it at once. One that is
    told when something has been read, as on Windows, needs another for each connection.
    """
    if not _IS_SHARED:
        return memoryview(bytearray(SIZE))
    room = _rooms.get(loop)
    if room is None:
        room = _rooms[loop] = memoryview(bytearray(SIZE))
    return room
