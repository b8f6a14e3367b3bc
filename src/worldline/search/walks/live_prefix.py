"""A live run to begin with, which a walk finds where no search gets.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007,
section 4.3: live paths come first, without failures; the search from their end has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from worldline.engine.exploration import Hit
from worldline.engine.tables import Row
from worldline.engine.walks import WalkEnd
from worldline.search.walks.dead_state import Spot
from worldline.search.walks.probe import UnsafeWalk, Walker

NOT_LIVE = "from live"
"""The bound of a search that was to begin in a live state, and found none."""

PATIENCE = 20
"""Walks that may fail to become live before no more are made."""

_FIRST = 2**33
"""The number of the first walk: those of the search and of probes have smaller ones."""


def live_run(
    walker: Walker, starts: Sequence[Row], look: Callable[[], None]
) -> Hit | None:
    """Walk until a walk becomes live; return its run, None if none of many did.

    Parameters
    ----------
    starts
        Where walks begin, in turn, without faults.
    look
        Called before each walk; raises if time is up.

    Raises
    ------
    UnsafeLead
        If a walk meets a safety violation.
    """
    for number in range(PATIENCE):
        look()
        root = number % len(starts)
        numbers = range(_FIRST + number, _FIRST + number + 1)
        (ended,) = walker.walk(starts[root], numbers)
        if ended.end in (WalkEnd.GOAL, WalkEnd.HIT, WalkEnd.FAILED):
            path = walker.path(starts[root], ended.walk)
            if ended.end is WalkEnd.GOAL:
                return Hit(root, path)
            spot = Spot(number, root, [], starts[root])
            raise UnsafeLead(spot, UnsafeWalk(ended, path))
    return None


class UnsafeLead(Exception):
    """A walk met a safety violation on its way to a live state.

    Attributes
    ----------
    spot
        Where it began.
    met
        What it met.
    """

    def __init__(self, spot: Spot, met: UnsafeWalk) -> None:
        super().__init__(spot, met)
        self.spot = spot
        self.met = met
