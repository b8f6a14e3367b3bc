"""Drawings of lineage: a goal on top, what it needs below it, and time going down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import fmean

from worldline.injection.scope import Scope
from worldline.lineage.explaining.difference import GoalLack
from worldline.lineage.explaining.graph import Lineage, Point
from worldline.lineage.explaining.picture import (
    DrawnPoint,
    FoldedPicture,
    LineagePicture,
    folded,
    numbered_rows,
    row_width,
)
from worldline.lineage.explaining.svg import (
    CHARACTER,
    WIDEST,
    arrow,
    box_at,
    drawing,
    text_at,
    titled,
)

_ROW, _BESIDE, _HIGH, _NOTE = 64, 16, 26, 13
_MOST_SPOTS = 300
"""A drawing with more is none that anybody can read."""


def difference_drawing(
    made: GoalLack, scope: Scope, named: Sequence[str] = (), *, turned: bool = False
) -> str:
    """Return what a goal lacks as a graph; see `GoalLack`.

    Parameters
    ----------
    named
        The nodes that matter.
    turned
        Whether what is called the good run is the one that this is about: then what
        holds in it alone looks like what appeared, and the other way round.
    """
    picture = LineagePicture((made.goal,), {made.goal: frozenset()})
    for arc in made.arcs:
        picture.add(arc, *["chosen"] * (arc in made.chosen))
        if said := made.fates.get((arc.source, arc.target)):
            picture.fates[arc.source, arc.target] = said
            picture.add(arc, "cut")
    lacking, appeared = made.lacking, made.appeared
    if turned:
        lacking, appeared = appeared, lacking
    picture.mark(lacking, "lacking")
    picture.mark(appeared, "appeared")
    picture.mark(made.broken, "broken")
    chosen = {point for arc in made.chosen for point in (arc.source, arc.target)}
    picture.mark(chosen, "support")
    for point, more in made.more.items():
        what = "more" if point in made.broken else f"more way{'s' * (more > 1)}"
        picture.notes[point] = f"and {more} {what}"
    return _drawn(folded(picture, scope.nodes, named), f"what {made.goal} lacks")


def lineage_drawing(
    lineages: Sequence[Lineage], scope: Scope, lacking: Collection[Point] = ()
) -> str:
    """Return the lineage of some goals as one graph, with one derivation highlighted.

    Parameters
    ----------
    lacking
        Points to mark as missing in another run.
    """
    picture = LineagePicture(tuple(lineage.goal for lineage in lineages))
    picture.mark(picture.tops, "top")
    for lineage in lineages:
        support = lineage.support()
        for arc in lineage.arcs:
            picture.add(arc, *["chosen"] * (arc in support))
        chosen = {point for arc in support for point in (arc.source, arc.target)}
        picture.mark(chosen, "support")
    picture.mark(lacking, "lacking")
    goals = ", ".join(str(top) for top in picture.tops[:3])
    return _drawn(folded(picture, scope.nodes), f"lineage of {goals}")


def _drawn(made: FoldedPicture, about: str) -> str:
    if len(made.spots) > _MOST_SPOTS:
        return too_many(len(made.spots), about)
    at, width, height = _places(made)
    parts = []
    for ends, (marks, said) in sorted(made.arcs.items(), key=_behind_the_chosen):
        (x1, y1), (x2, y2) = at[ends[0]], at[ends[1]]
        kind = " ".join(["arc", *sorted(marks)])
        y1 -= _HIGH / 2
        y2 += _HIGH / 2 + _NOTE * bool(made.spots[ends[1]].note)
        parts.append(arrow(x1, y1, x2, y2, kind))
        if said:
            wide = len(said) * CHARACTER + 6
            x = max(wide / 2, min((x1 + x2) / 2, width - wide / 2))
            y = (y1 + y2) / 2 + 2
            parts += [box_at(x, y, wide, 15, "under"), text_at(x, y + 4, said, "fate")]
    for number, spot in enumerate(made.spots):
        parts.append(_box(spot, *at[number]))
    return drawing(width, height, parts, about)


def too_many(points: int, about: str) -> str:
    """Return what stands for a drawing of too many points."""
    said = f"{points} points are too many to draw: see the other files"
    wide = len(said) * CHARACTER + 40
    return drawing(wide, 50, [text_at(wide / 2, 29, said, "note")], about)


def _behind_the_chosen(
    arc: tuple[tuple[int, int], tuple[frozenset[str], str]],
) -> tuple[bool, bool]:
    """Order arcs: those of the support over others, those with words over all."""
    marks, said = arc[1]
    return bool(said), "chosen" in marks


def _box(spot: DrawnPoint, x: float, y: float) -> str:
    marks = sorted(spot.marks - {"top"})
    high = _HIGH + _NOTE * bool(spot.note)
    y += _NOTE / 2 * bool(spot.note)
    many = ["many"] * (len(spot.members) > 1)
    parts = [box_at(x, y, spot.width, high, " ".join(["point", *marks, *many]))]
    parts.append(text_at(x, y + 4 - _NOTE / 2 * bool(spot.note), spot.text, "label"))
    if spot.note:
        parts.append(text_at(x, y + 11, spot.note, "note"))
    return titled(spot.title, parts)


def _places(made: FoldedPicture) -> tuple[dict[int, tuple[float, float]], float, float]:
    """Return the middle of each spot, and how wide and high they are together.

    In its row, a spot stands about where those stand that need it, as in layered
    drawings by the barycentre (Sugiyama, Tagawa, Toda 1981). What does not fit into a
    row goes on in the next.
    """
    above: dict[int, list[int]] = {}
    for source, target in made.arcs:
        above.setdefault(source, []).append(target)
    at: dict[int, tuple[float, float]] = {}
    rows = [line for row in numbered_rows(made) for line in _lines(made, row)]
    widest = max((row_width(made.spots[n] for n in row) for row in rows), default=0)
    y = 28.0
    for row in rows:
        length = row_width(made.spots[n] for n in row)
        middle = {
            n: fmean([at[m][0] for m in above.get(n, ()) if m in at] or [0.0])
            for n in row
        }
        x = (widest - length) / 2 + _BESIDE
        for n in sorted(row, key=lambda n: (middle[n], made.spots[n].members)):
            wide = made.spots[n].width
            at[n] = (x + wide / 2, y)
            x += wide + _BESIDE
        y += _ROW
    return at, widest, y - _ROW + 40


def _lines(made: FoldedPicture, row: list[int]) -> list[list[int]]:
    lines: list[list[int]] = [[]]
    for n in row:
        if lines[-1] and row_width(made.spots[m] for m in [*lines[-1], n]) > WIDEST:
            lines.append([])
        lines[-1].append(n)
    return lines
