"""How the process ends where a library's thread goes on that nobody can stop.

C++ destroys what such a thread still uses, and the process dies with it, whatever its
verdict was. So it ends before that, with the status that it would have had.
"""

from __future__ import annotations

import atexit
import os
import sys


class _Ending:
    """The exit code of the command that this process is, once that is known."""

    status: int | None = None
    registered = False


def will_end_with(status: int) -> int:
    """Note and return the exit code of a command."""
    _Ending.status = status
    return status


def leave_a_thread_behind() -> None:
    """Let this process end without waiting for a thread that cannot be stopped."""
    if not _Ending.registered:
        _Ending.registered = True
        atexit.register(_end)


def _end() -> None:
    failed = getattr(sys, "last_type", None) is not None
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(int(failed) if _Ending.status is None else _Ending.status)
