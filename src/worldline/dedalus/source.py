"""The text of the Python functions that rules become.

It is made of names given here and of numbers; every constant of the program is handed
over as a value. A function finds the bindings of a rule's variables in one round and
adds each, with the head that it makes, to the list that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from worldline.dedalus.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Term,
    Variable,
)
from worldline.dedalus.tables import Table
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import is_broadcast, positive, variables

Derived: TypeAlias = list[tuple[FactRow, FactRow]]
"""Heads and the bindings that made them."""
RuleFunction: TypeAlias = Callable[
    [
        Sequence[Table],
        Sequence[Sequence[Table]],
        Derived,
        Sequence[str],
        Iterable[FactRow] | None,
    ],
    None,
]
"""Called with the tables of the round and of all rounds, where to put what is found, the
nodes, and the rows that one premise is restricted to."""


MOST_FIRINGS = 1_000_000
"""Of one rule in one round; more would take seconds, and most of the memory."""
LARGEST = 2**63


class TooMany(Exception):
    """A rule fires more than `MOST_FIRINGS` times in one round."""


class NumberTooLarge(Exception):
    """A calculation goes beyond `LARGEST`."""


def whole(value: int) -> int:
    """Return the result of a calculation, if it is of a size to calculate on with."""
    if -LARGEST < value < LARGEST:
        return value
    raise NumberTooLarge


def names_of(rule: Rule) -> tuple[str, ...]:
    """Return the variables of a rule in the order of a binding."""
    names = dict.fromkeys(
        variable.name
        for atom in positive(rule)
        for term in atom.terms
        for variable in variables(term)
    )
    if is_broadcast(rule):
        names.update(dict.fromkeys(v.name for v in variables(rule.head.terms[0])))
    return tuple(names)


@dataclass
class Source:
    """The text of functions, and the constants that they use."""

    relations: dict[str, int]
    lines: list[str] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)

    def functions(self) -> dict[str, RuleFunction]:
        """Compile what was written."""
        space: dict[str, Any] = {**self.constants, "whole": whole, "TooMany": TooMany}
        exec(compile("\n".join(self.lines), "<rules>", "exec"), space)  # noqa: S102
        return space

    def function(self, name: str, rule: Rule, delta: int | None) -> None:
        """Write one function; `delta` is the premise that is restricted."""
        _FunctionSource(self, rule, delta).write(name)

    def constant(self, value: object) -> str:
        """Return the name of a value."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name


class _FunctionSource:
    """The text of one function."""

    def __init__(self, source: Source, rule: Rule, delta: int | None) -> None:
        self._source = source
        self._rule = rule
        self._delta = delta
        self._bound: dict[str, str] = {}
        self._top: list[str] = []
        self._late: list[str] = []
        self._body: list[str] = []
        self._depth = 2
        self._tables: dict[tuple[str, int | None], str] = {}
        # What is checked as soon as its variables are bound: a side of an equation
        # that was read from a row, or a part of the body.
        self._waiting: list[tuple[set[str], str | Comparison | Literal, Term]] = []

    def write(self, name: str) -> None:
        """Write the function: premises are joined in a good order, checks come early."""
        rule = self._rule
        for part in rule.body:
            if isinstance(part, Comparison):
                need = {*variables(part.left), *variables(part.right)}
            elif part.negated:
                need = {v for t in part.atom.terms for v in variables(t) if not v.wild}
            else:
                continue
            self._waiting.append(({v.name for v in need}, part, Constant(0)))
        remaining = list(enumerate(positive(rule)))
        self._settle()
        while remaining:
            chosen = max(remaining, key=lambda item: self._rank(*item))
            remaining.remove(chosen)
            self._premise(*chosen)
            self._settle()
        if is_broadcast(rule):
            place = next(variables(rule.head.terms[0])).name
            self._bound[place] = self._fresh("n")
            self._line(f"for {self._bound[place]} in nodes:")
            self._depth += 1
        head = _tuple(
            self._bound[term.of.name]
            if isinstance(term, Aggregate)
            else self._value(term)
            for term in rule.head.terms
        )
        binding = _tuple(self._bound[variable] for variable in names_of(rule))
        self._line(f"out(({head}, {binding}))")
        self._source.lines += [
            f"def {name}(now, times, found, nodes, delta):",
            " out = found.append",
            *self._top,
            *self._late,
            " for _ in (0,):",
            *self._body,
        ]

    def _rank(self, number: int, atom: Atom) -> tuple[bool, int, int]:
        """Prefer the restricted premise, then what is bound most, then the first."""
        bound = sum(
            isinstance(term, Constant)
            or all(v.name in self._bound for v in variables(term))
            for term in atom.terms
        )
        return number == self._delta, bound, -number

    def _line(self, text: str) -> None:
        self._body.append(" " * self._depth + text)

    def _fresh(self, envelope: str) -> str:
        return f"{envelope}{len(self._bound)}_{len(self._body)}"

    def _table(self, atom: Atom) -> str:
        key = (atom.relation, atom.time)
        if key not in self._tables:
            name = self._tables[key] = f"t{len(self._tables)}"
            tables = "now" if atom.time is None else f"times[{atom.time:d}]"
            number = self._source.relations[atom.relation]
            self._top.append(f" {name} = {tables}[{number:d}]")
        return self._tables[key]

    def _premise(self, number: int, atom: Atom) -> None:
        """Write the loop over the rows that a premise may be."""
        table = self._table(atom)
        bound: dict[int, str] = {}
        for column, term in enumerate(atom.terms):
            if all(v.name in self._bound for v in variables(term)):
                bound[column] = self._value(term)
        restricted = number == self._delta
        if not restricted:
            self._top.append(f" if not {table}.rows: return")
        if len(bound) == len(atom.terms) and not restricted:
            self._line(f"if {_tuple(bound.values())} not in {table}.rows: continue")
            return
        row = f"r{number}"
        if self._depth > 2:
            self._line(f"if len(found) > {MOST_FIRINGS}: raise TooMany")
        if restricted:
            rows = "delta"
        elif bound:
            rows = f"{self._index(table, bound)}.get({_key(bound)}, ())"
        else:
            rows = f"{table}.rows"
        self._line(f"for {row} in {rows}:")
        self._depth += 1
        for column, term in enumerate(atom.terms):
            if column in bound:
                if restricted:
                    self._line(f"if {row}[{column}] != {bound[column]}: continue")
            elif isinstance(term, Variable) and term.name not in self._bound:
                self._bound[term.name] = self._fresh("v")
                self._line(f"{self._bound[term.name]} = {row}[{column}]")
            else:
                need = {v.name for v in variables(term)}
                self._waiting.append((need, f"{row}[{column}]", term))

    def _index(self, table: str, bound: dict[int, str]) -> str:
        columns = tuple(bound)
        name = f"{table}_{'_'.join(map(str, columns))}"
        line = f" {name} = {table}.index({columns!r})"
        # After every test for emptiness: no index is built in vain.
        if line not in self._late:
            self._late.append(line)
        return name

    def _settle(self) -> None:
        """Write the checks whose variables are all bound."""
        for item in list(self._waiting):
            need, what, term = item
            if not need <= self._bound.keys():
                continue
            self._waiting.remove(item)
            if isinstance(what, Comparison):
                left, right = self._value(what.left), self._value(what.right)
                self._line(f"if not {left} {what.operator} {right}: continue")
            elif isinstance(what, Literal):
                self._absence(what.atom)
            else:
                self._line(f"if {what} != {self._value(term)}: continue")

    def _absence(self, atom: Atom) -> None:
        table = self._table(atom)
        bound = {
            column: self._value(term)
            for column, term in enumerate(atom.terms)
            if not (isinstance(term, Variable) and term.wild)
        }
        if len(bound) == len(atom.terms):
            self._line(f"if {_tuple(bound.values())} in {table}.rows: continue")
        elif bound:
            self._line(f"if {_key(bound)} in {self._index(table, bound)}: continue")
        else:
            self._line(f"if {table}.rows: continue")

    def _value(self, term: Term) -> str:
        """Return an expression; nothing is divided by zero, the rule is silent there."""
        if isinstance(term, Constant):
            return self._source.constant(term.value)
        if isinstance(term, Variable):
            return self._bound[term.name]
        assert not isinstance(term, Aggregate)
        return self._operation(term.operator, term.left, term.right)

    def _operation(self, operator: str, left: Expression, right: Expression) -> str:
        one, other = self._value(left), self._value(right)
        if operator == "/":
            self._line(f"if {other} == 0: continue")
            operator = "//"
        return f"whole({one} {operator} {other})"


def _tuple(parts: Iterable[str]) -> str:
    listed = ", ".join(parts)
    return f"({listed},)" if listed else "()"


def _key(bound: dict[int, str]) -> str:
    """Return what an index is looked up with: a lone value stands for itself."""
    return next(iter(bound.values())) if len(bound) == 1 else _tuple(bound.values())
