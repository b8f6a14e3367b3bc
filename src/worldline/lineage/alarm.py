"""Work that is ended on time though it does not look at the clock.

A search looks at its budget between two runs. One run, the derivation of a formula, or
what follows from a text alone may take longer than all of that; so a signal ends it. It
needs ``SIGALRM`` and the main thread; elsewhere such work goes on to its end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from worldline.engine.bounds import BoundHit

GRACE_S = 0.5
"""Seconds that a search has to end by itself, with what it has found."""


@contextlib.contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Raise `BoundHit` inside this block when its time, and a little more, is up."""
    if (
        seconds is None
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_REAL)[0] > 0
    ):
        yield
        return

    def ring(signum: int, frame: FrameType | None) -> None:
        raise BoundHit("seconds")

    before = signal.signal(signal.SIGALRM, ring)
    # Again and again: a callback of the solver may lose what is raised in it.
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE_S, GRACE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
