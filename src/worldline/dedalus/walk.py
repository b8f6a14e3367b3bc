"""Ways through the parts of a rule."""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.syntax import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Literal,
    Rule,
    Term,
    Variable,
    When,
)

CRASH = "crash"
"""``crash(Observer, Node, Time)``: given by the faults, not by the program."""

PRE, POST = "pre", "post"
"""What must follow from what, at the end of time."""


def literals(rule: Rule) -> Iterator[Literal]:
    """Yield the atoms of a body, positive and negated."""
    return (part for part in rule.body if isinstance(part, Literal))


def positive(rule: Rule) -> Iterator[Atom]:
    """Yield the atoms that a rule needs."""
    return (part.atom for part in literals(rule) if not part.negated)


def negated(rule: Rule) -> Iterator[Atom]:
    """Yield the atoms whose absence a rule needs."""
    return (part.atom for part in literals(rule) if part.negated)


def comparisons(rule: Rule) -> Iterator[Comparison]:
    """Yield the comparisons of a body."""
    return (part for part in rule.body if isinstance(part, Comparison))


def variables(term: Term) -> Iterator[Variable]:
    """Yield the variables of a term, with repetitions."""
    if isinstance(term, Variable):
        yield term
    elif isinstance(term, Arithmetic):
        yield from variables(term.left)
        yield from variables(term.right)
    elif isinstance(term, Aggregate):
        yield term.of


def aggregates(rule: Rule) -> list[Aggregate]:
    """Return the aggregates of a head."""
    return [term for term in rule.head.terms if isinstance(term, Aggregate)]


def is_persistence(rule: Rule) -> bool:
    """Say whether a rule keeps a relation as it is, whatever else holds."""
    columns = rule.head.terms
    plain = len(set(columns)) == len(columns) and all(
        isinstance(term, Variable) for term in columns
    )
    return rule.when is When.NEXT and plain and rule.body == (Literal(rule.head),)


def is_broadcast(rule: Rule) -> bool:
    """Say whether a head's location is bound by nothing in the body."""
    place = rule.head.terms[0]
    return isinstance(place, Variable) and not any(
        place == term for atom in positive(rule) for term in atom.terms
    )
