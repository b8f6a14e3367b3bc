"""Which evaluations of guards are watched along one run: not all, since a look takes long."""

from __future__ import annotations

import math
import time
from typing import Any, final

_SAMPLE = 64
"""Of so many evaluations of a guard, one is watched."""

_LONG_S = 0.005
"""Seconds of a look at a node that it must not wait for again."""


@final
class GuardWatch:
    """The evaluations of guards along one run.

    Parameters
    ----------
    share
        So many times the time that the last look took lies between it and the next, and
        after one that took long there is none; 0 where time is to change nothing, as in
        simulations.
    """

    __slots__ = ("_counts", "_not_before", "_share")

    def __init__(self, share: int = 0) -> None:
        self._counts: dict[Any, int] = {}
        self._share, self._not_before = share, 0.0

    def is_next(self, guard: Any) -> bool:
        """Say whether to watch the evaluation of a guard that comes now."""
        count = self._counts.get(guard, 0)
        if count % _SAMPLE == 0 and self._share and time.monotonic() < self._not_before:
            return False  # the next one is due still
        self._counts[guard] = count + 1
        return count % _SAMPLE == 0

    def looked(self, since: float) -> None:
        """Take note that a look is over, which began at a time of `time.monotonic`."""
        if self._share:
            now = time.monotonic()
            took = now - since
            self._not_before = now + self._share * took if took < _LONG_S else math.inf
