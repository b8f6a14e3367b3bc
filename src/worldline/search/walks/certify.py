"""Proof that a state is dead: everything that can follow is visited, nothing is live.

Where that is too much, walks have to do (`walks`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.engine.decisions import Decision
from worldline.engine.expand import Path
from worldline.engine.exploration import Exploration, Options, StateCheck
from worldline.engine.tables import Row
from worldline.model.semantics.layout import Layout
from worldline.worlds.tabulated import TabulatedWorld


class Fate(enum.Enum):
    """The fate of a state."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


class Certificate(NamedTuple):
    """The result of an exhaustive search from a state.

    Attributes
    ----------
    states
        How many can be reached, if the state is dead.
    path
        A shortest path to a live state, if it is alive.
    """

    fate: Fate
    states: int = 0
    path: Path | None = None

    @property
    def is_dead(self) -> bool:
        """Whether it is proved that the state is dead."""
        return self.fate is Fate.DEAD


def certify(
    world: TabulatedWorld,
    goal: Decision,
    row: Row,
    *,
    most_states: int,
    run: Callable[[Exploration], None],
    meter: Meter | None = None,
) -> Certificate:
    """Search whatever can follow a state for a live one.

    Parameters
    ----------
    goal
        Says which states are live.
    most_states
        Where to give up.
    run
        A breadth-first strategy.
    meter
        Watches time and memory.

    Raises
    ------
    BoundHit
        If these are used up.

    Notes
    -----
    A handler that fails ends its path; what else can follow is visited all the same.
    """
    for keep_going in (False, True):
        search = Exploration(
            world.tables,
            world,
            [row],
            [StateCheck(goal, target=True, fatal=True)],
            bounds=Bounds(states=most_states),
            options=Options(keep_going=keep_going),
            meter=meter,
        )
        search.run(run)
        if search.bound == "interrupted":
            raise KeyboardInterrupt
        if search.bound in ("seconds", "memory"):
            raise BoundHit(search.bound)
        if search.hits:
            return Certificate(Fate.ALIVE, path=search.hits[0].path)
        if search.bound is None:
            return Certificate(Fate.DEAD, states=search.statistics.states)
        if not search.failures:
            break
    return Certificate(Fate.UNKNOWN)


def without_faults(world: TabulatedWorld, row: Row) -> Row:
    """Return the state in which no more faults can happen; a partition can heal."""
    forbid = world.tables.operations(Layout.BUDGET, ("forbid",))
    value = row[Layout.BUDGET]
    after = forbid.get(value)
    new = row.copy()
    new[Layout.BUDGET] = world.apply(forbid, value) if after is None else after
    return new
