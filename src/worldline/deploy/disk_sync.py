"""Syncs of a journal to the disk, beside the loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import final

from worldline.deploy.segment_file import sync_file
from worldline.engine.native.library import KernelMissing, library

_DONE = struct.Struct("=qq")
"""What the kernel says of a sync: its ticket, and the number of an error, or 0."""

_MOST = 64 * _DONE.size


LAZY_S = 0.01
"""Seconds after which what is owed is synced, though nothing leaves that depends on it."""


def _nobody(error: OSError | None) -> None:
    """Hear nothing."""


@final
class DiskSync:
    """The syncs of one journal, one after the other; belongs to the loop that runs.

    What was written is owed first, and synced once something is to leave that depends on it:
    it may be that nothing does, and a sync keeps the next one waiting.

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
    ended
        The number of the last sync that is over. They are numbered from 1.
    hear
        Is called at the end of each sync, with its error. Whoever waits for one that has
        not begun is told of an error, too.
    """

    def __init__(self, file: Callable[[], int | None]) -> None:
        self._file = file
        self._asked = self._present = self.ended = 0
        self._is_owed = False
        self._due: float | None = None
        self._lazy: asyncio.TimerHandle | None = None
        self._ends: _Ends | None = None
        self.hear: Callable[[OSError | None], None] = _nobody

    @property
    def is_busy(self) -> bool:
        """Whether a sync is under way."""
        return self._present > 0

    def owe(self) -> None:
        """Take note that what is written has to be synced before anything leaves."""
        self._is_owed = True

    def awaited(self, *, leaves: object) -> int:
        """Return the number of the sync to be waited for now; 0 for none.

        Parameters
        ----------
        leaves
            What is to leave. If that is anything, what is owed is synced.
        """
        if self._is_owed:
            if leaves:
                return self._sync()
            if self._due is None:
                self._fall_due(asyncio.get_running_loop())
        return self._asked if self._asked > self.ended else 0

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
            if self._asked > self.ended or self._is_owed:
                self._asked += 1  # so that nothing leaves before it is said
                asyncio.get_running_loop().call_soon(self._fail, error)
            self._present = 0
            self._owe_nothing()
            raise
        self._owe_nothing()

    def close(self) -> None:
        """Tell nobody any more: the file is closed."""
        self.hear = _nobody
        if self._lazy is not None:
            self._lazy.cancel()
        if self._ends is not None:
            self._ends.close()
            self._ends = None
        self._give_up()

    # ------------------------------------------------------------------------ inside

    def _sync(self) -> int:
        """Sync what is written, now or behind the present sync; return its number."""
        if not self._present:
            self._asked += 1
            self._begin()
        elif self._asked == self._present:
            self._asked += 1
        return self._asked

    def _fall_due(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due = loop.time() + LAZY_S
        if self._lazy is None:
            self._lazy = loop.call_at(self._due, self._pay, loop)

    def _pay(self, loop: asyncio.AbstractEventLoop) -> None:
        """Sync what is owed, unless what was owed then is paid, and this was not yet."""
        self._lazy, due = None, self._due
        if due is None:
            return
        if loop.time() < due:
            self._lazy = loop.call_at(due, self._pay, loop)
        else:
            self._sync()

    def _owe_nothing(self) -> None:
        self._is_owed, self._due = False, None

    def _give_up(self) -> None:
        """Let nobody wait for what was asked for."""
        self.ended, self._present = self._asked, 0
        self._owe_nothing()

    def _begin(self) -> None:
        self._present = self._asked
        self._owe_nothing()
        file = self._file()
        loop = asyncio.get_running_loop()
        if file is None:
            loop.call_soon(self._end, self._present, 0)
        elif not self._is_asked(file):
            again = os.dup(file)  # the segment may be closed meanwhile
            done = loop.run_in_executor(None, _sync, again)
            done.add_done_callback(partial(self._ended_in_thread, self._present))

    def _is_asked(self, file: int) -> bool:
        """Ask the kernel for it; say whether it will do it."""
        try:
            ask = library().wl_sync
            if self._ends is None:
                self._ends = _Ends(self._hear)
            return bool(ask(file, self._ends.other.fileno(), self._present) == 0)
        except (KernelMissing, NotImplementedError):  # of a loop without readers
            return False

    def _hear(self) -> None:
        assert self._ends is not None, "it is read as long as it is open"
        for number, error in _DONE.iter_unpack(self._ends.mine.recv(_MOST)):
            self._end(number, error)

    def _ended_in_thread(self, number: int, done: asyncio.Future[int]) -> None:
        if not done.cancelled():
            self._end(number, done.result())

    def _end(self, number: int, error: int) -> None:
        """Begin the next one, and let go on who waited for it."""
        if number != self._present:
            return  # settled or closed meanwhile
        self._present, self.ended = 0, number
        if error:
            self._fail(OSError(error, os.strerror(error)))
            return
        if self._asked > number:
            self._begin()
        self.hear(None)

    def _fail(self, error: OSError) -> None:
        """Tell whoever waits that what they wait for may be lost."""
        self._give_up()
        self.hear(error)


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
