"""The history of a program's run: all that it derived, for pages and files."""

from __future__ import annotations

from functools import cached_property
from typing import final

from worldline.dedalus import derivations as derived
from worldline.dedalus.evaluate import label_of
from worldline.dedalus.provenance import Fact
from worldline.dedalus.provenance import Provenance as Firings
from worldline.dedalus.syntax import Value, When
from worldline.dedalus.walk import CRASH, POST, PRE
from worldline.injection.scope import Loss
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.graph import NOT, Arc, Lineage, Point
from worldline.lineage.explaining.provenance import (
    ProvenanceGoal,
    ProvenanceGraph,
    ProvenanceRule,
)
from worldline.lineage.targets.program_subject import DedalusSubject

_WILDCARD = "__WILDCARD__"
"""What Molly writes for a column that may hold anything."""


@final
class ProgramHistory:
    """What a run of a program derived, and from what.

    Parameters
    ----------
    subject, run
        The program, and a run that it made.
    """

    def __init__(self, subject: DedalusSubject, run: Run) -> None:
        self.run = run
        self._eot = subject.scope.eot
        self._execution = subject.execute(run.faults)
        self._firings = Firings(self._execution)
        self._kinds = {
            rule.text: "" if rule.rule.when is When.NOW else str(rule.rule.when)
            for rules in self._execution.compiled.heads.values()
            for rule in rules
        }
        facts = [Fact(*one) for one in self._execution.tuples()]
        self._named = {(f.time, label_of(f.relation, f.row)): f for f in facts}
        self._facts = {self._point(fact): fact for fact in facts}

    @cached_property
    def points(self) -> frozenset[Point]:
        """All facts."""
        return frozenset(self._facts)

    def goal(self, goal: Goal) -> Point:
        """Return the row of `post` at the end."""
        row = goal if isinstance(goal, tuple) else (str(goal),)
        return self._point(Fact(POST, row, self._eot))

    def debt(self, goal: Goal) -> Point:
        """Return the row of `pre` at the end."""
        row = goal if isinstance(goal, tuple) else (str(goal),)
        return self._point(Fact(PRE, row, self._eot))

    def lineage(self, point: Point) -> Lineage:
        """Return all derivations of a fact."""
        if point not in self._facts:
            return Lineage(point, ())
        made = derived.derivations(self._firings, [self._facts[point]])
        points = [
            self._point(self._named[fact.time, fact.label]) for fact in made.facts
        ]
        arcs = []
        for number, firing in enumerate(made.firings):
            target, sent = points[firing.fact], firing.message
            link = None if sent is None else Loss(sent.time, sent.src, sent.dst)
            for premise in firing.premises:
                arcs.append(
                    Arc(points[premise], target, number, sent is not None, link=link)
                )
            for absence in firing.absences:
                arcs.append(
                    Arc(_absent(absence, target), target, number, is_absent=True)
                )
        return Lineage(point, tuple(arcs))

    def _point(self, fact: Fact) -> Point:
        node = self._execution.node_of(fact.row)
        return Point(fact.time, node, label_of(fact.relation, fact.row))

    def provenance(self, condition: str) -> ProvenanceGraph:
        """Return the derivations of all rows of `pre` or `post` at the end."""
        rows = self._execution.rows(condition, self._eot)
        made = derived.derivations(
            self._firings, [Fact(condition, row, self._eot) for row in rows]
        )
        goals = []
        for fact in made.facts:
            named = self._named[fact.time, fact.label]
            label = _molly(named.relation, [*named.row, named.time])
            goals.append(ProvenanceGoal(self._point(named), label, named.relation))
        absent: dict[Point, int] = {}
        rules = []
        for firing in made.firings:
            premises = [*firing.premises]
            target = made.facts[firing.fact]
            for text in firing.absences:
                point = _absent(text, goals[firing.fact].point)
                if point not in absent:
                    absent[point] = len(goals)
                    goals.append(_absence_goal(point))
                premises.append(absent[point])
            kind = self._kinds[firing.rule]
            text, needed = firing.rule, tuple(premises)
            rules.append(
                ProvenanceRule(firing.fact, target.relation, kind, text, needed)
            )
        return ProvenanceGraph(tuple(goals), tuple(rules), tuple(range(len(rows))))

    def tables(self) -> dict[str, list[list[str]]]:
        """Return all rows of all rounds, as text, with the round as a last column."""
        tables: dict[str, list[list[str]]] = {PRE: [], POST: []}
        for relation, row, time in self._execution.tuples():
            if relation != CRASH:  # it holds everywhere, always
                tables.setdefault(relation, []).append([*map(str, row), str(time)])
        return tables


def _absent(text: str, target: Point) -> Point:
    label, _, time = text.rpartition("@")
    return Point(int(time), target.node, f"{NOT}{label}")


def _absence_goal(point: Point) -> ProvenanceGoal:
    relation, _, columns = point.label.removeprefix(NOT).partition("(")
    columns = columns.removesuffix(")").replace('"', "")
    row = [_WILDCARD if one == "_" else one for one in columns.split(", ")]
    return ProvenanceGoal(
        point, NOT + _molly(relation, [*row, point.time]), relation, is_absent=True
    )


def _molly(relation: str, row: list[Value]) -> str:
    return f"{relation}({', '.join(map(str, row))})"
