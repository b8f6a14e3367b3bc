"""A plot of cumulative distributions over a logarithmic axis, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from benchmarks.frame import text

LEFT, RIGHT = 10, 10_000
"""The ends of the axis of steps: those of the paper's figures."""

_WIDTH, _HEIGHT = 640, 400
_MARGIN_LEFT, _MARGIN_RIGHT, _MARGIN_TOP, _MARGIN_BOTTOM = 64, 20, 40, 52
# Of the palette of Okabe and Ito, which colour-blind readers can tell apart; the dashes
# serve who prints in black.
_STYLES = (
    ("#0072b2", ""),
    ("#d55e00", "7 4"),
    ("#009e73", "2 3"),
    ("#cc79a7", "9 3 2 3"),
    ("#e69f00", "4 2"),
)


class Line(NamedTuple):
    """One distribution.

    Attributes
    ----------
    name
        For the legend.
    values
        Where it rises, sorted.
    total
        How many there are in all; what never came to an end is not in `values`.
    """

    name: str
    values: Sequence[int]
    total: int


def svg(title: str, across: str, lines: Sequence[Line]) -> str:
    """Return a plot of at most five distributions.

    Parameters
    ----------
    across
        What the horizontal axis shows.
    """
    size, font = f"0 0 {_WIDTH} {_HEIGHT}", 'font-family="sans-serif"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {font}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        text(_WIDTH / 2, 22, title, size=15),
        *_axes(across),
    ]
    for number, (line, style) in enumerate(
        zip(lines, _STYLES[: len(lines)], strict=True)
    ):
        body += _drawn(line, style, number)
    return "\n".join([*body, "</svg>\n"])


def corners(line: Line) -> Iterator[tuple[float, float]]:
    """Return the corners of a staircase: values and the shares reached there."""
    yield LEFT, sum(value <= LEFT for value in line.values) / line.total
    share = 0.0
    for number, value in enumerate(line.values, 1):
        if LEFT < value <= RIGHT:
            yield value, share
            yield value, number / line.total
        share = number / line.total
    yield RIGHT, sum(value <= RIGHT for value in line.values) / line.total


def _x(value: float) -> float:
    share = math.log(value / LEFT) / math.log(RIGHT / LEFT)
    return _MARGIN_LEFT + share * (_WIDTH - _MARGIN_LEFT - _MARGIN_RIGHT)


def _y(share: float) -> float:
    return _HEIGHT - _MARGIN_BOTTOM - share * (_HEIGHT - _MARGIN_TOP - _MARGIN_BOTTOM)


def _axes(across: str) -> Iterator[str]:
    for tenth in range(0, 11, 2):
        share = tenth / 10
        yield _stroke([(LEFT, share), (RIGHT, share)], "#dddddd", "")
        yield text(_MARGIN_LEFT - 8, _y(share) + 4, f"{share:g}", anchor="end")
    for power in range(1, 5):
        value = 10**power
        yield _stroke([(value, 0), (value, 1)], "#dddddd", "")
        yield text(_x(value), _HEIGHT - _MARGIN_BOTTOM + 18, f"{value:,}")
    yield _stroke([(LEFT, 1), (LEFT, 0), (RIGHT, 0)], "black", "")
    yield text((_MARGIN_LEFT + _WIDTH) / 2, _HEIGHT - 12, across)
    middle = (_y(0) + _y(1)) / 2
    turned = f'transform="rotate(-90 18 {middle:g})"'
    yield text(18, middle, "fraction of paths", more=turned)


def _drawn(line: Line, style: tuple[str, str], number: int) -> Iterator[str]:
    colour, dashes = style
    yield _stroke(list(corners(line)), colour, dashes, width=2)
    down = _HEIGHT - _MARGIN_BOTTOM - 16 - 20 * number
    at, end = _WIDTH - _MARGIN_RIGHT - 140, _WIDTH - _MARGIN_RIGHT - 110
    drawn = _attributes(colour, dashes, 2)
    yield f'<line x1="{at}" y1="{down}" x2="{end}" y2="{down}" {drawn}/>'
    yield text(end + 8, down + 4, line.name, anchor="start")


def _stroke(
    points: Sequence[tuple[float, float]], colour: str, dashes: str, width: int = 1
) -> str:
    placed = " ".join(f"{_x(value):.1f},{_y(share):.1f}" for value, share in points)
    return f'<polyline points="{placed}" {_attributes(colour, dashes, width)}/>'


def _attributes(colour: str, dashes: str, width: int) -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'fill="none" stroke="{colour}" stroke-width="{width}"{dashed}'
