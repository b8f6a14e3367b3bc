"""Ctrl-C: it ends a search at once, and waits while an answer is made of it.

Without a block that holds it, Ctrl-C is what it always is. Inside one, the first is
raised only where something is searched (`heard`), or kept for the next look at the
bounds; a second one ends the whole at once.

A handler may raise KeyboardInterrupt by itself, which is a violation and not Ctrl-C. So
inside the block Ctrl-C raises an exception of its own, `Interrupted`. Outside, in other
threads, and where SIGINT is handled already, every KeyboardInterrupt counts as
Ctrl-C, unless it is said that none does (`elsewhere`).
"""

from __future__ import annotations

import _thread
import contextlib
import gc
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import final

from worldline.model.usercode.activity import activity

_WEAK_MODULES = frozenset(
    code.__code__.co_filename
    for code in (weakref.finalize.__call__, weakref.WeakSet.__init__)
)
"""The files whose functions are called when what is referred to weakly goes."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed."""


def is_interrupt(error: BaseException) -> bool:
    """Say whether an exception means that somebody pressed Ctrl-C."""
    return isinstance(error, Interrupted if _Keys.held else KeyboardInterrupt)


def is_lost(frame: FrameType | None) -> bool:
    """Say whether Python would drop what is raised in a frame: it takes objects apart."""
    callbacks = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    while frame is not None:
        code = frame.f_code
        if (
            code.co_name == "__del__"
            or code in callbacks
            or code.co_filename in _WEAK_MODULES
        ):
            return True
        frame = frame.f_back
    return False


_SOON_S = 0.001


def press(signum: int, frame: FrameType | None) -> None:
    """Raise Ctrl-C, as Python does by itself; where that would be dropped, soon after."""
    if not is_lost(frame):
        raise KeyboardInterrupt
    # Not from here: the handler of that would be run before this one has come to its end.
    _thread.start_new_thread(_press_soon, ())


def _press_soon() -> None:
    time.sleep(_SOON_S)
    os.kill(os.getpid(), signal.SIGINT)


_USUAL = (signal.default_int_handler, press)


def _raise() -> None:
    raise KeyboardInterrupt


class _Keys:
    """The keys that were pressed, and who is to know."""

    held = False
    heard = False
    unheard = False
    pressed = False
    pending = False
    announced = -1
    last: Callable[[], None] = staticmethod(_raise)


def at_the_second(last: Callable[[], None]) -> None:
    """Say what a second Ctrl-C does; without it, it is raised wherever it comes."""
    _Keys.last = staticmethod(last)


def pending() -> bool:
    """Say whether Ctrl-C was pressed that nobody has heeded yet; after that, no more."""
    if _Keys.unheard or not _Keys.pending:
        return False
    _Keys.pending = False
    return True


@contextlib.contextmanager
def passed_on() -> Iterator[None]:
    """Raise Ctrl-C after this block, if it was pressed by then.

    A search in it has ended with it, and knows nothing of the whole that it is part of.
    """
    try:
        yield
    finally:
        if _Keys.held and _Keys.pressed and not _Keys.unheard:
            raise Interrupted


def announced() -> int:
    """Return a file from which the numbers of signals can be read at once; -1: none.

    That is for code that is not in Python, and has to come back first.
    """
    return -1 if _Keys.unheard else _Keys.announced


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Keep Ctrl-C inside this block from whatever does not ask for it.

    Elsewhere than in the main thread, and where somebody else handles it, nothing is
    changed. Where it is ignored it stays so, and what is to be as Ctrl-C is held alone.
    """
    before = signal.getsignal(signal.SIGINT)
    is_ignored = before is signal.SIG_IGN
    if (
        _Keys.held
        or threading.current_thread() is not threading.main_thread()
        or not (is_ignored or before in _USUAL)
    ):
        yield
        return
    _Keys.pressed = _Keys.pending = _Keys.heard = False
    # It may come between any two of these, and is not to be taken for the user's own
    # for ever after.
    try:
        _Keys.held = True
        if not is_ignored:
            signal.signal(signal.SIGINT, take)
        with _announcing():
            yield
    finally:
        _Keys.held = _Keys.heard = _Keys.pending = False
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Keep Ctrl-C in this block from those, too, who ask for it.

    What has ended by itself and is run again in it has to go as it went. A second Ctrl-C
    ends the whole at once, here as well.
    """
    before = _Keys.unheard
    _Keys.unheard = True
    try:
        yield
    finally:
        _Keys.unheard = before


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Take no KeyboardInterrupt in this block for Ctrl-C, of which somebody else takes care.

    That one raises none: it is what the user's code has raised by itself.
    """
    before = _Keys.held
    _Keys.held, _Keys.pressed, _Keys.pending = True, False, False
    try:
        yield
    finally:
        _Keys.held = before


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Raise Ctrl-C, as `Interrupted`, wherever it comes inside this block."""
    with held(), heard():
        yield


@contextlib.contextmanager
def _announcing() -> Iterator[None]:
    """Have the numbers of signals written to a file, unless others read them already."""
    if not hasattr(os, "pipe2"):
        yield
        return
    read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    if before >= 0:
        signal.set_wakeup_fd(before)
    else:
        _Keys.announced = read
    try:
        yield
    finally:
        if before < 0:
            signal.set_wakeup_fd(-1)
        _Keys.announced = -1
        os.close(read)
        os.close(write)


@final
class heard:  # noqa: N801 - a block, like `held`
    """Let Ctrl-C be raised inside this block, as it always is elsewhere."""

    def __init__(self) -> None:
        self._before = False

    def __enter__(self) -> None:
        self._before = _Keys.heard
        _Keys.heard = _Keys.held
        if pending():
            _Keys.heard = False
            raise Interrupted

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _Keys.heard = self._before


def take(signum: int, frame: FrameType | None) -> None:
    """Take Ctrl-C, or a signal that is to be as Ctrl-C, for a block that holds it."""
    if not _Keys.held:
        raise KeyboardInterrupt
    if _Keys.pressed:
        _Keys.last()
        return
    # Also where it is raised, until it is caught: Python drops what is raised while it
    # takes objects apart.
    _Keys.pressed = _Keys.pending = True
    if _Keys.heard and not _Keys.unheard and not is_lost(frame):
        # Once: what the search cleans up, and the answer, are not to be torn.
        _Keys.heard = False
        error = Interrupted()
        if activity.is_here():
            activity.stop = error  # user code may swallow what is raised in it
        raise error
