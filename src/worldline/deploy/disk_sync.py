"""Syncs of a journal to the disk, beside the loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable
from typing import final

from worldline.deploy.segment_file import sync_file
from worldline.engine.native.library import KernelMissing, library

_DONE = struct.Struct("=qq")
"""What the kernel says of a sync: its ticket, and the number of an error, or 0."""

_MOST = 64 * _DONE.size


@final
class DiskSync:
    """The syncs of one journal, one after the other; belongs to the loop that runs.

    A thread of the compiled kernel does it and tells the loop by a socket. One of Python's,
    where there is no kernel, has to wait for the interpreter first, milliseconds where the
    loop is busy.

    Parameters
    ----------
    file
        Returns the file that is written at present; None once it is closed, which needs no
        sync.

    Attributes
    ----------
    pending
        Is done once everything is on the disk that has to be, by now; None if it is.
    """

    def __init__(self, file: Callable[[], int | None]) -> None:
        self._file = file
        self._queued: asyncio.Future[None] | None = None
        self._present: asyncio.Future[None] | None = None
        self._ticket = 0
        self._ends: _Ends | None = None
        self.pending: asyncio.Future[None] | None = None

    def sync(self) -> asyncio.Future[None]:
        """Sync what is written; what comes meanwhile shares the next time."""
        queued = self._queued
        if queued is None:
            loop = asyncio.get_running_loop()
            queued = self._queued = self.pending = loop.create_future()
            if self._present is None:
                self._begin()
        return queued

    def settle(self) -> None:
        """Sync what is written now, before the file is another one.

        Raises
        ------
        OSError
            If that fails; whoever waits is told so, too, since a second attempt would not
            find what the first has lost.
        """
        file = self._file()
        assert file is not None, "it is open"
        try:
            sync_file(file)
        except OSError as error:
            for one in (self._present, self._queued):
                if one is not None and not one.done():
                    one.set_exception(error)
            self._present = self._queued = self.pending = None
            raise

    def close(self) -> None:
        """Tell nobody any more: the file is closed."""
        if self._ends is not None:
            self._ends.close()
            self._ends = None
        for one in (self._present, self._queued):
            if one is not None:
                one.cancel()
        self._present = self._queued = self.pending = None

    # ------------------------------------------------------------------------ inside

    def _begin(self) -> None:
        self._present, self._queued = self._queued, None
        file = self._file()
        if file is None:
            self._end(0)
        elif not self._is_asked(file):
            again = os.dup(file)  # the segment may be closed meanwhile
            loop = asyncio.get_running_loop()
            done = loop.run_in_executor(None, _sync, again)
            done.add_done_callback(self._ended_in_thread)

    def _is_asked(self, file: int) -> bool:
        """Ask the kernel for it; say whether it will do it."""
        try:
            ask = library().wl_sync
            if self._ends is None:
                self._ends = _Ends(self._hear)
            self._ticket += 1
            return bool(ask(file, self._ends.other.fileno(), self._ticket) == 0)
        except (KernelMissing, NotImplementedError):  # of a loop without readers
            return False

    def _hear(self) -> None:
        assert self._ends is not None, "it is read as long as it is open"
        for ticket, error in _DONE.iter_unpack(self._ends.mine.recv(_MOST)):
            if ticket == self._ticket and self._present is not None:
                self._end(error)

    def _ended_in_thread(self, done: asyncio.Future[int]) -> None:
        if not done.cancelled():
            self._end(done.result())

    def _end(self, error: int) -> None:
        """Let go on who waited for it, and begin the next one."""
        present, self._present = self._present, None
        if present is None:
            return  # closed meanwhile
        if present is self.pending:
            self.pending = None
        if not present.done():
            if error:
                present.set_exception(OSError(error, os.strerror(error)))
            else:
                present.set_result(None)
        if self._queued is not None:
            self._begin()


class _Ends:
    """The ends of a socket: the kernel's, and the one that the loop listens to."""

    def __init__(self, hear: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.mine, self.other = socket.socketpair()
        self.mine.setblocking(False)
        try:
            self._loop.add_reader(self.mine, hear)
        except BaseException:
            self.mine.close()
            self.other.close()
            raise

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # of a loop that is closed
            self._loop.remove_reader(self.mine)
        self.mine.close()
        self.other.close()


def _sync(file: int) -> int:
    """Sync a file and close it; return the number of an error, or 0."""
    try:
        sync_file(file)
    except OSError as error:
        return error.errno or -1
    finally:
        os.close(file)
    return 0
