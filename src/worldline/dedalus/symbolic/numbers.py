"""Numbers that a solver can count with: it has 32 bits, and wraps around in silence.

Where a calculation may leave `LARGEST`, the atom ``huge`` comes about, and the program is
refused. What may come about is more than what does: a guard sees the premises of a rule,
not its comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.symbolic.words import Words
from worldline.dedalus.syntax import (
    Arithmetic,
    Comparison,
    Constant,
    Program,
    Rule,
    Term,
    Value,
)

LARGEST = 2**29
"""Two such can be added, and a sum be rounded, without leaving 32 bits."""

_FACTOR = 2**14


def too_large(program: Program) -> Iterator[int]:
    """Yield the numbers in a program that are too large."""
    terms = [term for fact in program.facts for term in fact.terms]
    terms += [term for rule in program.rules for term in _used(rule)]
    for value in map(_constant, _parts(terms)):
        if isinstance(value, int) and abs(value) > LARGEST:
            yield value


def guards(rule: Rule, words: Words) -> Iterator[str]:
    """Yield conditions under which a calculation of a rule is not to be trusted."""
    texts: dict[str, None] = {}
    for part in _parts(_used(rule)):
        if isinstance(part, Arithmetic):
            most = _FACTOR if part.operator == "*" else LARGEST
            for side in (part.left, part.right):
                if not isinstance(side, Constant):
                    texts[f"|{words.expression(side)}|>{most}"] = None
                elif isinstance(side.value, int) and abs(side.value) > most:
                    texts["t=t"] = None
    yield from texts


def _used(rule: Rule) -> list[Term]:
    terms = list(rule.head.terms)
    for part in rule.body:
        if isinstance(part, Comparison):
            terms += [part.left, part.right]
        else:
            terms += part.atom.terms
    return terms


def _parts(terms: list[Term]) -> Iterator[Term]:
    """Yield terms and all within them."""
    pending = list(terms)
    while pending:
        term = pending.pop()
        yield term
        if isinstance(term, Arithmetic):
            pending += [term.left, term.right]


def _constant(term: Term) -> Value | None:
    return term.value if isinstance(term, Constant) else None
