"""The command ``worldline`` as a process: begun anew should a call into C never end.

Such a call, like ``sum(itertools.count())``, can be ended by nothing but the end of the
process (`model/usercode/beat.py`). So a thread of the kernel replaces the process by the same
command, which then does its work in a child of its own: where that is stuck, the child
is ended, and another does the same again but for the execution in question, which is
a divergence. What is deterministic is so in both children, since they begin alike.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NoReturn

from worldline.cli.main import main
from worldline.cli.termination import SIGNALS
from worldline.model.usercode import beat

_AGAIN = "_WORLDLINE_BEGUN_ANEW"
_VERBS = frozenset({"check", "walk", "fuzz", "faults", "replay"})
_THREADED = frozenset({"check", "walk", "fuzz"})
_MOST = 8
"""Executions that are given up before the command is."""

_UNKNOWN = 3


def entry() -> NoReturn:
    """Run the command of this process."""
    if os.environ.pop(_AGAIN, None):
        sys.exit(_supervised())
    if sys.argv[1:2] and sys.argv[1] in _VERBS and not _asks_for_help():
        _keep_watch()
    sys.exit(main())


def _asks_for_help() -> bool:
    return "-h" in sys.argv or "--help" in sys.argv


def _keep_watch() -> None:
    """Have the kernel watch for what never ends, where there is one."""
    from worldline.engine.native.library import available, library

    if not hasattr(os, "fork") or not available():
        return
    beat.spare_collections()
    command = [sys.executable, *sys.orig_argv[1:]]
    environment = [f"{name}={value}" for name, value in os.environ.items()]
    library().wl_keep_watch(
        beat.address(),
        beat.LIMIT_S,
        _strings(command),
        _strings([*environment, f"{_AGAIN}=1"]),
    )


def _strings(texts: list[str]) -> ctypes.Array[ctypes.c_char_p]:
    """Return texts as C has them; they are kept for as long as the process lives."""
    strings = (ctypes.c_char_p * (len(texts) + 1))(*map(os.fsencode, texts), None)
    _kept.append(strings)
    return strings


_kept: list[ctypes.Array[ctypes.c_char_p]] = []


def _supervised() -> int:
    """Run the command in children, the next one without what the last was stuck in."""
    given_up: frozenset[beat.ExecutionNumber] = frozenset()
    beat.spare_collections()
    while len(given_up) <= _MOST:
        child = _fork(given_up)
        execution = _stuck_in(child)
        if execution is None:
            return _status_of(child)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        given_up |= {execution}
    with contextlib.suppress(OSError):  # the exit code says it, too
        print(
            f"worldline: UNKNOWN: {_MOST} executions of handlers or properties did not "
            "return, and there are more",
            file=sys.stderr,
            flush=True,
        )
    return _UNKNOWN


def _fork(given_up: frozenset[beat.ExecutionNumber]) -> int:

    beat.end()
    child = os.fork()
    if child:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child answers it

        def end(signum: int, frame: FrameType | None) -> None:
            os.kill(child, signal.SIGKILL)
            os._exit(128 + signum)

        _handle_termination(end)
        return child
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _handle_termination(signal.SIG_DFL)
    beat.give_up(given_up)
    # Last, so that it wins: with one thread, executions have the same numbers again.
    single = ["--threads", "1"] if sys.argv[1] in _THREADED else []
    sys.exit(main([*sys.argv[1:], *single]))


def _handle_termination(handler: Callable[..., None] | signal.Handlers) -> None:
    """Set what is done about SIGTERM and SIGHUP, unless it is nothing, as by ``nohup``."""
    for one in SIGNALS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, handler)


_status: dict[int, int] = {}


def _status_of(child: int) -> int:
    status = os.waitstatus_to_exitcode(_status[child])
    return status if status >= 0 else 128 - status


def _stuck_in(child: int) -> beat.ExecutionNumber | None:
    """Return the execution that a child is stuck in; None if it ended."""
    before, since = (0, 0), 0.0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _status[child] = status
            return None
        now, used = beat.seen(), _processor_seconds(child)
        if not now[0] or now != before:
            before, since = now, used
        elif used - since >= beat.LIMIT_S:
            return now
        time.sleep(0.05)


def _processor_seconds(child: int) -> float:
    """Return the processor time of a child; where nobody tells it, the time."""
    try:
        said = Path(f"/proc/{child}/stat").read_text("utf-8", "replace")
    except OSError:
        return time.monotonic()
    user, system = said.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
