"""A second meaning of Dedalus, one round at a time, which shares nothing with the package.

Rules are tried on all combinations of rows, again and again, until nothing is new.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tests.dedalus.manner.reading import ANY, Clause, Premise, Reader, Term

Row = tuple[Any, ...]
Fact = tuple[str, Row]
"""A relation and one of its rows."""
Facts = frozenset[Fact]
Message = tuple[str, str, Fact]
"""Who sends, to whom, and what will be there."""
Names = dict[str, Any]

SENDER = "@"
"""Stands, among the names of a rule, for the place of its first premise."""
SIGNS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
AGGREGATES: dict[str, Callable[[set[Any]], Any]] = {
    "count": len,
    "sum": sum,
    "min": min,
    "max": max,
}


class Plain:
    """A program with its nodes and crashes.

    `halt` is whether a crash takes the state of a node with it. Only relations of the
    protocol have a place, their first column: those that rules with ``@next`` or
    ``@async`` derive and read, and those that lead to them.
    """

    def __init__(
        self,
        program: Reader,
        nodes: tuple[str, ...],
        crashes: Mapping[str, int],
        halt: bool = False,
    ) -> None:
        self.program, self.nodes, self.crashes = program, nodes, dict(crashes)
        self.halt = halt
        self.placed = protocol(program.clauses)
        self._levels = levels(program.clauses)
        self.named = {p.at for c in program.clauses for p in c.premises if p.at}
        self._crash_rows = {
            (seer, node, time) for seer in nodes for node, time in crashes.items()
        }

    def dead(self, node: str, time: int) -> bool:
        """Whether a node's state is gone."""
        return self.halt and self.crashes.get(node, time + 1) <= time

    def given(self, time: int) -> Facts:
        """Return the facts of a round."""
        rows = {
            (fact.relation, tuple(value(term, {}) for term in fact.terms))
            for fact in self.program.facts
            if fact.at == time
        }
        return self.alive(rows, time)

    def alive(self, facts: Iterable[Fact], time: int) -> Facts:
        """Return those facts that are at no dead node."""
        return frozenset(
            (relation, row)
            for relation, row in facts
            if relation not in self.placed or not self.dead(row[0], time)
        )

    def saturated(
        self, begun: Facts, time: int, past: Mapping[int, Facts]
    ) -> RoundRows:
        """Return all that holds in a round; `past` has the rounds that rules name."""
        rows = RoundRows(self._crash_rows, past, time)
        rows.add(begun)
        for level in range(max(self._levels.values(), default=0) + 1):
            ready = [
                clause
                for clause in self.program.clauses
                if clause.when == "now" and self._levels[clause.head.relation] == level
            ]
            while any(self._derive(clause, rows, time) for clause in ready):
                pass
        return rows

    def _derive(self, clause: Clause, rows: RoundRows, time: int) -> bool:
        relation = clause.head.relation
        heads = [(relation, row) for _, row in self._heads(clause, rows)]
        return rows.add(self.alive(heads, time))

    def sent(self, rows: RoundRows, time: int) -> tuple[Facts, list[Message]]:
        """Return what stays where it is, and what has to travel.

        A node that has crashed sends nothing to others.
        """
        stays: set[Fact] = set()
        travels: list[Message] = []
        for clause in self.program.clauses:
            if clause.when == "now":
                continue
            for place, row in self._heads(clause, rows):
                fact = clause.head.relation, row
                if clause.when == "next" or place == row[0]:
                    stays.add(fact)
                elif self.crashes.get(place, time + 1) > time and row[0] in self.nodes:
                    travels.append((place, row[0], fact))
        return frozenset(stays), travels

    def _heads(self, clause: Clause, rows: RoundRows) -> Iterator[tuple[str, Row]]:
        """Yield what a rule derives, and who sends it: where its first premise is."""
        groups: dict[tuple[str, Row], list[Names]] = {}
        for names in self._matches(clause, rows):
            place = names[SENDER] if clause.when == "async" else ""
            row = tuple(
                None if term[0] == "all" else value(term, names)
                for term in clause.head.terms
            )
            groups.setdefault((place, row), []).append(names)
        for (place, row), together in groups.items():
            yield (
                place,
                tuple(
                    AGGREGATES[term[1]]({names[term[2]] for names in together})
                    if term[0] == "all"
                    else column
                    for term, column in zip(clause.head.terms, row, strict=True)
                ),
            )

    def _matches(self, clause: Clause, rows: RoundRows) -> Iterator[Names]:
        """Yield what a rule fires with; it waits for the rounds that it names."""
        if any((premise.at or 1) > rows.time for premise in clause.premises):
            return
        ways: list[Names] = [{}]
        for premise in clause.premises:
            if not premise.absent:
                ways = [
                    {SENDER: row[0], **more}
                    for names in ways
                    for row in rows.of(premise)
                    if (more := matched(premise, row, names)) is not None
                ]
        receiver = clause.head.terms[0]
        if clause.when == "async" and receiver[0] == "name":
            ways = [
                {receiver[1]: node, **names}
                for names in ways
                for node in ([""] if receiver[1] in names else self.nodes)
            ]
        for names in ways:
            if all(value(test, names) for test in clause.tests) and not any(
                premise.absent
                and any(
                    matched(premise, row, names) is not None for row in rows.of(premise)
                )
                for premise in clause.premises
            ):
                yield names


class RoundRows:
    """What holds in a round, and held in the rounds that rules name."""

    def __init__(
        self, crash_rows: set[Row], past: Mapping[int, Facts], time: int
    ) -> None:
        self._rows: dict[str, set[Row]] = {"crash": crash_rows}
        self._past, self.time = past, time

    def of(self, premise: Premise) -> Iterable[Row]:
        """Return the rows that a premise is about."""
        if premise.at in (None, self.time) or premise.relation == "crash":
            return self._rows.get(premise.relation, ())
        held = self._past.get(premise.at, frozenset())
        return [row for relation, row in held if relation == premise.relation]

    def add(self, facts: Iterable[Fact]) -> bool:
        """Add rows; say whether any is new."""
        new = False
        for relation, row in facts:
            held = self._rows.setdefault(relation, set())
            new = new or row not in held
            held.add(row)
        return new

    def facts(self) -> Facts:
        """Return all rows but those of ``crash``."""
        return frozenset(
            (relation, row)
            for relation, rows in self._rows.items()
            if relation != "crash"
            for row in rows
        )

    def __getitem__(self, relation: str) -> set[Row]:
        return self._rows.get(relation, set())


def value(term: Term, names: Names) -> Any:
    """Calculate a term."""
    if term[0] == "constant":
        return term[1]
    if term[0] == "name":
        return names[term[1]]
    return SIGNS[term[0]](value(term[1], names), value(term[2], names))


def matched(premise: Premise, row: Row, names: Names) -> Names | None:
    """Return the names with those that a row gives to a premise, if it fits."""
    more = names
    for term, column in zip(premise.terms, row, strict=True):
        if term == ANY:
            continue
        if term[0] == "name" and term[1] not in more:
            more = {**more, term[1]: column}
        elif value(term, more) != column:
            return None
    return more


def protocol(clauses: list[Clause]) -> set[str]:
    """Return the relations that have a place."""
    placed = {c.head.relation for c in clauses if c.when != "now"}
    while True:
        leading = [c for c in clauses if c.when != "now" or c.head.relation in placed]
        read = {premise.relation for c in leading for premise in c.premises}
        if read <= placed:
            return placed
        placed |= read


def levels(clauses: list[Clause]) -> dict[str, int]:
    """Return how many absences and aggregates are below each relation in a round."""
    level = {c.head.relation: 0 for c in clauses}
    for _ in range(len(level) + 1):
        for clause in clauses:
            if clause.when != "now":
                continue
            over = any(term[0] == "all" for term in clause.head.terms)
            below = [
                level.get(p.relation, 0) + (p.absent or over) for p in clause.premises
            ]
            relation = clause.head.relation
            level[relation] = max([level[relation], *below])
    return level
