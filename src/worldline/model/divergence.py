"""Handlers that do not return: suspected by the clock, convicted by counting lines.

The clock alone would make a verdict depend on the machine. So a timer only stops a
handler that has run for long; it is then run again from the same state under a
budget of executed lines, and only exceeding that budget is a divergence. The clock
needs ``SIGALRM`` and the main thread; elsewhere a handler that loops is not stopped.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, TypeVar

from worldline.model import activity

T = TypeVar("T")

LINE_BUDGET = 1_000_000
"""Lines that one handler may execute before it counts as divergent."""

PATIENCE_S = 1.0
"""Seconds between two looks of the clock; a handler seen twice is suspected."""


class Suspected(BaseException):
    """A handler has been running for long; BaseException, so that none swallows it."""


class Diverged(BaseException):
    """A handler exceeded its budget of lines."""


class _Clock:
    """Which handler execution is running, and which the clock saw last."""

    execution = 0
    seen = -1
    counting = False


def begin() -> None:
    """Note that another handler execution begins."""
    _Clock.execution += 1


def _look(signum: int, frame: FrameType | None) -> None:
    if activity.door is None or _Clock.counting:
        return
    if _Clock.seen == _Clock.execution:
        _Clock.seen = -1
        raise Suspected
    _Clock.seen = _Clock.execution


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Stop handlers that run for long, inside this block."""
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_REAL)[0] > 0
    ):
        yield
        return
    before = signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def within_budget(run: Callable[[], T], lines: int = LINE_BUDGET) -> T:
    """Return ``run()``, or raise `Diverged` once it has executed `lines` lines."""
    left = lines

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                raise Diverged
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    # Counting is slow: the clock must not suspect what is on trial already.
    _Clock.counting = True
    try:
        return run()
    finally:
        _Clock.counting = False
        sys.settrace(before)
