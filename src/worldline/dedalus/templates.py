"""The premises of a rule, as functions of a binding of its variables."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from worldline.dedalus.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Constant,
    Rule,
    Term,
    Value,
    Variable,
)
from worldline.dedalus.walk import negated, positive

FactRow: TypeAlias = tuple[Value, ...]
RowPattern: TypeAlias = tuple[Value | None, ...]
"""A row in which ``None`` stands for any value."""


class Template(NamedTuple):
    """An atom of a body.

    Attributes
    ----------
    row
        Makes its row from a binding; in an absence, ``_`` becomes ``None``.
    time
        The round that the atom names, if it does.
    """

    relation: str
    row: Callable[[FactRow], RowPattern]
    time: int | None


def needs(rule: Rule, names: tuple[str, ...]) -> tuple[Template, ...]:
    """Return the positive atoms of a rule, whose variables are `names`."""
    return tuple(_template(atom, names) for atom in positive(rule))


def absences(rule: Rule, names: tuple[str, ...]) -> tuple[Template, ...]:
    """Return the negated atoms of a rule."""
    return tuple(_template(atom, names) for atom in negated(rule))


def _template(atom: Atom, names: tuple[str, ...]) -> Template:
    return Template(atom.relation, _maker(atom, names), atom.time)


def _maker(atom: Atom, names: tuple[str, ...]) -> Callable[[FactRow], RowPattern]:
    columns = [
        names.index(term.name)
        for term in atom.terms
        if isinstance(term, Variable) and term.name in names
    ]
    if len(columns) == len(atom.terms) > 1:
        return itemgetter(*columns)
    values = [_value(term, names) for term in atom.terms]
    return lambda binding: tuple([value(binding) for value in values])


def _value(term: Term, names: tuple[str, ...]) -> Callable[[FactRow], Value | None]:
    if isinstance(term, Constant):
        constant = term.value
        return lambda _: constant
    if isinstance(term, Variable):
        if term.name not in names:
            return lambda _: None
        at = names.index(term.name)
        return lambda binding: binding[at]
    assert not isinstance(term, Aggregate)
    return _operation(term, names)


def _operation(term: Arithmetic, names: tuple[str, ...]) -> Callable[[FactRow], Value]:
    left, right = _value(term.left, names), _value(term.right, names)
    operator = term.operator

    def calculated(binding: FactRow) -> Value:
        one, other = left(binding), right(binding)
        assert isinstance(one, int)
        assert isinstance(other, int)
        if operator == "+":
            return one + other
        if operator == "-":
            return one - other
        return one * other if operator == "*" else one // other

    return calculated


def matches(row: FactRow, pattern: RowPattern) -> bool:
    """Say whether a row is as a pattern says."""
    return all(
        wanted is None or value == wanted
        for value, wanted in zip(row, pattern, strict=True)
    )
