"""Lineage as a graph: what was derived, from what, and what another run lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from worldline.injection.scope import Loss

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
    link
        For a message: on which link it came, and when it was sent.
    """

    source: Point
    target: Point
    by: int
    is_message: bool = False
    is_absent: bool = False
    link: Loss | None = None


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

    def restricted(self) -> Lineage:
        """Return it without what has no part in the goal."""
        by_target: dict[Point, list[Arc]] = {}
        for arc in self.arcs:
            by_target.setdefault(arc.target, []).append(arc)
        needed = {self.goal: None}
        waiting = [self.goal]
        while waiting:
            for arc in by_target.get(waiting.pop(), ()):
                if arc.source not in needed:
                    needed[arc.source] = None
                    waiting.append(arc.source)
        return Lineage(self.goal, tuple(a for a in self.arcs if a.target in needed))

    def ways(self) -> dict[Point, list[tuple[Arc, ...]]]:
        """Return the derivations of each point, those with the fewest messages first.

        A message that two premises need is counted twice.
        """
        by_target: dict[Point, dict[int, list[Arc]]] = {}
        for arc in self.arcs:
            by_target.setdefault(arc.target, {}).setdefault(arc.by, []).append(arc)
        # A derivation leads forward in time, or to another point of the same round:
        # passes over the points by time settle after as many as such chains are long.
        cost: dict[Point, int] = {}
        points = self.points
        is_settled = False
        while not is_settled:
            is_settled = True
            for point in points:
                costs = [
                    total
                    for arcs in by_target.get(point, {}).values()
                    if (total := _cost(arcs, cost, by_target)) is not None
                ]
                if costs and (point not in cost or min(costs) < cost[point]):
                    cost[point] = min(costs)
                    is_settled = False
        dear = len(self.arcs) + 1
        ways: dict[Point, list[tuple[Arc, ...]]] = {}
        for point, some in by_target.items():
            priced = [(_cost(arcs, cost, by_target), arcs) for arcs in some.values()]
            priced.sort(
                key=lambda way: (dear if way[0] is None else way[0], len(way[1]))
            )
            ways[point] = [tuple(arcs) for _, arcs in priced]
        return ways

    def support(self) -> frozenset[Arc]:
        """Return the arcs of one derivation, with as few messages as greed finds."""
        ways = self.ways()
        support: set[Arc] = set()
        waiting = [self.goal]
        while waiting:
            for arcs in ways.pop(waiting.pop(), [])[:1]:
                support.update(arcs)
                waiting += [arc.source for arc in arcs]
        return frozenset(support)


def matching(absence: Point, there: Iterable[Point]) -> list[Point]:
    """Return the points, of those at one time, that an absence says do not hold."""
    pattern = _pattern(absence.label.removeprefix(NOT))
    return sorted(p for p in there if pattern.fullmatch(p.label))


def _pattern(label: str) -> re.Pattern[str]:
    """Return what matches the label of a fact; ``_`` stands for any column."""
    parts = re.split(r"(?<=[(,\s])_(?=[,)])", label)
    return re.compile(".*".join(map(re.escape, parts)))


def _cost(
    arcs: Iterable[Arc],
    cost: dict[Point, int],
    by_target: dict[Point, dict[int, list[Arc]]],
) -> int | None:
    """Return how many messages a derivation takes; None if it is not known yet."""
    total = 0
    for arc in arcs:
        if not arc.is_absent and arc.source not in cost and arc.source in by_target:
            return None
        total += cost.get(arc.source, 0) + arc.is_message
    return total
