"""One file of a journal as it is written, and what becomes of it when it is closed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from pathlib import Path
from typing import final

from worldline.deploy.journal_tail import JournalTail
from worldline.trace.journal.framing import frame_block, salt_of, stamp
from worldline.trace.journal.segments import (
    PACKED,
    SUFFIX,
    JournalHeader,
    opening,
    segments,
)

_MODE = 0o600


@final
class SegmentWriter:
    """A segment that blocks are appended to.

    Attributes
    ----------
    fd
        The open file.
    salt
        What binds blocks to it; see `worldline.trace.journal.framing`.
    tail
        Blocks at its end that are not in the file; None if all are.
    counted
        Where its bytes are counted, by whoever writes some.
    """

    def __init__(self, path: Path, fd: int, salt: int, size: int) -> None:
        self.path, self.fd, self.salt = path, fd, salt
        self.tail: JournalTail | None = None
        self.counted = ctypes.c_int64(size)

    @property
    def size(self) -> int:
        """Its bytes, with those of its tail; all of them are whole blocks."""
        return self.counted.value

    @classmethod
    def create(
        cls, folder: Path, header: JournalHeader, content: bytes
    ) -> SegmentWriter:
        """Make a segment with its first block: whole, on the disk, or not at all.

        Raises
        ------
        OSError
            If that cannot be.
        """
        name = f"{header.incarnation}-{header.segment}{SUFFIX}"
        path, draft = folder / name, folder / f"{name}.new"
        data = opening(header)
        salt = salt_of(data)
        data += frame_block(content, stamp(salt, len(data)))
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND
        fd = os.open(draft, flags, _MODE)
        try:
            _write(fd, data)
            os.fsync(fd)
            draft.rename(path)
            _sync_folder(folder)
        except BaseException:
            os.close(fd)
            draft.unlink(missing_ok=True)
            raise
        return cls(path, fd, salt, len(data))

    def append(self, content: bytes) -> None:
        """Write a block.

        Raises
        ------
        OSError
            If it cannot be written whole; nothing of it is left then.
        """
        block = frame_block(content, stamp(self.salt, self.size))
        written = os.write(self.fd, block)
        if written != len(block):
            try:
                _write(self.fd, block[written:])
            except OSError:
                self.cut()
                raise
        self.counted.value += len(block)

    def cut(self) -> None:
        """Remove from the file what was written of a block that is not whole."""
        there = 0 if self.tail is None else self.tail.used
        os.ftruncate(self.fd, self.size - there)

    def take(self, tail: JournalTail | None, header: JournalHeader) -> None:
        """Have a tail from now on."""
        self.tail = tail
        if tail is not None:
            tail.belong(header.incarnation, header.segment, self.size)

    def flush(self) -> None:
        """Write what the tail has into the file.

        Raises
        ------
        OSError
            If it cannot be written whole; the tail has it then as before.
        """
        tail = self.tail
        if tail is None or not tail.used:
            return
        try:
            _write(self.fd, tail.blocks())
        except OSError:
            self.cut()
            raise
        tail.begin(self.size)

    def close(self) -> None:
        """Close the file; a tail stays if it cannot be written."""
        with contextlib.suppress(OSError):
            self.flush()
        if self.tail is not None:
            self.tail.close(remove=not self.tail.used)
            self.tail = None
        with contextlib.suppress(OSError):
            os.close(self.fd)


def sync_file(fd: int) -> None:
    """Wait until what was written to a file is on the disk.

    Raises
    ------
    OSError
        If it does not come there.
    """
    getattr(os, "fdatasync", os.fsync)(fd)  # which macOS and Windows lack


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some systems have no such thing
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def forget_oldest(folder: Path, keep: int) -> None:
    """Remove the oldest segments of a journal, until it has so many bytes, or only one."""
    files = segments(folder)
    sizes = [file.path.stat().st_size for file in files]
    while len(files) > 1 and sum(sizes) > keep:
        files.pop(0).path.unlink(missing_ok=True)
        sizes.pop(0)


def compress_later(path: Path) -> None:
    """Compress a closed segment in a thread; until that is done, it stays as it is."""
    threading.Thread(target=_compress, args=(path,), daemon=True).start()


def _compress(path: Path) -> None:
    import zstandard

    packed = path.with_name(path.name.removesuffix(SUFFIX) + PACKED)
    draft = path.with_name(f"{packed.name}.new")
    try:
        data = zstandard.ZstdCompressor(level=1).compress(path.read_bytes())
        fd = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, _MODE)
        try:
            _write(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        draft.rename(packed)
        path.unlink()
    except (OSError, zstandard.ZstdError):  # it stays as it is
        draft.unlink(missing_ok=True)
