"""The difference of two runs, from a goal downwards: what one lacks, and why.

A goal that one run keeps and another does not was derived there from something that
does not hold here; or something was absent there that holds here, which was derived here
from what is absent there, and so on. What holds in both runs explains nothing, so the
walk ends where it meets only that: there a message is lost, or a node is down.

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

from worldline.injection.scope import Crash, Delay, Fault, Loss
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.fates import MessageEnd, down, fate_of_link, silences
from worldline.lineage.explaining.graph import NOT, Arc, Lineage, Point, matching

MOST_WAYS = 3
"""How many derivations of a point are shown, of those that fail."""
_MOST_INSTEAD = 12
"""How many points are looked into that hold though one must be absent."""
_MOST_ARCS = 4_000


class RunHistory(Protocol):
    """All that a run derived."""

    @property
    def run(self) -> Run:
        """The run."""

    @property
    def points(self) -> frozenset[Point]:
        """All that holds, as far as it can be told."""

    def goal(self, goal: Goal) -> Point:
        """Return the point that stands for a goal's being kept."""

    def debt(self, goal: Goal) -> Point:
        """Return the point that stands for a goal's being owed."""

    def lineage(self, point: Point) -> Lineage:
        """Return all derivations of a point that holds."""


@final
@dataclass(slots=True)
class GoalLack:
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
    fates
        By source and target of an arc: why nothing was derived though the source holds.
    faults
        Those that are seen to have a part in it.
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
    fates: dict[tuple[Point, Point], str] = field(default_factory=dict)
    faults: set[Fault] = field(default_factory=set)
    is_whole: bool = True


def difference(goal: Point, good: ComparedRun, bad: ComparedRun) -> GoalLack:
    """Return what a point lacks that holds in the good run, and not in the bad one."""
    made = _walked(GoalLack(goal), good, bad)
    made.chosen = _cheapest(made)
    made.fates = {
        (arc.source, arc.target): said
        for arc in made.arcs
        if (said := _fate(made, arc, good, bad))
    }
    # Rules can see who has crashed.
    for fault in bad.faults - good.faults:
        if isinstance(fault, Crash) and any(_tells(p, fault) for p in made.appeared):
            made.faults.add(fault)
    return made


@final
class ComparedRun:
    """One of two runs, with what was worked out of it."""

    def __init__(self, history: RunHistory) -> None:
        self._history = history
        self._ways: dict[Point, list[tuple[Arc, ...]]] = {}
        self.points = history.points
        self.faults = history.run.faults
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


def _walked(made: GoalLack, good: ComparedRun, bad: ComparedRun) -> GoalLack:
    waiting = [(made.goal, good, bad)]
    seen = {made.goal}
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
    return made


def _failing(way: Iterable[Arc], there: ComparedRun) -> list[Arc]:
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


def _instead(made: GoalLack, arc: Arc, there: ComparedRun) -> list[Point]:
    """Draw what holds though it must be absent; return it."""
    points = there.against(arc.source)
    if points:
        made.broken.add(arc.source)
    if len(points) > _MOST_INSTEAD:
        made.more[arc.source] = len(points) - _MOST_INSTEAD
    for point in points[:_MOST_INSTEAD]:
        made.arcs[Arc(point, arc.source, -1)] = None
    return points[:_MOST_INSTEAD]


def _cheapest(made: GoalLack) -> set[Arc]:
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


def _fate(made: GoalLack, arc: Arc, good: ComparedRun, bad: ComparedRun) -> str:
    """Return why something was not derived though what it came from holds."""
    if arc.is_absent or arc.by < 0:
        return ""
    if arc.target in made.lacking and arc.source not in made.lacking:
        faults = bad.faults
    elif arc.target in made.appeared and arc.source not in made.appeared:
        faults = good.faults
    else:
        return ""
    crashes = {f for f in faults if isinstance(f, Crash)}
    if arc.link is None:
        node, time = arc.target.node, arc.target.time
        downs = {crash for crash in crashes if down(crash, node, time)}
        made.faults |= downs
        return f"{node} is down" if downs else ""
    src, dst, time = arc.link.src, arc.link.dst, arc.link.time
    end = fate_of_link(src, dst, time, faults)
    if end is MessageEnd.LOST:
        made.faults.add(arc.link)
    elif end is MessageEnd.UNSENT:
        made.faults |= {crash for crash in crashes if silences(crash, src, dst, time)}
    elif end is MessageEnd.UNHEARD:
        made.faults |= {crash for crash in crashes if down(crash, dst, time + 1)}
    elif delays := {
        f for f in faults if isinstance(f, Delay) and _is_about(f, arc.link)
    }:
        made.faults |= delays
        return str(MessageEnd.LATE)
    return "" if end is None else str(end)


def _tells(point: Point, crash: Crash) -> bool:
    """Say whether a point is that a node has crashed."""
    return point.label.startswith("crash(") and f'"{crash.node}"' in point.label


def _is_about(fault: Delay, link: Loss) -> bool:
    """Say whether a delay is about what is sent on a link in a round."""
    return (fault.src, fault.dst, fault.time) == (link.src, link.dst, link.time)


def shape(made: GoalLack, nodes: Iterable[str]) -> tuple[str, ...]:
    """Return what differences have in common that are the same but for names of nodes."""
    names = re.compile("|".join(rf'"{re.escape(node)}"' for node in nodes))

    def plain(point: Point) -> str:
        if point == made.goal:
            return ""
        return names.sub("·", f"{point.label}@{point.time}")

    return (*sorted(f"{plain(a.source)} > {plain(a.target)}" for a in made.arcs),)
