"""The common ground of the systems of Spark: how a cluster begins, and its bugs."""

from __future__ import annotations

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
