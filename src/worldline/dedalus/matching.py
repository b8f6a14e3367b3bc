"""Atoms against rows of which only some columns are known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from worldline.dedalus.evaluate import Execution
from worldline.dedalus.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Term,
    Value,
    Variable,
)
from worldline.dedalus.templates import FactRow, RowPattern

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_CALCULATE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
}

Known = dict[str, Value]
"""Variables of a rule, as far as they are known."""


def unified(atom: Atom, pattern: RowPattern, before: Known) -> Known | None:
    """Return what is known where an atom is a row like this; ``None`` if it cannot be.

    What is calculated or aggregated is taken to be anything.
    """
    binding = dict(before)
    for term, value in zip(atom.terms, pattern, strict=True):
        if value is None:
            continue
        kind = type(term)
        if kind is Variable:
            if binding.setdefault(term.name, value) != value:  # type: ignore[union-attr]
                return None
        elif kind is Constant and term.value != value:  # type: ignore[union-attr]
            return None
    return binding


def pattern_of(atom: Atom, binding: Known) -> RowPattern:
    """Return an atom as a row, with ``None`` for what is not known."""
    get = binding.get
    return tuple(
        [
            get(term.name) if type(term) is Variable else value_of(term, binding)
            for term in atom.terms
        ]
    )


def is_decided(atom: Atom, binding: Known) -> bool:
    """Say whether the absence of an atom is the absence of its pattern."""
    return all(
        value_of(term, binding) is not None
        or (isinstance(term, Variable) and term.wild)
        for term in atom.terms
    )


def value_of(term: Term, binding: Known) -> Value | None:
    """Return what a term is; ``None`` where that is not known."""
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, Variable):
        return binding.get(term.name)
    if isinstance(term, Aggregate):
        return None
    return _calculated(term, binding)


def _calculated(term: Arithmetic, binding: Known) -> Value | None:
    left, right = value_of(term.left, binding), value_of(term.right, binding)
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if term.operator == "/" and right == 0:
        return None
    return _CALCULATE[term.operator](left, right)


def excluded(parts: Iterable[Comparison], binding: Known) -> bool:
    """Say whether a comparison is already known to be false."""
    for part in parts:
        left, right = value_of(part.left, binding), value_of(part.right, binding)
        if left is None or right is None:
            continue
        if not _COMPARE[part.operator](left, right):
            return True
    return False


def rows_like(
    execution: Execution, relation: str, pattern: RowPattern, time: int
) -> Iterable[FactRow]:
    """Return the rows of a run that are like a pattern."""
    table = execution.times[time][execution.compiled.relations[relation]]
    if None not in pattern:
        return (pattern,) if pattern in table.rows else ()  # type: ignore[return-value]
    columns = tuple([n for n, value in enumerate(pattern) if value is not None])
    if not columns:
        return table.rows
    key = tuple([value for value in pattern if value is not None])
    return table.index(columns).get(key[0] if len(key) == 1 else key, ())
