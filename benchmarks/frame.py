"""The frame of a plot as SVG: two logarithmic axes, and the curves between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

Place = tuple[float, float]
"""A point of a curve, by the numbers on the axes."""

WIDTH, HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 130, 40, 52

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


class Axis(NamedTuple):
    """A logarithmic axis: what it counts, from where to where."""

    name: str
    least: int
    most: int

    def share(self, value: float) -> float:
        """Return where a value is, from 0 to 1; at an end if it is beyond."""
        inside = min(max(value, self.least), self.most)
        return math.log(inside / self.least) / math.log(self.most / self.least)

    def powers(self) -> list[int]:
        """Return the powers of ten on it."""
        return [10**n for n in range(10) if self.least <= 10**n <= self.most]


class Frame(NamedTuple):
    """A plot without its curves."""

    title: str
    across: Axis
    up: Axis

    def svg(self, curves: Sequence[tuple[str, Sequence[Place]]]) -> str:
        """Return the plot of some curves, each with its name."""
        view, font = f"0 0 {WIDTH} {HEIGHT}", 'font-family="sans-serif"'
        body = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" {font}>',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            text(WIDTH / 2, 22, self.title, size=15),
            *self._axes(),
        ]
        for number, (name, points) in enumerate(curves):
            colour = _COLOURS[number % len(_COLOURS)]
            dashes = ' stroke-dasharray="6 3"' if number >= len(_COLOURS) else ""
            down, at = _TOP + 14 + 20 * number, WIDTH - _RIGHT + 12
            body += [
                self._stroke(points, colour, 2, dashes),
                (
                    f'<line x1="{at}" y1="{down}" x2="{at + 24}" y2="{down}" '
                    f'stroke="{colour}" stroke-width="2"{dashes}/>'
                ),
                text(at + 30, down + 4, name, anchor="start"),
            ]
        return "\n".join([*body, "</svg>\n"])

    def _x(self, value: float) -> float:
        return _LEFT + self.across.share(value) * (WIDTH - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        height = HEIGHT - _TOP - _BOTTOM
        return HEIGHT - _BOTTOM - self.up.share(value) * height

    def _axes(self) -> Iterator[str]:
        across, up = self.across, self.up
        for value in up.powers():
            yield self._stroke([(across.least, value), (across.most, value)])
            yield text(_LEFT - 8, self._y(value) + 4, f"{value:,}", anchor="end")
        for value in across.powers():
            yield self._stroke([(value, up.least), (value, up.most)])
            yield text(self._x(value), HEIGHT - _BOTTOM + 18, f"{value:,}")
        yield text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 12, across.name)
        middle = (HEIGHT + _TOP - _BOTTOM) / 2
        turned = f'transform="rotate(-90 18 {middle:g})"'
        yield text(18, middle, up.name, more=turned)

    def _stroke(
        self,
        points: Sequence[Place],
        colour: str = "#dddddd",
        width: int = 1,
        dashes: str = "",
    ) -> str:
        placed = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        drawn = f'fill="none" stroke="{colour}" stroke-width="{width}"{dashes}'
        return f'<polyline points="{placed}" {drawn}/>'


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "middle",
    size: int = 13,
    more: str = "",
) -> str:
    """Return words at a place; `more` are other attributes."""
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"'
    return f"<text {place}{' ' * bool(more)}{more}>{escape(words)}</text>"
