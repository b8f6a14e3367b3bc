"""Properties of the lock server: the script of WiDS Checker's figure 5."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.lockserver.client import Client
from worldline.zoo.lockserver.messages import Mode

THRESHOLD = 5.0
"""Seconds for which the pending queue may keep its size and not be empty: more than twice
as long as it ever does in 20 runs without bugs, under either of the loads of `BUGS`."""


def size_of_queue(view: wl.View) -> int:
    """Return how many locks are in the pending queue."""
    return len(view[view.nodes[0]].pending)


@wl.gauge(initial=(0, 0))
def pending_sizes(
    value: tuple[int, int], step: wl.TimedStep, view: wl.View
) -> tuple[int, int]:
    """How many locks were in the pending queue before the last step, and are now."""
    sizes = value[1], size_of_queue(view)
    return value if sizes == value else sizes


@wl.gauge(initial=0.0)
def last_change_time(value: float, step: wl.TimedStep, view: wl.View) -> float:
    """When the size of the pending queue last changed, in seconds."""
    before, now = view.gauge("pending_sizes")
    return value if before == now else step.time


GAUGES = (pending_sizes, last_change_time)
"""In this order: the second looks at what the first has found in the same step."""


def enough_time(view: wl.View) -> float:
    """Return how much of the threshold the queue has kept its size for."""
    kept: float = view.time - view.gauge("last_change_time")
    return min(1.0, kept / THRESHOLD)


@wl.liveness(confidence=enough_time)
def pending_queue_is_empty(view: wl.View) -> bool:
    """LS-L1: the pending queue gets empty, or at least its size changes."""
    return size_of_queue(view) == 0


@wl.safety
def exclusive_is_alone(view: wl.View) -> bool:
    """LS-S1: if several clients hold a lock, all share it.

    A client does not hold what it is releasing: it may be another's already.
    """
    shared: set[int] = set()
    exclusive: set[int] = set()
    for client in view.of(Client):
        known = view[client]
        if not known.cached:
            continue
        releasing = known.releasepending
        for lock, mode in known.cached.items():
            if lock in releasing:
                continue
            if lock in exclusive or (mode is Mode.EXCLUSIVE and lock in shared):
                return False
            (exclusive if mode is Mode.EXCLUSIVE else shared).add(lock)
    return True


PROPERTIES = (exclusive_is_alone, pending_queue_is_empty)
