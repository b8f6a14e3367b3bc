"""What a search may use up, and how much it has used."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a search; None means no limit.

    Attributes
    ----------
    depth
        States on a path, the initial one counted.
    states
        Distinct states.
    seconds
        Wall-clock seconds.
    memory_mb
        Resident memory of the process, in MiB.
    """

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_mb: int | None = None


class BoundHit(Exception):
    """A search has used up one of its limits.

    Attributes
    ----------
    bound
        ``depth``, ``states``, ``seconds``, ``memory``, ``interrupted``, or
        ``fingerprints``: two states have the same one.
    """

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


def bound_that_ended(work: Callable[[], object]) -> str | None:
    """Do some work; return the bound that ended it, None if it was finished.

    Ctrl-C is the bound ``interrupted``: what was learned until then is kept.
    """
    try:
        work()
    except BoundHit as hit:
        return hit.bound
    except KeyboardInterrupt:
        return "interrupted"
    return None


@final
class Meter:
    """Watches the limits that depend on the machine: time and memory."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._began

    def check(self) -> None:
        """Raise `BoundHit` if time or memory is used up."""
        bounds = self._bounds
        if bounds.seconds is not None and self.seconds > bounds.seconds:
            raise BoundHit("seconds")
        if bounds.memory_mb is not None and memory_mb() > bounds.memory_mb:
            raise BoundHit("memory")


def memory_mb() -> float:
    """Return the resident memory of this process now, in MiB."""
    try:
        with open("/proc/self/statm") as statm:  # noqa: PTH123  the fast way
            pages = int(statm.read().split()[1])
    except OSError:
        return peak_memory_mb()
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_memory_mb() -> float:
    """Return the largest resident memory of this process so far, in MiB.

    Zero where the platform does not tell.
    """
    try:
        import resource
    except ImportError:
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)
