"""The paper's figures about searches, from ours: time, memory and bytes per state by depth.

Figure 13 is the time of exhaustive search by depth; the curve of prediction stands beside
it. Figures 19 and 20 are the memory of prediction by depth, and its share for one state.
Each point is a search of its own with tables that are cold, in `consequence.py`'s places; a
depth is one that was completed: of exhaustive search in steps, of prediction in cost.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, figures 13, 19, 20.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.consequence import EXHAUSTIVE, PLACES, PUT_OFF, Place, Way, reached
from benchmarks.frame import Axis, Frame

SIZES = (30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
PLACE = "RandTree, live, 6 nodes"
WAYS = {"exhaustive": EXHAUSTIVE, "prediction": PUT_OFF}


class Reach(NamedTuple):
    """How far a search came, and what it took.

    Attributes
    ----------
    depth
        The greatest that was completed.
    """

    depth: int
    states: int
    seconds: float
    bytes: int


def reaches(way: Way, sizes: Sequence[int] = SIZES, place: str = PLACE) -> list[Reach]:
    """Return what came of searches of several sizes: the last of each depth."""
    last: dict[int, Reach] = {}
    for states in sizes:
        search, seconds = Place(*PLACES[place]).search(way, states)
        depth, _ = reached(search, way)
        found = search.statistics
        last[depth] = Reach(depth, found.states, seconds, found.bytes)
    return [last[depth] for depth in sorted(last) if depth > 0]


def figures(found: dict[str, list[Reach]]) -> dict[str, str]:
    """Return the figures as SVG, by the names of their files."""
    across = Axis("depth", 1, 30)
    predicted = {name: some for name, some in found.items() if name != "exhaustive"}
    return {
        "crystalball-figure-13.svg": _drawn(
            Frame("Time by depth", across, Axis("milliseconds", 10, 10_000)),
            found,
            lambda one: 1e3 * one.seconds,
        ),
        "crystalball-figure-19.svg": _drawn(
            Frame("Memory by depth", across, Axis("kilobytes", 100, 100_000)),
            predicted,
            lambda one: one.bytes / 1e3,
        ),
        "crystalball-figure-20.svg": _drawn(
            Frame("Memory per state by depth", across, Axis("bytes", 10, 10_000)),
            predicted,
            lambda one: one.bytes / one.states,
        ),
    }


def _drawn(
    frame: Frame, found: dict[str, list[Reach]], up: Callable[[Reach], float]
) -> str:
    return frame.svg(
        [(name, [(one.depth, up(one)) for one in some]) for name, some in found.items()]
    )


def table(found: dict[str, list[Reach]]) -> str:
    """Return the same in numbers, in Markdown."""
    lines = [
        f"| {name} | {one.depth} | {one.states:,} | {one.seconds:.2f} "
        f"| {one.bytes / 1e3:,.0f} | {one.bytes / one.states:,.0f} |"
        for name, some in found.items()
        for one in some
    ]
    head = "| search | depth | states | s | kB | bytes per state |"
    return "\n".join([head, "|---|--:|--:|--:|--:|--:|", *lines])


def draw(directory: Path) -> str:
    """Search, draw the figures into a directory, and return the table."""
    found = {name: reaches(way) for name, way in WAYS.items()}
    for name, drawn in figures(found).items():
        (directory / name).write_text(drawn, "utf-8")
    return table(found)
