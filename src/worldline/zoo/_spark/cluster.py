"""What the systems of Spark have in common: how a cluster begins, and its bugs."""

from __future__ import annotations

from collections.abc import Iterable

import worldline as wl

MASTER, DRIVER, OTHER_DRIVER = wl.ids("master", "driver", "driver2")
WORKERS = wl.ids(*[f"w{number}" for number in range(1, 61)])

NETWORK = wl.datagrams(loss=False, duplication=False, reordering=False)
"""Between two nodes messages stay in order, and none is lost."""


def workers_of(count: int) -> tuple[wl.NodeId, ...]:
    """Return the ids of workers.

    Raises
    ------
    ValueError
        If these are more than there are names for.
    """
    if not 0 < count <= len(WORKERS):
        raise ValueError(f"workers={count}: say a number from 1 to {len(WORKERS)}")
    return WORKERS[:count]


def check_bugs(bugs: Iterable[str], switches: tuple[str, ...]) -> None:
    """Refuse bugs that there are not.

    Raises
    ------
    ValueError
        If there is one.
    """
    unknown = sorted(set(bugs) - set(switches))
    if unknown:
        raise ValueError(f"unknown bugs {unknown}; there are {', '.join(switches)}")
