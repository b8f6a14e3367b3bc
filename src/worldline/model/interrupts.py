"""Ctrl-C, told from a KeyboardInterrupt that a handler raises by itself.

The first ends a search, the second is a violation. Python raises the same exception
for both; so inside a search Ctrl-C raises one of our own. That needs the main thread;
elsewhere, and where somebody handles SIGINT already, every KeyboardInterrupt counts
as Ctrl-C.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from worldline.model import activity


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed."""


class _Heeding:
    """Whether Ctrl-C raises `Interrupted` now."""

    on = False


def is_interrupt(error: BaseException) -> bool:
    """Say whether an exception means that somebody pressed Ctrl-C."""
    if _Heeding.on:
        return isinstance(error, Interrupted)
    return isinstance(error, KeyboardInterrupt)


@contextlib.contextmanager
def heeded() -> Iterator[None]:
    """Raise `Interrupted` at Ctrl-C, inside this block."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, _press)
    _Heeding.on = True
    try:
        yield
    finally:
        _Heeding.on = False
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _press(signum: int, frame: FrameType | None) -> None:
    error = Interrupted()
    if activity.running:
        activity.stop = error
    raise error
