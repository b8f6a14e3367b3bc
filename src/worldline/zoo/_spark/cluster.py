"""The common ground of the systems of Spark: how a cluster begins, and its bugs."""

from __future__ import annotations

from collections.abc import Iterable

import worldline as wl

MASTER, DRIVER, OTHER_DRIVER = wl.ids("master", "driver", "driver2")

NETWORK = wl.datagrams(loss=False, duplication=False, reordering=False)
"""Between two nodes messages stay in order, and none is lost."""


def workers_of(count: int) -> tuple[wl.NodeId, ...]:
    """Make the ids of workers.

    Raises
    ------
    ValueError
        If there is to be none.
    """
    if count < 1:
        raise ValueError(f"workers={count}: a cluster has at least one")
    return wl.ids(*[f"w{number}" for number in range(1, count + 1)])


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
