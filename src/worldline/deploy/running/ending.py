"""The end of a run: when its work is done, or on request."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from types import FrameType
from typing import Any, final

from worldline import _command
from worldline.model.errors import WorldlineError
from worldline.model.usercode.interrupts import elsewhere

LATE_S = 30.0
"""Seconds after the first signal after which the process leaves at once, all the same."""


@final
class RunEnding:
    """The wish that a run end; the second time it is not waited for.

    Handlers of a node may keep the loop busy. So a signal is taken where it comes, and
    the loop is told.

    Attributes
    ----------
    reason
        Who wished it, in a word; empty if nobody did.
    error
        What went wrong, if that is why.
    at_once
        Is called before the process leaves at once.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.error: Exception | None = None
        self.at_once: Callable[[], None] = lambda: None
        self._late: threading.Timer | None = None
        self._asked = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def asked(self) -> None:
        """Wait until somebody does."""
        await self._asked.wait()

    def ask(self, reason: str) -> None:
        """Ask for the end, from any thread."""
        self.reason = self.reason or reason
        with contextlib.suppress(RuntimeError):  # the loop is closed: it has ended
            self._loop.call_soon_threadsafe(self._asked.set)

    def fail(self, error: Exception) -> None:
        """Ask for the end because something went wrong."""
        self.error = self.error or error
        self.ask("an error")

    @contextlib.contextmanager
    def failing(self) -> Iterator[None]:
        """Take what this block raises for what is wrong: the run is told of all the same."""
        try:
            yield
        except (WorldlineError, OSError) as error:
            self.fail(error)

    @contextlib.contextmanager
    def listening(self, *, to_keys: bool = True) -> Iterator[None]:
        """Take Ctrl-C, SIGTERM and SIGHUP for it in this block, in the main thread.

        A SIGHUP that is ignored, as under ``nohup``, stays so.

        Parameters
        ----------
        to_keys
            Whether Ctrl-C counts; otherwise it is for another process.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        keys = self._take if to_keys else signal.SIG_IGN
        taken: dict[signal.Signals, Any] = {
            signal.SIGTERM: self._take,
            signal.SIGINT: keys,
        }
        hangup = getattr(signal, "SIGHUP", None)
        if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
            taken[hangup] = self._take
        before = {which: signal.signal(which, how) for which, how in taken.items()}
        try:
            with elsewhere():
                yield
        finally:
            for which, how in before.items():
                signal.signal(which, how)
            if self._late is not None:
                self._late.cancel()

    def _take(self, signum: int, frame: FrameType | None) -> None:
        if self.reason:
            self._leave()
        # A handler that does not return keeps the loop from ending anything.
        self._late = threading.Timer(LATE_S, self._leave)
        self._late.daemon = True
        self._late.start()
        self.ask("Ctrl-C" if signum == signal.SIGINT else signal.Signals(signum).name)

    def _leave(self) -> None:
        self.at_once()
        _command.quit_at_once()


async def until_over(
    ending: RunEnding, ends: Sequence[Awaitable[Any]], beside: Sequence[Awaitable[Any]]
) -> None:
    """Wait until somebody asks for the end, or one of some works is done.

    Parameters
    ----------
    beside
        What goes on meanwhile; that it is done ends nothing.

    Raises
    ------
    Exception
        What one of them raises.
    """
    enders = {*map(asyncio.ensure_future, (ending.asked(), *ends))}
    others = {*map(asyncio.ensure_future, beside)}
    waiting = enders | others
    try:
        while not any(one.done() for one in enders):
            done, waiting = await asyncio.wait(
                waiting, return_when=asyncio.FIRST_COMPLETED
            )
            for one in done:
                one.result()
    finally:
        for one in enders | others:
            one.cancel()
        await asyncio.gather(*enders, *others, return_exceptions=True)
