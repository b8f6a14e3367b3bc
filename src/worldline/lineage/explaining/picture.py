"""Lineage on the way to a drawing: what is alike becomes one spot, until all fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, final

from worldline.lineage.explaining.graph import Arc, Point
from worldline.lineage.explaining.svg import CHARACTER, WIDEST, shortened

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_LONGEST = 34
_BESIDE, _AROUND = 16, 16
_MOST_SPOTS, _MOST_ROWS = 60, 14
"""A drawing with more is folded, even if it is narrow enough."""

Marks: TypeAlias = frozenset[str]


@final
@dataclass(slots=True)
class LineagePicture:
    """A graph of points, and how each of them and each arc is to look.

    Attributes
    ----------
    tops
        What stands above all else.
    marks
        By point: the classes of its box.
    arcs
        By source and target: the classes of the line.
    fates
        By source and target: what is written at the line.
    notes
        By point: what is written below its label.
    """

    tops: tuple[Point, ...]
    marks: dict[Point, Marks] = field(default_factory=dict)
    arcs: dict[tuple[Point, Point], Marks] = field(default_factory=dict)
    fates: dict[tuple[Point, Point], str] = field(default_factory=dict)
    notes: dict[Point, str] = field(default_factory=dict)

    def add(self, arc: Arc, *marks: str) -> None:
        """Add an arc and its ends."""
        kinds = {"over"} if arc.is_message else set()
        kinds |= {"absent"} if arc.is_absent or arc.by < 0 else set()
        ends = arc.source, arc.target
        self.arcs[ends] = self.arcs.get(ends, Marks()) | kinds | {*marks}
        for point in ends:
            self.marks.setdefault(point, Marks())
        if arc.is_absent:
            self.mark([arc.source], "absence")

    def mark(self, points: Iterable[Point], mark: str) -> None:
        """Mark some points."""
        for point in points:
            self.marks[point] = self.marks.get(point, Marks()) | {mark}


@final
@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """Points that are drawn as one.

    Attributes
    ----------
    label
        What they are called together.
    last
        The last round in which it holds, if it is kept from the point's round on.
    """

    label: str
    members: tuple[Point, ...]
    marks: Marks
    note: str
    last: int

    @property
    def text(self) -> str:
        """The label as it is drawn."""
        first = self.members[0].time
        times = {point.time for point in self.members}
        is_whole = len(times) in (1, self.last - first + 1)
        until = f"{'–' if is_whole else ' … '}{self.last}" if self.last > first else ""
        return f"{shortened(self.label, _LONGEST)}@{first}{until}"

    @property
    def title(self) -> str:
        """The whole of it."""
        points = [str(point) for point in self.members[:20]]
        more = len(self.members) - len(points)
        return "\n".join([*points, *[f"and {more} more"] * (more > 0)])

    @property
    def width(self) -> float:
        """How wide its box is."""
        longest = max(len(self.text), len(self.note) - 1)
        return longest * CHARACTER + _AROUND


@final
@dataclass(frozen=True, slots=True)
class FoldedPicture:
    """A picture of spots: by source and target, the marks and the words of each arc."""

    spots: tuple[DrawnPoint, ...]
    arcs: dict[tuple[int, int], tuple[Marks, str]]
    tops: frozenset[int]


def folded(
    picture: LineagePicture, nodes: Collection[str], named: Collection[str] = ()
) -> FoldedPicture:
    """Return a picture that is narrow and small enough, if there is any.

    Parameters
    ----------
    nodes
        The names of all nodes: points that differ in them may be merged.
    named
        Those that matter; they are merged last.
    """
    others = {*nodes} - {*named}
    plain: list[Callable[[str], str]] = [
        lambda label: label,
        lambda label: _without(label, others),
        lambda label: _without(label, nodes),
        lambda label: label.partition("(")[0],
    ]
    made = FoldedPicture((), {}, frozenset())
    for name in plain:
        for is_timed in (True, False):
            made = _without_chains(_merged(picture, name, nodes, is_timed=is_timed))
            if _fits(made):
                return made
    return made


def _fits(made: FoldedPicture) -> bool:
    if len(made.spots) > _MOST_SPOTS:
        return False
    rows = [*rows_of(made)]
    return len(rows) <= _MOST_ROWS and max(map(row_width, rows), default=0) <= WIDEST


def row_width(row: Iterable[DrawnPoint]) -> float:
    """Return how wide some spots are beside each other."""
    return sum(spot.width + _BESIDE for spot in row) + _BESIDE


def _without(label: str, nodes: Collection[str]) -> str:
    """Return a label with a dot for each of some nodes."""
    return _STRING.sub(lambda m: "·" if m[1] in nodes else m[0], label)


def _merged(
    picture: LineagePicture,
    name: Callable[[str], str],
    nodes: Collection[str],
    *,
    is_timed: bool,
) -> FoldedPicture:
    """Return it with points of one name, and of one round if time counts, as one."""
    groups: dict[Hashable, list[Point]] = {}
    for point, marks in sorted(picture.marks.items()):
        is_top = point in picture.tops
        key = name(point.label), point.time if is_timed else None, marks, is_top
        groups.setdefault(key, []).append(point)
    spots, number = list[DrawnPoint](), dict[Point, int]()
    for points in groups.values():
        notes = {picture.notes.get(point, "") for point in points}
        note = notes.pop() if len(notes) == 1 else "and more"
        label = _label(points, nodes)
        number |= dict.fromkeys(points, len(spots))
        marks = picture.marks[points[0]]
        spots.append(DrawnPoint(label, tuple(points), marks, note, points[-1].time))
    looks: dict[tuple[int, int], Marks] = {}
    words: dict[tuple[int, int], dict[str, None]] = {}
    for (source, target), marks in picture.arcs.items():
        ends = number[source], number[target]
        if ends[0] != ends[1]:
            looks[ends] = looks.get(ends, Marks()) | marks
            said = picture.fates.get((source, target))
            words.setdefault(ends, {}).update({said: None} if said else {})
    arcs = {ends: (look, " or ".join(words[ends])) for ends, look in looks.items()}
    return FoldedPicture(
        tuple(spots), arcs, frozenset(number[top] for top in picture.tops)
    )


def _label(points: list[Point], nodes: Collection[str]) -> str:
    """Return what points are called together: where they differ, how many there are."""
    if len(points) == 1:
        return points[0].label
    labels = [point.label for point in points]
    plain = {_STRING.sub("·", label) for label in labels}
    if len(plain) > 1:
        return f"{len(points)} × {labels[0].partition('(')[0]}"
    columns = zip(*(_STRING.findall(label) for label in labels), strict=True)
    parts = []
    for column in columns:
        values = [*dict.fromkeys(column)]
        kind = "nodes" if {*values} <= {*nodes} else "values"
        parts.append(f'"{values[0]}"' if len(values) == 1 else f"{len(values)} {kind}")
    said = iter(parts)
    return _STRING.sub(lambda m: next(said), labels[0])


def _without_chains(made: FoldedPicture) -> FoldedPicture:
    """Return it with what is only kept from round to round as one spot."""
    into: dict[int, list[int]] = {}
    out: dict[int, list[int]] = {}
    for source, target in made.arcs:
        into.setdefault(target, []).append(source)
        out.setdefault(source, []).append(target)
    spots, home = [*made.spots], [*range(len(made.spots))]
    for later in sorted(range(len(spots)), key=lambda n: spots[n].members[0].time):
        sources = into.get(later, [])
        if len(sources) != 1 or later in made.tops:
            continue
        (earlier,) = sources
        marks, said = made.arcs[earlier, later]
        first = spots[home[earlier]]
        is_kept = (
            len(out[earlier]) == 1
            and not said
            and "over" not in marks
            and first.label == spots[later].label
            and first.last + 1 == spots[later].members[0].time
            and first.marks == spots[later].marks
            and not first.note + spots[later].note
        )
        if is_kept:
            home[later] = home[earlier]
            spots[home[earlier]] = replace(first, last=spots[later].last)
    kept = [n for n in range(len(spots)) if home[n] == n]
    number = {n: i for i, n in enumerate(kept)}
    arcs = {
        (number[home[s]], number[home[t]]): how
        for (s, t), how in made.arcs.items()
        if home[s] != home[t]
    }
    tops = frozenset(number[home[top]] for top in made.tops)
    return FoldedPicture(tuple(spots[n] for n in kept), arcs, tops)


def rows_of(made: FoldedPicture) -> Iterator[list[DrawnPoint]]:
    """Yield the spots row by row, what needs others above them, the goals first."""
    yield from ([made.spots[n] for n in row] for row in numbered_rows(made))


def numbered_rows(made: FoldedPicture) -> list[list[int]]:
    """Return the numbers of spots by how far they are from what was given.

    An arc leads from a lower row to a higher one. What needs nothing stands just below
    what needs it, not at the bottom.
    """
    height = dict.fromkeys(range(len(made.spots)), 0)
    arcs = _straight(made)
    changed = True
    while changed:
        changed = False
        for source, target in arcs:
            if height[target] <= height[source]:
                height[target] = height[source] + 1
                changed = True
    needing: dict[int, list[int]] = {}
    for source, target in arcs:
        needing.setdefault(source, []).append(target)
    for spot in sorted(needing, key=lambda n: -height[n]):
        above = min(height[target] for target in needing[spot])
        height[spot] = max(height[spot], above - 1)
    rows: dict[int, list[int]] = {}
    for spot in range(len(made.spots)):
        rows.setdefault(height[spot], []).append(spot)
    return [rows[key] for key in sorted(rows, reverse=True)]


def _straight(made: FoldedPicture) -> list[tuple[int, int]]:
    """Return the arcs without those that lead back, as seen from the goals."""
    below: dict[int, list[int]] = {}
    for source, target in made.arcs:
        below.setdefault(target, []).append(source)
    straight: list[tuple[int, int]] = []
    done, path = set[int](), dict[int, Iterator[int]]()
    for start in [*sorted(made.tops), *range(len(made.spots))]:
        if start not in done:
            path[start] = iter(below.get(start, ()))
        while path:
            target = next(reversed(path))
            sources = path[target]
            below_it = next(sources, None)
            if below_it is None:
                done.add(target)
                del path[target]
            elif below_it not in path:
                straight.append((below_it, target))
                if below_it not in done:
                    path[below_it] = iter(below.get(below_it, ()))
    return straight
