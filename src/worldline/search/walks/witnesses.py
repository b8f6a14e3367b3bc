"""Witnesses: properties that must be true sometimes, looked for on the walks.

Walks do not depend on being watched, so those of a search are made once more, with one
more thing to stop at: that costs as much again, over tables that are filled already, and
only where something is still to be reached.
"""

from __future__ import annotations

import contextlib
import dataclasses

from worldline.engine.bounds import Meter
from worldline.engine.exploration import Exploration
from worldline.engine.walks import WalkEnd
from worldline.model.properties import Property, PropertyKind
from worldline.search.walks.dead_state import Spot
from worldline.search.walks.plan import LivePlan
from worldline.search.walks.walkers import Walkers
from worldline.worlds.tabulated import TabulatedWorld


def witnesses(wanted: list[Property]) -> list[Property]:
    """Return the properties that must hold sometimes."""
    return [prop for prop in wanted if prop.kind is PropertyKind.SOMETIMES]


def reached_before(
    search: Exploration, wanted: list[Property], first: int
) -> dict[str, int]:
    """Return what the search before the walks reached, and after how many steps.

    Parameters
    ----------
    first
        The number of the check that is about the first of them.
    """
    return {
        prop.name: len(search.hits[number].path)
        for number, prop in enumerate(witnesses(wanted), first)
        if number in search.hits
    }


def reached_on_walks(
    world: TabulatedWorld,
    plan: LivePlan,
    engine: str,
    spots: list[Spot],
    reached: dict[str, int],
    meter: Meter,
) -> None:
    """Add to `reached` what walks from some spots come by, with the steps it takes.

    Parameters
    ----------
    plan
        As for the walks that were made, with their bound on steps.
    meter
        Watches time and memory; raises if either is used up.
    """
    left = [prop for prop in witnesses(plan.wanted) if prop.name not in reached]
    begin = 0
    while left and begin < len(spots):
        asked = [p for p in plan.wanted if p.kind is not PropertyKind.SOMETIMES]
        asked += map(_never, left)
        watching = dataclasses.replace(plan, wanted=asked)
        walkers = Walkers(world, watching, engine, meter=meter)
        with contextlib.closing(walkers):
            safe = len(walkers.safety) - len(left)
            rows = [spot.row for spot in spots[begin:]]
            walks = walkers.of(plan.most_steps).walk_each(rows, spots[begin].number)
            for spot, ended in zip(spots[begin:], walks, strict=True):
                meter.check()
                if ended.end is WalkEnd.HIT and ended.what >= safe:
                    prop = left.pop(ended.what - safe)
                    reached[prop.name] = len(spot.path) + ended.steps
                    break
                begin += 1


def _never(prop: Property) -> Property:
    """Return the property that is false where another one is true."""
    return Property(
        prop.name, PropertyKind.SAFETY, lambda view: not prop.judge(view).holds
    )
