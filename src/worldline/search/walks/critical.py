"""The critical transition: the step at which a run becomes dead.

Positions are numbers of events from state 0 on: position i is the state after event i.
Nothing here knows what a state is; whether one recovers is asked.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007,
section 4.1, algorithm 2. It differs in two places. Where the path is already dead when
the walk begins, the paper leaves the rest to the programmer; here the search's part of
the path is looked at, too. And where the transition comes too late on the path for the
claim that the system had time to recover, a proof that the path's end is dead will do.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

Recovers = Callable[[int], bool]
"""Whether the state at a position can become live, as far as one knows."""


class Case(enum.Enum):
    """The two cases of section 4.1."""

    DEAD = "C1"
    """The path hit a dead state."""

    TOO_SHORT = "C2"
    """The walk may have been too short for the system to recover."""


class Located(NamedTuple):
    """A position, and what it is.

    Attributes
    ----------
    position
        The first dead state, if the case is C1.
    """

    position: int
    case: Case


def find_critical(
    recovers: Recovers, first: int, last: int, *, end_is_dead: Callable[[], bool]
) -> Located:
    """Find the critical transition of a path by exponential, then binary search.

    Parameters
    ----------
    first, last
        Where the walk begins, and where it ends without having become live.
    end_is_dead
        Whether it is proved that the last state is dead; asked only if that matters.

    Returns
    -------
    Found
        C2 at `first`: that state is dead already, or the walk was too short. C2
        elsewhere: the transition is in the second half of the path.

    Notes
    -----
    Asks `recovers` a number of times that is logarithmic in `last`.
    """
    if not recovers(first):
        return Located(first, Case.TOO_SHORT)
    alive, position = first, first
    while True:
        position = min(max(1, 2 * position), last)
        dead = not recovers(position)
        # A path without events has no second half, and no later position either.
        is_late = 2 * position > last or not last
        if dead or is_late:
            break
        alive = position
    if is_late and not end_is_dead():
        return Located(position, Case.TOO_SHORT)
    if not dead:
        alive, position = position, last
    while position - alive > 1:
        middle = (alive + position) // 2
        if recovers(middle):
            alive = middle
        else:
            position = middle
    return Located(position, Case.DEAD)


def find_earlier(recovers: Recovers, first: int) -> int:
    """Return the critical transition of a path that is dead when its walk begins.

    One position after the other: on the search's part of the path are faults, which
    may bring a dead system back, so that a binary search could miss the last time.
    """
    position = first
    while position > 0 and not recovers(position - 1):
        position -= 1
    return position
