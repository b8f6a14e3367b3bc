"""Small changes to a Dedalus program that make it withstand its faults.

Each is what the programmer of the paper's game does next: keep what would be forgotten,
send again what may be lost, pass on what was received. A change is suggested only where
the changed program was certified, and still promises, without faults, all that it did.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import final

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.places import place_of
from worldline.dedalus.syntax import (
    Atom,
    Literal,
    Program,
    Rule,
    Term,
    Variable,
    When,
)
from worldline.dedalus.text import rule_text
from worldline.dedalus.walk import is_persistence, negated, positive, variables
from worldline.injection.subject import Goal
from worldline.lineage.engines.trials import SearchResult
from worldline.model.errors import UsageError
from worldline.model.verdicts import Verdict


@final
@dataclass(frozen=True, slots=True)
class Patch:
    """Rules to add to a program, and what they do."""

    about: str
    rules: tuple[Rule, ...]

    def __str__(self) -> str:
        return "\n".join([f"// {self.about}", *map(rule_text, self.rules)])

    def applied(self, program: Program) -> Program:
        """Return a program with the rules added."""
        return replace(program, rules=(*program.rules, *self.rules))


def harden(
    checked: CheckedProgram,
    certify: Callable[[CheckedProgram], SearchResult],
    owed: Callable[[CheckedProgram], frozenset[Goal]],
    *,
    most: int = 2,
) -> list[Patch]:
    """Return the smallest changes after which a program holds.

    Parameters
    ----------
    certify
        Decides a program in the scope in which it was broken.
    owed
        Returns what a program promises in its run without faults.
    most
        How many patches may be joined to one change. Those of two are tried only where
        no single one is enough.
    """
    promised = owed(checked)
    candidates = list(patches(checked))
    for size in range(1, most + 1):
        hardening = []
        for some in combinations(candidates, size):
            patch = _joined(some)
            try:
                changed = check(patch.applied(checked.program), checked.nodes)
            except UsageError:
                continue  # such as a negation that now goes through a recursion
            if certify(changed).verdict is Verdict.HOLDS and owed(changed) >= promised:
                hardening.append(patch)
        if hardening:
            return hardening
    return []


def patches(checked: CheckedProgram) -> Iterator[Patch]:
    """Yield changes to try, the simplest first."""
    rules = checked.program.rules
    kept = {rule.head.relation for rule in rules if is_persistence(rule)}
    yield from _persistence(checked, kept)
    sending = [rule for rule in rules if rule.when is When.ASYNC]
    for number, rule in enumerate(sending, 1):
        if any(negated(rule)) or any(a.relation not in kept for a in positive(rule)):
            yield _resending(rule, number, place_of(rule, checked.placed))
    yield from _relays(checked, sending, kept)


# --------------------------------------------------------------------------- the kinds


def _persistence(checked: CheckedProgram, kept: set[str]) -> Iterator[Patch]:
    """Keep a relation that some rule reads, and that is given or sent and then gone."""
    program = checked.program
    fleeting = {fact.relation for fact in program.facts}
    fleeting |= {r.head.relation for r in program.rules if r.when is not When.NOW}
    read = dict.fromkeys(a.relation for rule in program.rules for a in positive(rule))
    for relation in read:
        if relation in fleeting - kept:
            atom = Atom(relation, _fresh(checked.columns.arity[relation]))
            keeping = Rule(atom, When.NEXT, (Literal(atom),))
            yield Patch(f"keep {relation}", (keeping,))


def _resending(rule: Rule, number: int, place: Term) -> Patch:
    """Remember what a rule sends, and send it again in each round."""
    needed = dict.fromkeys(v for term in rule.head.terms for v in variables(term))
    bound = {
        v for atom in positive(rule) for term in atom.terms for v in variables(term)
    }
    terms: tuple[Term, ...] = (place, *(v for v in needed if v in bound and v != place))
    unsent = Atom(f"{rule.head.relation}_sent{number}", terms)
    return Patch(
        f"send {rule.head.relation} again in each round",
        (
            Rule(unsent, When.NOW, rule.body),
            Rule(unsent, When.NEXT, (Literal(unsent),)),
            Rule(rule.head, When.ASYNC, (Literal(unsent),)),
        ),
    )


def _relays(
    checked: CheckedProgram, sending: Sequence[Rule], kept: set[str]
) -> Iterator[Patch]:
    """Let receivers pass on a message to all whom they know by the sender's relation."""
    told = set()
    for rule in sending:
        relation, to = rule.head.relation, rule.head.terms[0]
        for atom in positive(rule):
            if to not in atom.terms[1:] or atom.relation not in kept:
                continue
            if (relation, atom.relation) in told or atom.relation == relation:
                continue
            told.add((relation, atom.relation))
            columns = _fresh(checked.columns.arity[relation])
            there, *rest = columns
            other = Variable("Other")
            knows = tuple(
                there
                if i == 0
                else other
                if term == to
                else Variable(f"_{i}", wild=True)
                for i, term in enumerate(atom.terms)
            )
            relay = Rule(
                Atom(relation, (other, *rest)),
                When.ASYNC,
                (Literal(Atom(relation, columns)), Literal(Atom(atom.relation, knows))),
            )
            yield Patch(f"pass {relation} on when it is received", (relay,))


# -------------------------------------------------------------------------------- parts


def _joined(some: Sequence[Patch]) -> Patch:
    return Patch(
        " and ".join(patch.about for patch in some),
        tuple(rule for patch in some for rule in patch.rules),
    )


def _fresh(columns: int) -> tuple[Variable, ...]:
    """Return variables for the columns of a relation: the place, and what is there."""
    return (Variable("Node"), *(Variable(f"X{i}") for i in range(1, columns)))
