"""The difference of two runs, from a goal downwards: what one lacks, and why.

A goal that one run keeps and another does not was derived there from something that
does not hold here; or something was absent there that holds here, which was derived here
from what is absent there, and so on. What holds in both runs explains nothing, so the
walk ends where it meets only that: there a message is lost, or somebody is down.

References
----------
Oldenburg, Zhu, Ramasubramanian, Alvaro, "Fixed It For You: Protocol Repair Using Lineage
Graphs", CIDR 2019: differential provenance, which knows no absences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, final

from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.graph import NOT, Arc, Lineage, Point, matching

MOST_WAYS = 3
"""How many derivations of a point are shown, of those that fail."""
_MOST_INSTEAD = 12
"""How many points are looked into that hold though one must be absent."""
_MOST_ARCS = 400


class History(Protocol):
    """All that a run derived."""

    @property
    def run(self) -> Run:
        """The run."""

    @property
    def points(self) -> frozenset[Point]:
        """All that holds, as far as it can be told."""

    def goal(self, goal: Goal) -> Point:
        """Return the point that stands for a goal's being kept."""

    def lineage(self, point: Point) -> Lineage:
        """Return all derivations of a point that holds."""


@final
@dataclass(slots=True)
class Difference:
    """What a goal lacks, in a run that breaks it.

    Attributes
    ----------
    goal
        What holds in the good run, and not in the other.
    arcs
        How it was derived, as far as that fails: from what is lacking, or in spite of
        what holds instead. A red thread, from the goal to where the runs part.
    lacking, appeared
        What holds in the good run only, and in the other only.
    broken
        Absences that one run had and the other has not.
    chosen
        Arcs of the cheapest derivation of the goal.
    more
        By point: how many more ways to derive it, or points instead of it, there are.
    is_whole
        Whether all was walked.
    """

    goal: Point
    arcs: dict[Arc, None] = field(default_factory=dict)
    lacking: set[Point] = field(default_factory=set)
    appeared: set[Point] = field(default_factory=set)
    broken: set[Point] = field(default_factory=set)
    chosen: set[Arc] = field(default_factory=set)
    more: dict[Point, int] = field(default_factory=dict)
    is_whole: bool = True


def differences(good: History, bad: History) -> list[Difference]:
    """Return, for each goal that the bad run alone breaks, what it lacks."""
    broken = sorted(bad.run.broken & good.run.kept, key=repr)
    here, there = _Side(good), _Side(bad)
    return [_difference(good.goal(goal), here, there) for goal in broken]


@final
class _Side:
    """One of two runs, with what was worked out of it."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._ways: dict[Point, list[tuple[Arc, ...]]] = {}
        self.points = history.points
        self._at: dict[tuple[int, str], list[Point]] = {}
        for point in self.points:
            self._at.setdefault(_shelf(point), []).append(point)

    def ways(self, point: Point) -> list[tuple[Arc, ...]]:
        """Return the derivations of a point, the cheapest first."""
        if point not in self._ways:
            self._ways |= self._history.lineage(point).ways()
        return self._ways.setdefault(point, [])

    def against(self, absence: Point) -> list[Point]:
        """Return what holds here though an absence says that it does not."""
        label = absence.label.removeprefix(NOT)
        shelf = _shelf(Point(absence.time, absence.node, label))
        return matching(absence, self._at.get(shelf, ()))


def _shelf(point: Point) -> tuple[int, str]:
    return point.time, point.label.partition("(")[0]


def _difference(goal: Point, good: _Side, bad: _Side) -> Difference:
    made = Difference(goal)
    waiting = [(goal, good, bad)]
    seen = {goal}
    while waiting:
        point, here, there = waiting.pop()
        (made.lacking if here is good else made.appeared).add(point)
        ways = here.ways(point)
        most = MOST_WAYS if here is good else 1
        if len(ways) > most:
            made.more[point] = len(ways) - most
        for way in ways[:most]:
            for arc in _failing(way, there):
                made.arcs[arc] = None
                # What was absent here holds there, and the other way round.
                below = [(arc.source, here, there)]
                if arc.is_absent:
                    below = [(p, there, here) for p in _instead(made, arc, there)]
                waiting += [
                    one
                    for one in below
                    if one[0] not in seen and one[0] not in one[2].points
                ]
                seen |= {one[0] for one in below}
        if len(made.arcs) > _MOST_ARCS:
            made.is_whole = False
            break
    made.chosen = _cheapest(made)
    return made


def _failing(way: Iterable[Arc], there: _Side) -> list[Arc]:
    """Return what of a derivation fails in the other run.

    If nothing does, a message was lost or a node is down: then what it began with.
    """
    arcs = [*way]
    failing = [
        arc
        for arc in arcs
        if (
            there.against(arc.source)
            if arc.is_absent
            else arc.source not in there.points
        )
    ]
    return failing or arcs[:1]


def _instead(made: Difference, arc: Arc, there: _Side) -> list[Point]:
    """Draw what holds though it must be absent; return it."""
    points = there.against(arc.source)
    if points:
        made.broken.add(arc.source)
    if len(points) > _MOST_INSTEAD:
        made.more[arc.source] = len(points) - _MOST_INSTEAD
    for point in points[:_MOST_INSTEAD]:
        made.arcs[Arc(point, arc.source, -1)] = None
    return points[:_MOST_INSTEAD]


def _cheapest(made: Difference) -> set[Arc]:
    """Return the arcs that come first below each point, from the goal on."""
    below: dict[Point, dict[int, list[Arc]]] = {}
    for arc in made.arcs:
        below.setdefault(arc.target, {}).setdefault(arc.by, []).append(arc)
    chosen: set[Arc] = set()
    waiting = [made.goal]
    while waiting:
        for arcs in [*below.pop(waiting.pop(), {}).values()][:1]:
            chosen.update(arcs)
            waiting += [arc.source for arc in arcs]
    return chosen


def shape(made: Difference, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return what differences have in common that are the same but for names of nodes."""
    names = re.compile("|".join(rf'"{re.escape(node)}"' for node in nodes))

    def plain(point: Point) -> str:
        return names.sub("·", f"{point.label}@{point.time}")

    arcs = [f"{plain(arc.source)} > {plain(arc.target)}" for arc in made.arcs]
    return (plain(made.goal), *sorted(arcs))
