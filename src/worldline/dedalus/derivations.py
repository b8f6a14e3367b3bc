"""The derivation graph of a run as plain data, to be drawn or explained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from worldline.dedalus.evaluate import label_of
from worldline.dedalus.provenance import Absence, Derivation, Fact, Provenance
from worldline.dedalus.text import value_text
from worldline.injection.subject import SentMessage


@dataclass(frozen=True, slots=True)
class DerivedFact:
    """A fact: where and when it holds, and as what it is shown.

    Attributes
    ----------
    node
        Empty for what is at none: a row of the specification.
    given
        Whether the program states it.
    """

    label: str
    relation: str
    node: str
    time: int
    given: bool


@dataclass(frozen=True, slots=True)
class DerivedBy:
    """A rule that fired.

    Attributes
    ----------
    rule
        Its text.
    fact
        What it derived, as an index into `Derivations.facts`.
    premises
        What it needed, the same.
    absences
        What it needed not to be, as text; ``_`` stands for anything.
    message
        What was sent, for a rule with ``@async`` that reached another node.
    """

    rule: str
    fact: int
    premises: tuple[int, ...]
    absences: tuple[str, ...]
    message: SentMessage | None


@dataclass(frozen=True, slots=True)
class Derivations:
    """The derivations of a run, as far as its goals rest on them.

    Attributes
    ----------
    facts
        Facts in the order in which they were asked for, then met.
    firings
        Every firing that derived one of them.
    """

    facts: tuple[DerivedFact, ...]
    firings: tuple[DerivedBy, ...]


def derivations(provenance: Provenance, roots: Iterable[Fact]) -> Derivations:
    """Return all derivations of some facts, down to what the program states.

    Parameters
    ----------
    roots
        Facts of the run; they come first in `Derivations.facts`.
    """
    number: dict[Fact, int] = {}
    pending = list(dict.fromkeys(roots))
    for fact in pending:
        number[fact] = len(number)
    firings = []
    for fact in pending:  # grows while it is walked
        for derivation in provenance.derivations(fact):
            premises = dict.fromkeys(
                premise
                for binding in derivation.bindings
                for premise in derivation.premises(binding)
            )
            for premise in premises:
                if premise not in number:
                    number[premise] = len(number)
                    pending.append(premise)
            absences = dict.fromkeys(
                _absence_label(absence)
                for binding in derivation.bindings
                for absence in derivation.absences(binding)
            )
            firings.append(
                DerivedBy(
                    derivation.rule.text,
                    number[fact],
                    tuple(number[premise] for premise in premises),
                    tuple(absences),
                    _message(derivation, fact),
                )
            )
    facts = (
        DerivedFact(
            label_of(fact.relation, fact.row),
            fact.relation,
            provenance.execution.node_of(fact.row),
            fact.time,
            provenance.given(fact),
        )
        for fact in number
    )
    return Derivations(tuple(facts), tuple(firings))


def _message(derivation: Derivation, fact: Fact) -> SentMessage | None:
    sender, node = derivation.sender(), str(fact.row[0])
    if sender is None or sender == node:
        return None
    label = label_of(fact.relation, fact.row)
    return SentMessage(sender, node, derivation.time, label, fact.time)


def _absence_label(absence: Absence) -> str:
    columns = ("_" if value is None else value_text(value) for value in absence.pattern)
    return f"{absence.relation}({', '.join(columns)})@{absence.time}"
