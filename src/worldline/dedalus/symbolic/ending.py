"""The end of a process in which a library's thread goes on and cannot be stopped.

C++ destroys what such a thread still uses, and the process dies with it, whatever was
to be its status. So it ends before that. The command needs none of this: it always does.
"""

from __future__ import annotations

import atexit
import os
import sys


class _Ending:
    """A mark that this process is to end so."""

    registered = False


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
    os._exit(int(failed))
