"""Fewer faults: from a falsifier to one that has no smaller one in it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

from worldline.model.injection.scope import FaultSet, in_order

MOST = 12
"""How many faults may be left for all their subsets to be run: 4,096 runs at most."""


def minimal(falls: Callable[[FaultSet], bool], faults: FaultSet) -> FaultSet:
    """Return a falsifier within another from which nothing can be left out.

    Faults are left out one by one while a goal still falls. That is not the end where a
    fault makes up for another one: so all subsets of what is left are tried too, those
    with fewer faults first, unless more than `MOST` faults are left.

    Parameters
    ----------
    falls
        Runs a fault set; says whether a goal falls.
    """
    found = _without_each(falls, faults)
    if len(found) > MOST:
        return found
    for size in range(len(found) - 1):
        for some in combinations(in_order(found), size):
            if falls(frozenset(some)):
                return frozenset(some)
    return found


def _without_each(falls: Callable[[FaultSet], bool], faults: FaultSet) -> FaultSet:
    again = True
    while again:
        again = False
        for fault in in_order(faults):
            if falls(faults - {fault}):
                faults, again = faults - {fault}, True
    return faults
