"""The number of columns of each relation, and their types.

A type is a class of a union-find over columns and the variables of rules. Column 0 of
every relation that has places is a location. A comparison needs equal types but passes none on: a
column of node names may be compared with ``"none"``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import TypeAlias

from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import (
    UNNAMED,
    Aggregate,
    Aggregator,
    Arithmetic,
    Atom,
    Constant,
    Expression,
    Program,
    Rule,
    Span,
    Variable,
)
from worldline.dedalus.walk import CRASH, comparisons, literals
from worldline.model.counts import counted

Slot: TypeAlias = tuple[str, int] | tuple[int, str]
"""A column of a relation, or a variable of a rule."""


class Type(StrEnum):
    """The type of the values of a column."""

    INT = "number"
    STRING = "string"
    LOCATION = "location"


class ColumnTypes:
    """The types of all columns.

    Parameters
    ----------
    placed
        The relations whose first column is a place.

    Attributes
    ----------
    arity
        The number of columns of each relation.
    problems
        Where the program contradicts itself.
    """

    def __init__(self, program: Program, placed: Collection[str]) -> None:
        self.arity: dict[str, int] = {CRASH: 3}
        self.problems: list[Problem] = []
        self._parent: dict[Slot, Slot] = {}
        self._type: dict[Slot, tuple[Type, Span | None]] = {}
        self._placed = placed
        for atom in [*program.facts, *_atoms(program)]:
            self._count(atom)
        if self.problems:
            return
        for fact in program.facts:
            self._atom(fact, -1)
        for number, rule in enumerate(program.rules):
            for atom in _atoms_of(rule):
                self._atom(atom, number)
        self._learn((CRASH, 1), Type.LOCATION, None)
        self._learn((CRASH, 2), Type.INT, None)
        for number, rule in enumerate(program.rules):
            for part in comparisons(rule):
                self._compare(part.left, part.right, number, part.span)

    def type(self, relation: str, column: int) -> Type | None:
        """Return what a column holds; ``None`` where nothing says so."""
        return self._known((relation, column))

    def _count(self, atom: Atom) -> None:
        arity = self.arity.setdefault(atom.relation, len(atom.terms))
        if arity != len(atom.terms):
            given = counted(len(atom.terms), "column")
            what = f"{atom.relation} has {given} here, and {arity} before"
            if atom.relation == CRASH:
                what = f"{CRASH} has {given} here"
                remedy = f"write {CRASH}(Observer, Node, Time)"
            else:
                remedy = "a relation has the same number of columns everywhere"
            self.problems.append(Problem(atom.span, what, remedy))

    def _atom(self, atom: Atom, rule: int) -> None:
        if atom.relation in self._placed:
            self._learn((atom.relation, 0), Type.LOCATION, atom.span)
        for column, term in enumerate(atom.terms):
            slot = (atom.relation, column)
            if isinstance(term, Constant):
                self._learn(slot, _of(term), atom.span)
            elif isinstance(term, Variable):
                self._join((rule, term.name), slot, atom.span)
            elif isinstance(term, Aggregate):
                self._aggregate(term, slot, rule, atom.span)
            else:
                self._learn(slot, Type.INT, atom.span)
                self._numbers(term, rule, atom.span)

    def _aggregate(
        self, term: Aggregate, slot: Slot, rule: int, span: Span | None
    ) -> None:
        over = (rule, term.of.name)
        if term.aggregator in {Aggregator.MIN, Aggregator.MAX}:
            self._join(over, slot, span)
            return
        self._learn(slot, Type.INT, span)
        if term.aggregator is not Aggregator.COUNT:
            self._learn(over, Type.INT, span)

    def _numbers(self, term: Expression, rule: int, span: Span | None) -> None:
        if isinstance(term, Arithmetic):
            self._numbers(term.left, rule, span)
            self._numbers(term.right, rule, span)
        elif isinstance(term, Variable):
            self._learn((rule, term.name), Type.INT, span)
        elif _of(term) is not Type.INT:
            what = f'"{term.value}" stands in a calculation'
            self.problems.append(Problem(span, what, "calculate with numbers"))

    def _compare(
        self, left: Expression, right: Expression, rule: int, span: Span | None
    ) -> None:
        types = []
        for side in (left, right):
            if isinstance(side, Arithmetic):
                self._numbers(side, rule, span)
                types.append(Type.INT)
            elif isinstance(side, Constant):
                types.append(_of(side))
            else:
                side_type = self._known((rule, side.name))
                if side_type is not None:
                    types.append(side_type)
        if len({each is Type.INT for each in types}) > 1:
            what = f"a {types[0]} is compared with a {types[1]}"
            self.problems.append(Problem(span, what, "compare equal types"))

    def _root(self, slot: Slot) -> Slot:
        path = []
        while (parent := self._parent.get(slot, slot)) != slot:
            path.append(slot)
            slot = parent
        for passed in path:
            self._parent[passed] = slot
        return slot

    def _known(self, slot: Slot) -> Type | None:
        return self._type.get(self._root(slot), (None, None))[0]

    def _learn(self, slot: Slot, learned: Type, span: Span | None) -> None:
        root = self._root(slot)
        earlier, where = self._type.get(root, (learned, span))
        if (earlier is Type.INT) != (learned is Type.INT):
            self._conflict(_named(slot), learned, span, earlier, where)
        elif earlier is not Type.LOCATION:
            self._type[root] = learned, where
        else:
            self._type[root] = earlier, where

    def _join(self, variable: Slot, slot: Slot, span: Span | None) -> None:
        one, other = self._root(variable), self._root(slot)
        if one == other:
            return
        self._parent[one] = other
        if one in self._type:
            learned, where = self._type.pop(one)
            earlier, before = self._type.get(other, (learned, where))
            if (earlier is Type.INT) != (learned is Type.INT):
                name = _named(variable)
                self._conflict(name, earlier, span, learned, where)
            elif earlier is Type.LOCATION or learned is not Type.LOCATION:
                self._type[other] = earlier, before
            else:
                self._type[other] = learned, where

    def _conflict(
        self, name: str, one: Type, span: Span | None, other: Type, where: Span | None
    ) -> None:
        if span is None:
            span = where
        before = f" (see {where})" if where is not None and where != span else ""
        what = f"{name} is a {one} here, and a {other} elsewhere{before}"
        self.problems.append(Problem(span, what, "a column holds one type"))


def _of(constant: Constant) -> Type:
    return Type.INT if isinstance(constant.value, int) else Type.STRING


def _named(slot: Slot) -> str:
    relation, column = slot
    if isinstance(column, str):
        return (
            "a value for _" if column.startswith(UNNAMED) else f"the variable {column}"
        )
    return f"column {column + 1} of {relation}"


def _atoms_of(rule: Rule) -> Iterator[Atom]:
    yield rule.head
    for part in literals(rule):
        yield part.atom


def _atoms(program: Program) -> Iterator[Atom]:
    for rule in program.rules:
        yield from _atoms_of(rule)
