"""User code that does not return: suspected by the clock, convicted by counting lines.

The clock alone would make a verdict depend on the machine. So a timer only stops code
that has run for long; it is then run again from the same state under a budget of
executed lines, and exceeding that budget is a divergence. Only what executes too few
lines to be counted, such as one long call into C, is convicted by the clock, and says
so. The clock needs ``SIGALRM`` and the main thread; elsewhere nothing is stopped.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from worldline.model.usercode.activity import activity
from worldline.model.usercode.interrupts import is_lost
from worldline.model.usercode.one_thread import claim, release
from worldline.model.usercode.places import is_ours, is_users

T = TypeVar("T")

LINE_BUDGET = 1_000_000
"""Lines that one handler may execute before it counts as divergent."""

PATIENCE_S = 0.5
"""Seconds between two looks of the clock; what is seen twice is suspected."""

LIMIT_S = 2.0
"""Seconds of processor time that one handler may take; of any time if it sleeps."""

_AGAIN_S = 50e-6
"""The same for code that has swallowed what was to stop it: often, so that one of the
exceptions is raised where nothing catches it."""

_MOST_MISSED = 1_000
"""Times that code is spared because it is inside a call of Worldline's or Python's."""

_ASLEEP = 0.01
"""The share of the time below which code that is running is taken to sleep."""

_LOOKS = int(LIMIT_S / PATIENCE_S)
"""Looks after which it is: the clock wakes who sleeps, and not who is kept waiting for a
processor or for memory."""


_LIBRARY = str(Path(contextlib.__file__).parent)


class Stop(BaseException):
    """User code is to end; BaseException, so that hardly any swallows it."""


class Suspected(Stop):
    """It has been running for long."""


class Diverged(Stop):
    """It exceeded its budget; the text says which."""


BY_THE_CLOCK = "by the clock"
"""How the text ends where the machine may have had a part in it."""


class _Clock:
    """The execution of user code that is running, and the one that the clock saw last.

    Attributes
    ----------
    repeatable
        Whether the execution can be run again under a budget.
    counting
        Whether it runs under one.
    collected
        How often all garbage had been collected then. That is one call into C, takes
        seconds where there is much in memory, and is no time of user code.
    since, looks
        Processor time and time when the clock first saw it, and how often it has since.
    missed
        How often it was spared since; see `_is_users`.
    """

    __slots__ = (
        "collected",
        "counting",
        "execution",
        "looks",
        "missed",
        "repeatable",
        "seen",
        "since",
    )

    def __init__(self) -> None:
        self.execution = 0
        self.seen = -1
        self.repeatable = False
        self.counting = False
        self.collected = 0
        self.since = (0.0, 0.0)
        self.looks = 0
        self.missed = 0


clock = _Clock()  # to change an attribute of a class takes several times as long


def begin(*, repeatable: bool) -> bool:
    """Note that another execution of user code begins.

    Returns
    -------
    bool
        Whether it runs under a budget, and so for the second time.
    """
    clock.execution += 1
    clock.repeatable = repeatable
    return clock.counting


def _look(signum: int, frame: FrameType | None) -> None:
    if not activity.is_here():
        return
    due = _due()
    if due is None:
        return
    spared = is_lost(frame) or (clock.missed < _MOST_MISSED and not _is_users(frame))
    if spared or activity.stop is not None:
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S, PATIENCE_S)
    clock.missed = clock.missed + 1 if spared else 0
    if not spared:
        _stop(due)


def _is_users(frame: FrameType | None) -> bool:
    """Say whether a frame is the user's own, where most can be broken off safely."""
    if frame is None:
        return False
    filename = frame.f_code.co_filename
    if is_ours(filename):
        return is_users(filename)
    return not filename.startswith((_LIBRARY, "<frozen"))


def _is_library(filename: str) -> bool:
    """Say whether code is Worldline's own, and no system of the zoo."""
    return is_ours(filename) and not is_users(filename)


def _due() -> Stop | None:
    """Return what is to stop the code that runs, if it has had its time."""
    if isinstance(activity.stop, Stop):
        return type(activity.stop)(*activity.stop.args)
    now = time.thread_time(), time.monotonic()
    collected = gc.get_stats()[-1]["collections"]
    if (clock.seen, clock.collected) != (clock.execution, collected):
        clock.seen, clock.collected, clock.since = clock.execution, collected, now
        clock.looks = clock.missed = 0
        return None
    clock.looks += 1
    used, passed = now[0] - clock.since[0], now[1] - clock.since[1]
    if clock.repeatable and not clock.counting:
        return Suspected()
    sleeps = passed >= LIMIT_S and used < passed * _ASLEEP and clock.looks >= _LOOKS
    if used >= LIMIT_S or sleeps:
        return Diverged(f"{LIMIT_S:g} s, {BY_THE_CLOCK}")
    return None


def _stop(error: Stop) -> None:
    activity.stop = error
    raise error


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Stop user code that runs for long, in this block."""
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
        # None: somebody's handler that Python does not know, and cannot set again.
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)


def within_budget(run: Callable[[], T], lines: int | None = None) -> T:
    """Return ``run()``, or raise `Diverged` once it has executed too much.

    Parameters
    ----------
    lines
        How many lines it may execute; `LINE_BUDGET` by default.
    """
    allowed = LINE_BUDGET if lines is None else lines
    left, own = allowed, globals()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if frame.f_globals is own or _is_library(frame.f_code.co_filename):
            return None  # the clock looks, and how many lines Worldline has is its part
        if event == "line" and activity.running:
            left -= 1
            if left < 0:
                _stop(Diverged(f"{allowed:,} lines"))
        return trace

    claimed, before = claim(), sys.gettrace()
    sys.settrace(trace)
    clock.counting = True
    begin(repeatable=False)
    try:
        return run()
    finally:
        clock.counting = False
        sys.settrace(before)
        if claimed:
            release()
