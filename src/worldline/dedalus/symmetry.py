"""The renamings of nodes that a program cannot notice.

A node that no rule names can be exchanged with another, if the facts stay the same: the
rules then treat both alike. Where text is ordered (``<``, ``min``, ``max``) the names
themselves count, and there is no renaming.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.columns import Type
from worldline.dedalus.syntax import (
    Aggregator,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Rule,
    Term,
    Value,
    Variable,
)
from worldline.dedalus.walk import aggregates, positive

LIMIT = 720
"""No more renamings are listed: with all orders of 6 nodes a search gains the most."""


def renamings(checked: CheckedProgram) -> list[dict[str, str]]:
    """Return the permutations of nodes that change nothing, without the identity.

    At most `LIMIT` of them; any subset may be used to leave out equal work.
    """
    if any(_orders_text(rule, checked) for rule in checked.program.rules):
        return []
    named = {value for rule in checked.program.rules for value in _constants(rule)}
    free = [node for node in checked.nodes if node not in named]
    facts = {_row(fact) for fact in checked.program.facts}
    kept = []
    for renaming in _orders(free, {}, facts):
        if any(old != new for old, new in renaming.items()):
            kept.append(renaming)
        if len(kept) == LIMIT:
            break
    return kept


def _orders(
    free: list[str], chosen: dict[str, str], facts: set[tuple[Value, ...]]
) -> Iterator[dict[str, str]]:
    """Yield orders under which the facts stay, cutting those that already differ."""
    if not _may_stay(chosen, facts, set(free)):
        return
    if len(chosen) == len(free):
        yield dict(chosen)
        return
    old = free[len(chosen)]
    taken = set(chosen.values())
    for new in free:
        if new not in taken:
            yield from _orders(free, {**chosen, old: new}, facts)


def _may_stay(
    chosen: dict[str, str], facts: set[tuple[Value, ...]], free: set[str]
) -> bool:
    """Say whether every fact whose nodes are all decided becomes a fact."""
    last = next(reversed(chosen), None)
    for row in facts:
        if last not in row:
            continue
        if any(value in free and value not in chosen for value in row[1:]):
            continue
        if _renamed(row, chosen) not in facts:
            return False
    return True


def _renamed(row: tuple[Value, ...], chosen: dict[str, str]) -> tuple[Value, ...]:
    # The first part is the relation, the last the time.
    values = (chosen.get(v, v) if isinstance(v, str) else v for v in row[1:])
    return (row[0], *values)


def _row(fact: Atom) -> tuple[Value, ...]:
    values = (term.value for term in fact.terms if isinstance(term, Constant))
    return (fact.relation, *values, fact.time or 1)


def _constants(rule: Rule) -> Iterator[Value]:
    terms: list[Term] = list(rule.head.terms)
    for part in rule.body:
        if isinstance(part, Comparison):
            terms += [part.left, part.right]
        else:
            terms += part.atom.terms
    for term in terms:
        yield from _in_term(term)


def _in_term(term: Term) -> Iterator[Value]:
    if isinstance(term, Constant):
        yield term.value
    elif isinstance(term, Arithmetic):
        yield from _in_term(term.left)
        yield from _in_term(term.right)


def _orders_text(rule: Rule, checked: CheckedProgram) -> bool:
    for part in rule.body:
        if isinstance(part, Comparison) and part.operator not in {"==", "!="}:
            sides = (part.left, part.right)
            if any(_is_text(side, rule, checked) for side in sides):
                return True
    return any(
        aggregate.aggregator in {Aggregator.MIN, Aggregator.MAX}
        and _is_text(aggregate.of, rule, checked)
        for aggregate in aggregates(rule)
    )


def _is_text(term: Term, rule: Rule, checked: CheckedProgram) -> bool:
    if isinstance(term, Constant):
        return isinstance(term.value, str)
    if not isinstance(term, Variable):
        return False
    for atom in positive(rule):
        for column, other in enumerate(atom.terms):
            if other == term:
                return checked.columns.type(atom.relation, column) is not Type.INT
    return True
