"""Safety of rules: every variable gets its values from what the rule needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import (
    Arithmetic,
    Atom,
    Comparison,
    Program,
    Rule,
    Span,
    Variable,
    When,
)
from worldline.dedalus.walk import comparisons, negated, positive, variables

Unbound: TypeAlias = tuple[Variable, Problem]
"""A variable, and what is wrong with it."""


def unsafe(program: Program) -> Iterator[Problem]:
    """Yield variables that no positive atom of the body binds, each of a rule once."""
    for rule in program.rules:
        told: set[str] = set()
        for variable, problem in _in_rule(rule):
            if variable.name not in told:
                told.add(variable.name)
                yield problem


def _in_rule(rule: Rule) -> Iterator[Unbound]:
    bound = {
        term.name
        for atom in positive(rule)
        for term in atom.terms
        if isinstance(term, Variable)
    }
    yield from _in_head(rule, bound)
    for atom in positive(rule):
        yield from _in_operations(atom, bound)
    for atom in negated(rule):
        for term in atom.terms:
            for variable in variables(term):
                wild = variable.wild and isinstance(term, Variable)
                if variable.name not in bound and not wild:
                    where = f"the absence of {atom.relation}"
                    yield _problem(variable, atom.span, where)
    for part in comparisons(rule):
        yield from _in_comparison(part, bound)


def _in_head(rule: Rule, bound: set[str]) -> Iterator[Unbound]:
    for column, term in enumerate(rule.head.terms):
        for variable in variables(term):
            broadcast = (
                column == 0
                and rule.when is When.ASYNC
                and isinstance(term, Variable)
                and all(
                    variable not in variables(other) for other in rule.head.terms[1:]
                )
            )
            if variable.name not in bound and not broadcast:
                yield _problem(variable, rule.span, "the head")


def _in_operations(atom: Atom, bound: set[str]) -> Iterator[Unbound]:
    for term in atom.terms:
        if isinstance(term, Arithmetic):
            for variable in variables(term):
                if variable.name not in bound:
                    yield _problem(variable, atom.span, "a calculation")


def _in_comparison(part: Comparison, bound: set[str]) -> Iterator[Unbound]:
    for side in (part.left, part.right):
        for variable in variables(side):
            if variable.name not in bound:
                yield _problem(variable, part.span, "a comparison")


def _problem(variable: Variable, span: Span | None, where: str) -> Unbound:
    if variable.wild:
        problem = Problem(span, f"_ stands in {where}", "name a value", word="_")
        return variable, problem
    return variable, Problem(
        span,
        f"{variable.name} is unsafe: it stands in {where}, but in no premise "
        "that gives it values",
        "use it in a positive atom of the body; strings have quotes",
        word=variable.name,
    )
