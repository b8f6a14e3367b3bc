"""Work that is ended on time though it does not look at the clock.

A search looks at its budget between two runs. One run, the derivation of a formula, or
what follows from a text alone may take longer than all of that; so a signal ends it. It
needs ``SIGALRM`` and the main thread; elsewhere such work goes on to its end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

from worldline.engine.bounds import BoundHit
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Stop
from worldline.model.usercode.interrupts import is_lost

GRACE_S = 0.5
"""Seconds that a search has to end by itself, with what it has found."""

_SOON_S = 1e-4


class Late(BoundHit, Stop):
    """Time was up inside user code, which is not to take this for an error of its own."""


@contextlib.contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Raise `BoundHit` inside this block when its time, and a little more, is up."""
    if (
        seconds is None
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    ends = time.monotonic() + seconds + GRACE_S
    # User code is being watched, mostly: then that clock rings often enough.
    is_rung = signal.getitimer(signal.ITIMER_REAL)[0] > 0

    def ring(signum: int, frame: FrameType | None) -> None:
        if time.monotonic() >= ends and is_lost(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON_S, GRACE_S)
        elif time.monotonic() >= ends:
            late = Late("seconds")
            if activity.is_here():
                activity.stop = late
            raise late
        elif is_rung and callable(before):
            before(signum, frame)

    before = signal.getsignal(signal.SIGALRM)  # it may ring at once
    signal.signal(signal.SIGALRM, ring)
    if not is_rung:
        # Again and again: a callback of the solver may lose what is raised in it.
        signal.setitimer(signal.ITIMER_REAL, GRACE_S, GRACE_S)
    try:
        yield
    finally:
        if not is_rung:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
