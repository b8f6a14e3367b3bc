"""A watch over handlers that do not return: nothing else of their process happens meanwhile."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import final

from worldline.model.semantics import execute, plain
from worldline.model.usercode.beat import words

LIMIT_S = 5.0
"""Seconds after which it is said."""

_RUNNERS = frozenset({execute.__file__, plain.__file__})
"""What calls handlers."""


@final
class StuckWatch:
    """A thread that says, once for each execution, that a handler has not returned.

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
        running = said = 0
        while not self._over.wait(self._limit):
            now = words[0]  # the number of the execution that runs; 0 if none does
            if now and now == running != said:
                said = now
                self._say(
                    f"{self._name()} has not returned for {self._limit:g} s; all else of "
                    "its process waits"
                )
            running = now

    def _name(self) -> str:
        frame = sys._current_frames().get(self._watched)
        *_, handler = ("a handler", *_handlers(frame))
        return handler


def _handlers(frame: FrameType | None) -> Iterator[str]:
    """Yield what is called by who runs handlers, from the innermost call outwards."""
    while frame is not None:
        caller = frame.f_back
        is_run = caller is not None and caller.f_code.co_filename in _RUNNERS
        if is_run and frame.f_code.co_filename not in _RUNNERS:
            yield frame.f_code.co_qualname
        frame = caller
