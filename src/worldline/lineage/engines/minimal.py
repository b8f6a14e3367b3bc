"""Better faults: from a falsifier to one with none to leave out, and none at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

from worldline.injection.scope import Crash, FaultSet, in_order

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
    rest = _without_each(falls, faults)
    if len(rest) > MOST:
        return rest
    for size in range(len(rest) - 1):
        for some in combinations(in_order(rest), size):
            if falls(frozenset(some)):
                return frozenset(some)
    return rest


def earlier(falls: Callable[[FaultSet], bool], faults: FaultSet, last: int) -> FaultSet:
    """Return a falsifier whose nodes crash before the last round, where that does too.

    Parameters
    ----------
    falls
        Runs a fault set; says whether a goal falls.
    faults
        A falsifier from which nothing can be left out; nor can it from what is returned.
    last
        The last round.
    """
    for crash in in_order(faults):
        if isinstance(crash, Crash) and crash.time == last:
            for time in range(last - 1, 0, -1):
                moved = faults - {crash} | {replace(crash, time=time)}
                if falls(moved):
                    return earlier(falls, minimal(falls, moved), last)
    return faults


def _without_each(falls: Callable[[FaultSet], bool], faults: FaultSet) -> FaultSet:
    again = True
    while again:
        again = False
        for fault in in_order(faults):
            if falls(faults - {fault}):
                faults, again = faults - {fault}, True
    return faults
