"""Lineage as a graph: what was derived, from what, and what another run lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

NOT = "not "
"""What the label of a point begins with that stands for an absence."""


@final
@dataclass(frozen=True, order=True, slots=True)
class Point:
    """Something that held at a node in a round."""

    time: int
    node: str
    label: str

    def __str__(self) -> str:
        return f"{self.label}@{self.time}"


@final
@dataclass(frozen=True, slots=True)
class Arc:
    """One reason, or a part of one: `source` helped to derive `target`.

    Attributes
    ----------
    by
        The number of the derivation: arcs with one number make it together.
    is_message
        Whether it came over the network.
    is_absent
        Whether it was the absence of `source` that helped.
    """

    source: Point
    target: Point
    by: int
    is_message: bool = False
    is_absent: bool = False


@final
@dataclass(frozen=True, slots=True)
class Lineage:
    """All derivations of a goal, back to what was given."""

    goal: Point
    arcs: tuple[Arc, ...]

    @property
    def points(self) -> list[Point]:
        """Every point, by time."""
        points = {self.goal}
        for arc in self.arcs:
            points |= {arc.source, arc.target}
        return sorted(points)

    def lacking(self, there: Iterable[Point]) -> list[Point]:
        """Return what does not hold in another run, of which all points are given."""
        present = set(there)
        absent = {arc.source for arc in self.arcs if arc.is_absent}
        return [p for p in self.points if p not in present and p not in absent]

    def appearing(self, there: Iterable[Point]) -> dict[Point, list[Point]]:
        """Return what was absent and holds in another run, of which all points are given.

        By the point that stands for the absence: what is there instead.
        """
        by_time: dict[int, list[Point]] = {}
        for point in there:
            by_time.setdefault(point.time, []).append(point)
        instead: dict[Point, list[Point]] = {}
        for absent in dict.fromkeys(a.source for a in self.arcs if a.is_absent):
            pattern = _pattern(absent.label.removeprefix(NOT))
            here = by_time.get(absent.time, [])
            if matches := sorted(p for p in here if pattern.fullmatch(p.label)):
                instead[absent] = matches
        return instead

    def restricted(self) -> Lineage:
        """Return it without what has no part in the goal."""
        by_target: dict[Point, list[Arc]] = {}
        for arc in self.arcs:
            by_target.setdefault(arc.target, []).append(arc)
        needed = [self.goal]
        for point in needed:  # grows while it is walked
            for arc in by_target.get(point, ()):
                if arc.source not in needed:
                    needed.append(arc.source)
        kept = set(needed)
        return Lineage(self.goal, tuple(a for a in self.arcs if a.target in kept))

    def support(self) -> frozenset[Arc]:
        """Return the arcs of one derivation, with as few messages as greed finds."""
        by_target: dict[Point, dict[int, list[Arc]]] = {}
        for arc in self.arcs:
            by_target.setdefault(arc.target, {}).setdefault(arc.by, []).append(arc)
        cost: dict[Point, int] = {}
        chosen: dict[Point, list[Arc]] = {}
        # A derivation leads forward in time, or to another point of the same round:
        # passes over the points by time settle after as many as such chains are long.
        is_settled = False
        while not is_settled:
            is_settled = True
            for point in self.points:
                for arcs in by_target.get(point, {}).values():
                    if not all(_is_known(arc, cost, by_target) for arc in arcs):
                        continue
                    total = sum(cost.get(a.source, 0) + a.is_message for a in arcs)
                    if point not in cost or total < cost[point]:
                        cost[point], chosen[point] = total, arcs
                        is_settled = False
        support: set[Arc] = set()
        waiting = [self.goal]
        while waiting:
            for arc in chosen.pop(waiting.pop(), []):
                support.add(arc)
                waiting.append(arc.source)
        return frozenset(support)


def _pattern(label: str) -> re.Pattern[str]:
    """Return what matches the label of a fact; ``_`` stands for any column."""
    parts = re.split(r"(?<=[(,\s])_(?=[,)])", label)
    return re.compile(".*".join(map(re.escape, parts)))


def _is_known(
    arc: Arc, cost: dict[Point, int], by_target: dict[Point, dict[int, list[Arc]]]
) -> bool:
    """Say whether the source of an arc is derived already, or was given."""
    return arc.is_absent or arc.source in cost or arc.source not in by_target
