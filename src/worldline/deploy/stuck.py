"""A watch over user code that does not return: nothing else of its process happens meanwhile.

It is said, once. What companions ask, such as a property, is broken off as well: they go on
without an answer. A handler is not: it may be slow, and what it has begun is half done.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import FrameType
from typing import TypeAlias, final

from worldline.model.usercode.activity import activity
from worldline.model.usercode.beat import words
from worldline.model.usercode.divergence import (
    BY_THE_CLOCK,
    Diverged,
    Suspected,
    clock,
)
from worldline.model.usercode.places import is_ours, is_users

LIMIT_S = 5.0
"""Seconds after which it is said."""

_PAUSE_S = 0.001
"""Seconds between two looks whether code can be broken off."""

_TRIES = 1_000
"""Looks for a moment at which the user's own code runs: only that can be broken off."""

_Execution: TypeAlias = tuple[int, int]
"""Which execution runs; the first number is 0 if none does."""


@final
class StuckWatch:
    """A thread that says, once for each execution, that user code has not returned.

    It watches the thread that makes it, until `stop`.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say, self._limit = say, LIMIT_S
        self._watched = threading.get_ident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="stuck")
        self._thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        running = said = _NOTHING
        while not self._over.wait(self._limit):
            now = _running()
            if now[0] and now == running and self._is_inside():
                if now != said and not clock.counting:  # or it was said already
                    said = now
                    self._say(
                        f"{self._what()} has not returned for {self._limit:g} s; all else "
                        "of its process waits"
                    )
                if activity.dispensable:
                    self._break_off(now)
            running = now

    def _is_inside(self) -> bool:
        """Say whether it is the watched thread that runs user code, and no other."""
        return activity.inside.get("thread") == (self._watched,)

    def _what(self) -> str:
        """Return what runs, and where it is by now."""
        frame = sys._current_frames().get(self._watched)
        *_, asked = ("a handler", *_asked(frame))
        return f"{asked}{_place(frame)}"

    def _break_off(self, execution: _Execution) -> None:
        """Raise what stops code in its thread, at a moment at which the user's own runs."""
        import ctypes  # takes a while, and few need it

        kind = Suspected if clock.repeatable and not clock.counting else _TooLong
        thread, error = ctypes.c_ulong(self._watched), ctypes.py_object(kind)
        stop, throw = kind(), ctypes.pythonapi.PyThreadState_SetAsyncExc
        for _ in range(_TRIES):
            time.sleep(_PAUSE_S)
            # The interpreter was given to this thread just now, and not for so short that
            # the other could go on before the end. It stands where it looks for such errors
            # next; what is taken back would have every thread look for ever.
            frame = sys._current_frames().get(self._watched)
            is_so = activity.dispensable and self._is_inside()
            if not is_so or _running() != execution or frame is None:
                return
            if is_users(frame.f_code.co_filename):
                activity.stop = stop
                throw(thread, error)
                return


class _TooLong(Diverged):
    """It has been running for too long; made without arguments where it is raised."""

    def __init__(self) -> None:
        super().__init__(f"{LIMIT_S:g} s, {BY_THE_CLOCK}")


_NOTHING: _Execution = (0, 0)


def _running() -> _Execution:
    return words[0], clock.execution


def _asked(frame: FrameType | None) -> Iterator[str]:
    """Yield the user's functions that Worldline has called, from the innermost outwards."""
    while frame is not None:
        caller = frame.f_back
        is_called = caller is not None and is_ours(caller.f_code.co_filename)
        if is_called and is_users(frame.f_code.co_filename):
            yield frame.f_code.co_qualname
        frame = caller


def _place(frame: FrameType | None) -> str:
    """Return the line of the user's code that runs, to stand behind its name."""
    while frame is not None:
        name = frame.f_code.co_filename
        if is_users(name):
            return f" ({PurePath(name).name}:{frame.f_lineno})"
        frame = frame.f_back
    return ""
