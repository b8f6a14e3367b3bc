"""The end that somebody else asks for, by SIGTERM or as a terminal goes: as by Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType

from worldline import _command

SIGNALS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""The signals that ask for the end, as far as the platform has them."""


@contextlib.contextmanager
def ended_by_termination(*, as_keys: bool = False) -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block first, and then the process.

    The first is raised in the block as KeyboardInterrupt, so that it ends what it has
    begun. One that is ignored, as under ``nohup``, stays so.

    Parameters
    ----------
    as_keys
        Whether it comes to the block as Ctrl-C itself, for one that holds that back
        until it has printed what it learned.
    """
    if not _command.IS_PROCESS:
        yield
        return
    from worldline.model.usercode.interrupts import take

    told: list[int] = []

    def end(signum: int, frame: FrameType | None) -> None:
        if not told:
            told.append(signum)
            if not as_keys:
                raise KeyboardInterrupt
            if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
                take(signum, frame)
            signal.raise_signal(signal.SIGINT)

    before = {
        one: signal.signal(one, end)
        for one in SIGNALS
        if signal.getsignal(one) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        if told:
            sys.stdout.flush()
            os.kill(os.getpid(), told[0])


@contextlib.contextmanager
def ended_early() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP end a search in the block, which tells what it learned."""
    from worldline.model.usercode.interrupts import held

    with ended_by_termination(as_keys=True), held():
        yield
