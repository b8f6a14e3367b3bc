"""The pace of minimising: the size of the smallest run by schedules, as SVG.

References
----------
Scott et al. (DEMi), NSDI 2016, section 6, figure 2.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.demi_cases import Size
from benchmarks.demi_tables import Group
from benchmarks.frame import Axis, Frame


class Curve(NamedTuple):
    """One minimisation.

    Attributes
    ----------
    points
        Schedules so far and deliveries, whenever there were fewer.
    schedules
        In all.
    """

    name: str
    points: Sequence[Size]
    schedules: int


def curves(made: Sequence[Group]) -> list[Curve]:
    """Return a curve for each case: of the run that ends where half of them do."""
    return [_curve(one) for one in made if not one.options]


def _curve(one: Group) -> Curve:
    middle = statistics.median_high(row.final[0] for row in one.rows)
    row = next(row for row in one.rows if row.final[0] == middle)
    return Curve(one.case, ((1, row.initial[0]), *row.pace), row.schedules)


def corners(curve: Curve) -> Iterator[Size]:
    """Return the corners of a staircase downwards."""
    size = None
    for schedules, deliveries in curve.points:
        if size is not None:
            yield schedules, size
        yield schedules, deliveries
        size = deliveries
    if size is not None:
        yield curve.schedules, size


def svg(title: str, drawn: Sequence[Curve]) -> str:
    """Return a plot of some curves."""
    frame = Frame(title, Axis("schedules", 1, 100_000), Axis("deliveries", 10, 10_000))
    return frame.svg([(curve.name, list(corners(curve))) for curve in drawn])
