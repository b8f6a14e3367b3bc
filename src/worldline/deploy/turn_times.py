"""The times of turns as their blocks have them, and how the kernel writes a block.

In most turns of most nodes messages come in, and nothing has to be said of them. The
compiled kernel makes their block, writes it, and writes what messages share once
(`worldline.trace.journal.alike`), in the time that a few lines of Python take.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import partial
from time import monotonic_ns, time_ns  # noqa: TID251 -- for people alone
from typing import final

from worldline.engine.native.library import KernelMissing, library

LARGEST = 64 << 10
"""Bytes of what the kernel makes a block of."""

WriteBlock = Callable[[int, bytes, int], int]
"""Writes a block to the file of a number, made of so many bytes; returns how long it is, or
the number of an error, negative."""


@final
class TurnTimes:
    """The times of the last turn of a segment.

    Attributes
    ----------
    write_packets, write_records
        Write the block of a turn, with its times: of packets that came in, or of a list of
        records. None without the kernel, or where it does not know files.
    """

    def __init__(self) -> None:
        self._last = (ctypes.c_int64 * 2)()
        self._room = (ctypes.c_char * (64 + 3 * LARGEST))()
        self.write_packets = self._by_kernel(0)
        self.write_records = self._by_kernel(1)

    def begin(self) -> None:
        """Begin a segment."""
        self._last[:] = [0, 0]

    def passed(self) -> list[int]:
        """Return the times of a turn that ends now: what has passed since the last one."""
        clock = monotonic_ns()
        offset = time_ns() - clock
        passed = [clock - self._last[0], offset - self._last[1]]
        self._last[:] = [clock, offset]
        return passed

    def _by_kernel(self, is_list: int) -> WriteBlock | None:
        try:
            write = library().wl_journal_write
        except KernelMissing:
            return None
        if os.name != "posix":
            return None
        last, room = ctypes.addressof(self._last), ctypes.addressof(self._room)
        return partial(write, last, room, is_list)
