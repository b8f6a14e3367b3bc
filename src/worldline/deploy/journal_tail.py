"""The tail of a journal as it is written: small blocks that its segment does not have yet.

Between two handlers a call of the system's finds nothing in the caches, and takes longer than all
else of a small block. What is stored into a file that is mapped outlives the process just as
what was written does; so the kernel stores small blocks there, and writes many at once. See
`worldline.trace.journal.tails` for what is in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from pathlib import Path
from typing import final

from worldline.engine.native.library import KernelMissing, library
from worldline.trace.journal.tails import (
    PLACE_AT,
    TAIL_HEAD,
    TAIL_NAME,
    TAIL_SIZE,
    place,
    read_place,
    whose,
)

_MODE = 0o600


@final
class JournalTail:
    """The tail of one life's journal, which one segment after the other has.

    Attributes
    ----------
    address
        Where it is in memory.
    """

    def __init__(self, path: Path, mapped: mmap.mmap) -> None:
        self._path, self._mapped = path, mapped
        self._first = ctypes.c_char.from_buffer(mapped)
        self._place = ctypes.c_uint64.from_buffer(mapped, PLACE_AT)
        self.address = ctypes.addressof(self._first)

    @classmethod
    def create(cls, folder: Path) -> JournalTail | None:
        """Make one, empty; None where a store into it might fail, or anything about it does."""
        if sys.platform != "linux" or sys.byteorder != "little":
            return None
        path, draft = folder / TAIL_NAME, folder / f"{TAIL_NAME}.new"
        try:
            mapped = _mapped(draft)
            if mapped is None:
                draft.unlink(missing_ok=True)
                return None
            draft.rename(path)
        except (OSError, ValueError, KernelMissing):
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
            return None
        return cls(path, mapped)

    @property
    def used(self) -> int:
        """Bytes of the blocks in it."""
        return read_place(self._place.value)[1]

    def belong(self, incarnation: int, segment: int, size: int) -> None:
        """Let a segment have it that has so many bytes."""
        assert not self.used, "what it has is written before"
        self._mapped[:PLACE_AT] = whose(incarnation, segment)
        self.begin(size)

    def begin(self, size: int) -> None:
        """Let it be empty, since the file has so many bytes."""
        self._place.value = place(size, 0)

    def blocks(self) -> bytes:
        """Return the blocks in it."""
        return self._mapped[TAIL_HEAD : TAIL_HEAD + self.used]

    def close(self, *, remove: bool) -> None:
        """Let go of it; it is removed, unless it has what its segment lacks."""
        del self._first, self._place
        self._mapped.close()
        if remove:
            with contextlib.suppress(OSError):
                self._path.unlink()


def _mapped(path: Path) -> mmap.mmap | None:
    """Make the file and map it, with room on the disk and pages in memory; None if it must not be."""
    flags = os.O_CREAT | os.O_RDWR | os.O_TRUNC | os.O_NOFOLLOW
    fd = os.open(path, flags, _MODE)
    try:
        if not library().wl_journal_mappable(fd):
            return None
        os.posix_fallocate(fd, 0, TAIL_SIZE)
        mapped = mmap.mmap(fd, TAIL_SIZE)
    finally:
        os.close(fd)
    mapped[:] = whose(0, 0).ljust(TAIL_SIZE, b"\0")  # each page is stored into once
    return mapped
