"""A lock on the folder of a journal: one process writes it at a time."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import final

from worldline.model.errors import UsageError


@final
class FolderLock:
    """A lock that ends with its process, however that ends.

    Attributes
    ----------
    folder
        What is locked; it is made.

    Raises
    ------
    UsageError
        If somebody has it, or it cannot be made or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        flags = os.O_CREAT | os.O_RDWR
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._fd = os.open(folder / "lock", flags, 0o600)
        except OSError as error:
            raise UsageError(
                f"cannot write a journal into {folder}: {error.strerror or error}",
                remedy="record into a folder that can be written",
            ) from None
        try:
            _lock(self._fd)
        except OSError:
            os.close(self._fd)
            raise UsageError(
                f"{folder} is being written already",
                remedy="end first who writes it, another process or another host of this "
                "one, or record into another folder",
            ) from None

    def close(self) -> None:
        """Let go of it."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = -1


if sys.platform == "win32":

    def _lock(fd: int) -> None:
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:

    def _lock(fd: int) -> None:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
