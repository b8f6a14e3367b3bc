"""The pace of minimising: the size of the smallest run by schedules, as SVG.

References
----------
Scott et al. (DEMi), NSDI 2016, section 6, figure 2.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from benchmarks.demi_cases import Size
from benchmarks.demi_tables import Group

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 130, 40, 52
_SCHEDULES, _DELIVERIES = (1, 100_000), (10, 10_000)
"""The ends of the axes, both logarithmic."""

# The palette of Okabe and Ito, which colour-blind readers can tell apart, without yellow;
# dashes tell its second use, and serve who prints in black.
_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#000000",
)


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
    view, font = f"0 0 {_WIDTH} {_HEIGHT}", 'font-family="sans-serif"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" {font}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 22, title, size=15),
        *_axes(),
    ]
    for number, curve in enumerate(drawn):
        colour = _COLOURS[number % len(_COLOURS)]
        dashes = ' stroke-dasharray="6 3"' if number >= len(_COLOURS) else ""
        down, at = _TOP + 14 + 20 * number, _WIDTH - _RIGHT + 12
        body += [
            _stroke(list(corners(curve)), colour, 2, dashes),
            (
                f'<line x1="{at}" y1="{down}" x2="{at + 24}" y2="{down}" '
                f'stroke="{colour}" stroke-width="2"{dashes}/>'
            ),
            _text(at + 30, down + 4, curve.name, anchor="start"),
        ]
    return "\n".join([*body, "</svg>\n"])


def _share(value: float, ends: tuple[int, int]) -> float:
    low, high = ends
    return math.log(min(max(value, low), high) / low) / math.log(high / low)


def _x(schedules: float) -> float:
    return _LEFT + _share(schedules, _SCHEDULES) * (_WIDTH - _LEFT - _RIGHT)


def _y(deliveries: float) -> float:
    height = _HEIGHT - _TOP - _BOTTOM
    return _HEIGHT - _BOTTOM - _share(deliveries, _DELIVERIES) * height


def _axes() -> Iterator[str]:
    for deliveries in _powers(_DELIVERIES):
        yield _stroke([(_SCHEDULES[0], deliveries), (_SCHEDULES[1], deliveries)])
        yield _text(_LEFT - 8, _y(deliveries) + 4, f"{deliveries:,}", anchor="end")
    for schedules in _powers(_SCHEDULES):
        yield _stroke([(schedules, _DELIVERIES[0]), (schedules, _DELIVERIES[1])])
        yield _text(_x(schedules), _HEIGHT - _BOTTOM + 18, f"{schedules:,}")
    yield _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, "schedules")
    middle = (_HEIGHT + _TOP - _BOTTOM) / 2
    turned = f'transform="rotate(-90 18 {middle:g})"'
    yield _text(18, middle, "deliveries", more=turned)


def _powers(ends: tuple[int, int]) -> list[int]:
    return [10**n for n in range(10) if ends[0] <= 10**n <= ends[1]]


def _stroke(
    points: Sequence[Size], colour: str = "#dddddd", width: int = 1, dashes: str = ""
) -> str:
    placed = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
    drawn = f'fill="none" stroke="{colour}" stroke-width="{width}"{dashes}'
    return f'<polyline points="{placed}" {drawn}/>'


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "middle",
    size: int = 13,
    more: str = "",
) -> str:
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {place}{' ' * bool(more)}{more}>{escape(words)}</text>"
