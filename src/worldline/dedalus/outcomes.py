"""Default outcomes: what a program promises that says nothing of promises.

Without `pre` and `post`, each row that a persistent relation holds at the end of the
run without faults has to be there at the end of every other run. That becomes a `pre`
and a `post` of the scope at hand, with a row's text as their only column.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 2.3.
The published tool does not do so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.dedalus.syntax import (
    Atom,
    Constant,
    Literal,
    Rule,
    Term,
    Variable,
    When,
)
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import POST, PRE
from worldline.injection.scope import NO_FAULTS, Scope


def with_outcomes(checked: CheckedProgram, scope: Scope) -> CheckedProgram:
    """Return a program with its default outcomes in a scope, if it has such.

    Raises
    ------
    UsageError
        If the run without faults cannot be made.
    """
    if not checked.outcomes:
        return checked
    eot = scope.eot
    run = evaluate(compile_program(checked), NO_FAULTS, eot, scope.semantics)
    facts: list[Atom] = []
    rules: list[Rule] = []
    labels: set[str] = set()
    for relation in checked.outcomes:
        owed = _fresh(f"owed.{relation}", checked)
        for row in run.rows(relation, eot):
            columns = (*row, _label(relation, row, labels))
            facts.append(Atom(owed, tuple(map(Constant, columns)), eot))
        rules += _rules(relation, owed, checked.columns.arity[relation])
    program = checked.program
    program = replace(
        program, rules=(*program.rules, *rules), facts=(*program.facts, *facts)
    )
    return check(program, scope.nodes)


def _rules(relation: str, owed: str, columns: int) -> Iterator[Rule]:
    """Yield that rows are owed, and that they are kept if they are there."""
    row: tuple[Term, ...] = tuple(Variable(f"X{n}") for n in range(1, columns + 1))
    label = Variable("Row")
    stated = Literal(Atom(owed, (*row, label)))
    yield Rule(Atom(PRE, (label,)), When.NOW, (stated,))
    there = Literal(Atom(relation, row))
    yield Rule(Atom(POST, (label,)), When.NOW, (stated, there))


def _label(relation: str, row: FactRow, labels: set[str]) -> str:
    """Return a row as text that no other row has; its text need not be a program's."""
    said = label = f"{relation}({', '.join(map(str, row))})"
    while label in labels:
        label = f"{said} #{len(labels)}"
    labels.add(label)
    return label


def _fresh(name: str, checked: CheckedProgram) -> str:
    while name in checked.columns.arity:
        name += "_"
    return name
