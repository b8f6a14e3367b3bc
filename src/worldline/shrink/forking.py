"""Processes that are forked off this one: they know what it knows, and do some of its work.

Handlers are Python and systems are objects, made of anything: another process has them
only as a copy of this one. Where there is no fork, one process does everything.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import warnings

CAN_FORK = hasattr(os, "fork")

_LOOK_EVERY_S = 0.5
"""Between two looks at whether the process is there that this one was forked off."""


def fork() -> int:
    """Fork; return the number of the new process, and 0 in it."""
    with warnings.catch_warnings():
        # Of other threads, which a child has not: it runs handlers, and prints nothing.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def be_alone() -> None:
    """Have nothing to do with the signals of the process that this was forked off.

    Ctrl-C reaches all processes of a terminal; the first one answers it for the others.
    Once that is gone, this one ends, too: nobody waits for it.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(RuntimeError):  # no more threads: it ends when it is done
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_S)
    os._exit(1)
