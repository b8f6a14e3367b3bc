"""The facts that may hold in a round, under whatever faults.

Faults take messages and nodes away, so a program without its negated premises derives,
in a run without faults, all that the program does in any run: what may hold. Aggregates
are of values that may be missing, late messages come in other rounds, and rows of
`crash` there are none here: what rests on these is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import final

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import Execution, evaluate
from worldline.dedalus.matching import rows_like
from worldline.dedalus.syntax import Arithmetic, Literal, Program, When
from worldline.dedalus.templates import FactRow, RowPattern
from worldline.dedalus.walk import CRASH, aggregates, positive
from worldline.injection.scope import NO_FAULTS, Scope
from worldline.model.errors import UsageError


@final
class PossibleFacts:
    """The rows that a relation may hold in a round of a scope."""

    def __init__(self, checked: CheckedProgram, scope: Scope) -> None:
        self._checked = checked
        self._scope = scope

    def rows(
        self, relation: str, pattern: RowPattern, time: int
    ) -> Iterator[FactRow] | None:
        """Return the rows like a pattern that may hold; None where that is not known."""
        if relation in self._unknown or self._most is None or time > self._most.eot:
            return None
        if relation not in self._most.compiled.relations:
            return iter(())
        return iter(rows_like(self._most, relation, pattern, time))

    @cached_property
    def _unknown(self) -> frozenset[str]:
        program = self._checked.program
        if self._scope.delay:
            return frozenset({CRASH, *(rule.head.relation for rule in program.rules)})
        return frozenset(_resting_on_unknown(program))

    @cached_property
    def _most(self) -> Execution | None:
        """Return the run of all that may hold; None where that is too much."""
        program = self._checked.program
        if _counts_within_a_round(self._checked):
            return None
        rules = tuple(
            replace(
                rule,
                body=tuple(
                    part
                    for part in rule.body
                    if not (isinstance(part, Literal) and part.negated)
                ),
            )
            for rule in program.rules
        )
        relaxed = replace(self._checked, program=replace(program, rules=rules))
        try:
            return evaluate(compile_program(relaxed), NO_FAULTS, self._scope.eot)
        except UsageError:
            return None


def _counts_within_a_round(checked: CheckedProgram) -> bool:
    """Say whether only an absence may end what counts on and on within a round."""
    group = {name: set(names) for names in checked.strata for name in names}
    return any(
        rule.when is When.NOW
        and any(isinstance(term, Arithmetic) for term in rule.head.terms)
        and any(atom.relation in group[rule.head.relation] for atom in positive(rule))
        for rule in checked.program.rules
    )


def _resting_on_unknown(program: Program) -> set[str]:
    """Return the relations whose rows a run without negation does not tell."""
    unknown = {CRASH}
    unknown |= {rule.head.relation for rule in program.rules if aggregates(rule)}
    grew = True
    while grew:
        new = {
            rule.head.relation
            for rule in program.rules
            if any(atom.relation in unknown for atom in positive(rule))
        }
        grew = not new <= unknown
        unknown |= new
    return unknown
