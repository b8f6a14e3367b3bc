"""Sessions and timelines that tests share."""

from __future__ import annotations

from collections.abc import Callable

from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold, granted_twice, lock

import worldline as wl
from worldline.debug.session import Session
from worldline.debug.timeline import Timeline
from worldline.trace.records import Trace


def opened(trace: Trace, system: wl.System) -> Session:
    return Session(Timeline(trace, system))


def random_session(
    make: Callable[[], wl.System], seed: int, length: int = 40
) -> Session:
    """Record a random run, and open it with a system made anew."""
    return opened(random_trace(make(), seed, length), make())


def datagram_lock() -> wl.System:
    """The system of `both_hold`."""
    return lock(
        faults=wl.Faults(drops=1, duplicates=1, crashes=1, restarts=None, partitions=1)
    )


def stream_lock() -> wl.System:
    """The system of `granted_twice`."""
    return lock(
        network=wl.streams(buffer=3),
        faults=wl.Faults(connection_errors=1, silent_resets=1),
    )


def held() -> Session:
    """A run that ends in the violation of a property; see `both_hold`."""
    return opened(both_hold(), datagram_lock())


def granted() -> Session:
    """A run whose last handler raises; see `granted_twice`."""
    return opened(granted_twice(), stream_lock())
