"""The times of turns as their blocks have them, and how the kernel writes a block.

In most turns of most nodes messages come in, and nothing has to be said of them. The
compiled kernel makes their block, writes it, and writes what messages share once
(`worldline.trace.journal.alike`), in the time that a few lines of Python take.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from time import monotonic_ns, time_ns  # noqa: TID251 -- for people alone
from typing import Any, final

from worldline.deploy.segment_file import SegmentWriter
from worldline.engine.native.calls import BoundName, bound
from worldline.engine.native.library import KernelMissing
from worldline.trace.journal.tails import TAIL_ROOM

LARGEST = 64 << 10
"""Bytes of packets that the kernel makes a block of."""

WriteBlock = Callable[[Any], int]
"""Writes a block; returns `WRITTEN`, or what else is to be said of it, if that is negative
the number of an error."""

WRITTEN, FULL, TOO_LARGE = range(3)
"""A block is written; so it is, and its segment is full; or there is no room to make it."""


class _JournalFile(ctypes.Structure):
    """The file of a journal, as `kernel/journal_block.hpp` has it."""

    _fields_ = [  # type: ignore[mutable-override]  # nobody changes it
        ("clock", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("packets", ctypes.c_void_p),
        ("most", ctypes.c_int64),
        ("room", ctypes.c_void_p),
        ("number", ctypes.c_int32),
        ("salt", ctypes.c_uint32),
        ("size", ctypes.c_void_p),
        ("full", ctypes.c_int64),
        ("tail", ctypes.c_void_p),
        ("tail_room", ctypes.c_int64),
    ]

    def __init__(self, full: int) -> None:
        # What it points to, as attributes: so it lasts as long as this does.
        self.own_packets = (ctypes.c_char * LARGEST)()
        self.own_room = (ctypes.c_char * (64 + 3 * LARGEST))()
        super().__init__(
            packets=ctypes.addressof(self.own_packets),
            most=LARGEST,
            room=ctypes.addressof(self.own_room),
            number=-1,  # no file yet
            full=full,
            tail_room=TAIL_ROOM,
        )
        self.count_in(ctypes.c_int64())

    def count_in(self, counted: ctypes.c_int64) -> None:
        """Let the kernel count there how large the segment is."""
        self.counted = counted
        self.size = ctypes.addressof(counted)


@final
class TurnTimes:
    """The times of the last turn of a segment.

    Parameters
    ----------
    full
        Bytes of a segment that is full.

    Attributes
    ----------
    write_packets, write_records, write_synced, write_shared
        Write the block of a turn into the present file or its tail, with its times: of a list of
        packets that came in; of the bytes of a list of records, of one that will be synced and so
        is in the file then, as all before it, and of one in which some bytes stand for others,
        which is in the file, too. For the first `LARGEST` bytes are too large. None without the
        kernel, or where it does not know files.
    """

    def __init__(self, full: int) -> None:
        self._journal = _JournalFile(full)
        self.write_packets = self._by_kernel("wl_journal_packets")
        self.write_records = self._by_kernel("wl_journal_records")
        self.write_synced = self._by_kernel("wl_journal_synced")
        self.write_shared = self._by_kernel("wl_journal_shared")

    def begin(self) -> None:
        """Begin a segment."""
        self._journal.clock = self._journal.offset = 0

    def into(self, file: SegmentWriter) -> None:
        """Let the kernel write to the end of a segment, as it is now."""
        journal = self._journal
        journal.number, journal.salt = file.fd, file.salt
        journal.count_in(file.counted)
        journal.tail = None if file.tail is None else file.tail.address

    def leave(self) -> None:
        """Let the kernel know of no tail any more: it is not mapped from now on."""
        self._journal.tail = None

    def passed(self) -> list[int]:
        """Return the times of a turn that ends now: what has passed since the last one."""
        journal, clock = self._journal, monotonic_ns()
        offset = time_ns() - clock
        passed = [clock - journal.clock, offset - journal.offset]
        journal.clock, journal.offset = clock, offset
        return passed

    def _by_kernel(self, name: BoundName) -> WriteBlock | None:
        if os.name != "posix":
            return None
        try:
            return bound(name, self._journal)
        except KernelMissing:
            return None
