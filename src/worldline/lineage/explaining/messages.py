"""The lineage of Python nodes: fields that a promise read, and messages before them.

A node that has received something may do anything for it. So what keeps a promise is
the values of fields, all that their nodes had received when they were written, and what
the senders had received before they sent it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from worldline.injection.scope import Loss, Scope
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.graph import Arc, Lineage, Point
from worldline.lineage.explaining.provenance import (
    ProvenanceGoal,
    ProvenanceGraph,
    ProvenanceRule,
)
from worldline.lineage.explaining.words import goal_words


@final
@dataclass(frozen=True, slots=True)
class FieldRead:
    """A field that a promise read, at the end of its round.

    Attributes
    ----------
    text
        The field and its value.
    written
        The round of the last change.
    """

    node: str
    text: str
    written: int


@final
class MessageHistory:
    """What the nodes of a run received, and after what.

    Parameters
    ----------
    run, scope
        The run, and the question.
    reads
        What the promises read that are asked about; of another one, or of one that
        reads nothing, any message may have a part in it.
    """

    def __init__(
        self, run: Run, scope: Scope, reads: Mapping[Goal, Sequence[FieldRead]]
    ) -> None:
        self.run = run
        self._scope = scope
        self._reads: dict[Point, list[Point]] = {}
        self._written: dict[Point, int] = {}
        for goal, fields in reads.items():
            top = self.goal(goal)
            for read in fields:
                point = Point(top.time, read.node, read.text)
                self._written[point] = read.written
                self._reads.setdefault(top, []).append(point)
        self._links: dict[Point, Loss] = {}
        self._received: dict[tuple[str, int], list[Point]] = {}
        for sent in run.sent:
            if sent.arrived is not None and sent.src != sent.dst:
                label = f"{sent.dst} hears {sent.label} of {sent.src}"
                heard = Point(sent.arrived, sent.dst, label)
                self._links[heard] = Loss(sent.time, sent.src, sent.dst)
                self._received.setdefault((sent.dst, sent.arrived), []).append(heard)

    @cached_property
    def points(self) -> frozenset[Point]:
        """What was received, and the goals that are kept."""
        begun = map(_begins, self._scope.nodes)
        kept = map(self.goal, self.run.kept)
        return frozenset([*self._links, *self._written, *begun, *kept])

    def goal(self, goal: Goal) -> Point:
        """Return a goal at the end of its round."""
        time = getattr(goal, "round", self._scope.eot)
        return Point(time, "", getattr(goal, "property", goal_words(goal)))

    def debt(self, goal: Goal) -> Point:
        """Return the same: what is promised is owed in any case."""
        return self.goal(goal)

    def lineage(self, point: Point) -> Lineage:
        """Return what came before a point: all of it together."""
        arcs: list[Arc] = []
        waiting = [point]
        seen = {point}
        while waiting:
            target = waiting.pop()
            for source in self._before(target):
                link = self._links.get(target)
                sent = link is not None
                arcs.append(Arc(source, target, 0, is_message=sent, link=link))
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return Lineage(point, tuple(arcs))

    def _before(self, point: Point) -> list[Point]:
        """Return what the sender of a message received last, or the node of a field.

        Of a goal, return the fields that it reads.
        """
        if point in self._written:
            until = self._written[point]
            return [p for p in self._links if p.node == point.node and p.time <= until]
        link = self._links.get(point)
        if link is None:
            if point.node:
                return []
            heard = [p for p in self._links if p.time <= point.time]
            return self._reads.get(point) or heard
        for time in range(link.time, 0, -1):
            if (link.src, time) in self._received:
                return self._received[link.src, time]
        return [_begins(link.src)]

    def provenance(self, condition: str) -> ProvenanceGraph:
        """Return what came before the goals that are owed, or kept."""
        goals = self.run.owed if condition == "pre" else self.run.kept
        tops = [self.goal(goal) for goal in sorted(goals, key=repr)]
        number: dict[Point, int] = {top: n for n, top in enumerate(tops)}
        rules: list[ProvenanceRule] = []
        waiting = [*number] if condition != "pre" else []
        for point in waiting:  # grows while it is walked
            before = self._before(point)
            for one in before:
                if one not in number:
                    number[one] = len(number)
                    waiting.append(one)
            if before:
                kind = "async" if point in self._links else ""
                table = _table(point)
                premises = tuple(number[one] for one in before)
                rules.append(ProvenanceRule(number[point], table, kind, "", premises))
        found = tuple(
            ProvenanceGoal(point, f"{point.label}@{point.time}", _table(point))
            for point in number
        )
        return ProvenanceGraph(found, tuple(rules), tuple(range(len(tops))))

    def tables(self) -> dict[str, list[list[str]]]:
        """Return the goals that are owed and kept, with their rounds."""
        return {
            "pre": [
                [*_row(self.goal(goal))] for goal in sorted(self.run.owed, key=repr)
            ],
            "post": [
                [*_row(self.goal(goal))] for goal in sorted(self.run.kept, key=repr)
            ],
        }


def _begins(node: str) -> Point:
    return Point(1, node, f"{node} begins")


def _row(point: Point) -> tuple[str, str]:
    return point.label, str(point.time)


def _table(point: Point) -> str:
    """Return what stands for the relation: the class of a message, or the goal."""
    return point.label.partition(" hears ")[2].partition("(")[0] or point.label
