"""The places of a program: which first columns name a node, and where a rule runs.

A relation that takes part in a rule with ``@next`` or ``@async``, directly or through
what such a rule reads, is of the protocol: its first column is a place. All others are
the specification, which sees every node; their rows are rows, and what their first
column holds (``pre("termination", X)``) is no node.

So are a relation that is kept but takes no part in any message, and whose first column
holds what is no node, and `pre` and `post` where they only keep themselves.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 2.2;
its published tool takes every first column for a place, and drops what is at none of
the nodes that it was given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from worldline.dedalus.syntax import (
    Aggregate,
    Atom,
    Constant,
    Program,
    Rule,
    Term,
    Variable,
    When,
)
from worldline.dedalus.walk import CRASH, POST, PRE, literals, positive


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a program.

    Attributes
    ----------
    relations
        Those whose first column is a place.
    acting
        For each rule, whether nodes carry it out; else it is of the specification.
    nodes
        The nodes given, or those that the program names, in the order of its text.
    foreign
        Constants that are used as a place and are no node, each with its atom.
    labelled
        Atoms of relations that are kept, and whose first column is no place because of
        what it holds there.
    """

    relations: frozenset[str]
    acting: tuple[bool, ...]
    nodes: tuple[str, ...]
    foreign: tuple[tuple[Constant, Atom], ...]
    labelled: tuple[Atom, ...]


def places(program: Program, nodes: Collection[str] | None = None) -> Places:
    """Return the places of a program; ``None`` for all nodes that it names."""
    sending = [rule for rule in program.rules if rule.when is When.ASYNC]
    sent = {rule.head.relation for rule in sending} | _read(program, sending)
    named = None if nodes is None else set(nodes)
    if named is None and sending:
        named = {str(constant.value) for constant, _ in _naming(program, sent)}
    labels: set[str] = {PRE, POST} - sent
    while True:
        keeping = [
            rule
            for rule in program.rules
            if rule.when is When.NEXT and rule.head.relation not in labels
        ]
        kept = {rule.head.relation for rule in keeping} | _read(program, keeping)
        relations = sent | (kept - labels)
        slots = _slots(program, relations)
        more = {
            name
            for name in relations - sent
            if any(True for _ in _labels(program, name, relations, slots, named))
        }
        if not more:
            break
        labels |= more
    reading = [*sending, *keeping]
    read = _read(program, reading) & relations
    given = tuple(nodes) if nodes is not None else _named(program, relations)
    return Places(
        frozenset(relations),
        tuple(
            rule.head.relation in (read if rule.when is When.NOW else relations)
            for rule in program.rules
        ),
        given,
        tuple(
            (constant, atom)
            for constant, atom in _located(program, relations)
            if constant.value not in given
        ),
        tuple(
            atom
            for name in sorted(labels - {PRE, POST})
            for atom in _labels(program, name, relations, slots, named)
        ),
    )


def read_later(program: Program) -> set[str]:
    """Return the relations on which some rule with ``@next`` or ``@async`` rests."""
    return _read(program, [rule for rule in program.rules if rule.when is not When.NOW])


def _read(program: Program, rules: Iterable[Rule]) -> set[str]:
    """Return what rules read, and what the rules that derive it read."""
    defining: dict[str, list[Rule]] = {}
    for rule in program.rules:
        defining.setdefault(rule.head.relation, []).append(rule)
    read: set[str] = set()
    queue = list(rules)
    for rule in queue:  # grows while it is walked
        for part in literals(rule):
            name = part.atom.relation
            if name not in read and name != CRASH:
                read.add(name)
                queue += defining.get(name, [])
    return read


# ------------------------------------------------------------------------ what is a node


def _named(program: Program, relations: Collection[str]) -> tuple[str, ...]:
    naming = [str(constant.value) for constant, _ in _naming(program, relations)]
    if not relations:
        # Nothing lasts, and nothing is sent: then its facts are all that it has.
        firsts = (fact.terms[0] for fact in program.facts)
        naming = [str(term.value) for term in firsts if isinstance(term, Constant)]
    return tuple(dict.fromkeys(naming))


def _naming(
    program: Program, relations: Collection[str]
) -> Iterator[tuple[Constant, Atom]]:
    """Yield the constants that name a node: in facts, and in heads.

    What only the head of a rule without annotation puts into a first column names
    none: it is the label of what was found out over several nodes.
    """
    told = {id(fact) for fact in program.facts}
    labels = set[int]()
    for rule in program.rules:
        told.add(id(rule.head))
        places = {part.atom.terms[0] for part in literals(rule)}
        if rule.when is When.NOW and rule.head.terms[0] not in places:
            labels.add(id(rule.head.terms[0]))
    for constant, atom in _located(program, relations):
        if id(atom) in told and id(constant) not in labels:
            yield constant, atom


def _located(
    program: Program, relations: Collection[str]
) -> Iterator[tuple[Constant, Atom]]:
    """Yield every constant that is used as a place, and where it stands.

    That is one in the first column of a relation that has places, or in a column whose
    values a rule takes for places. Of a relation that nothing ever fills, none is.
    """
    slots = _slots(program, relations)
    filled = {fact.relation for fact in program.facts}
    filled |= {rule.head.relation for rule in program.rules}
    for atom in atoms_of(program):
        for column, term in enumerate(atom.terms):
            if (
                isinstance(term, Constant)
                and (atom.relation, column) in slots
                and atom.relation in filled
            ):
                yield term, atom


def _slots(program: Program, relations: Collection[str]) -> set[tuple[str, int]]:
    """Return the columns whose values become places, directly or on the way."""
    slots = {(name, 0) for name in relations}
    while True:
        before = len(slots)
        for rule in program.rules:
            atoms = [rule.head, *(part.atom for part in literals(rule))]
            taken = {t for a in atoms if a.relation == CRASH for t in a.terms[:2]}
            if rule.head.relation in relations:
                taken |= {a.terms[0] for a in atoms if a.relation in relations}
            for column, term in enumerate(rule.head.terms):
                if (rule.head.relation, column) in slots:
                    taken.add(term.of if isinstance(term, Aggregate) else term)
            slots |= {
                (atom.relation, column)
                for atom in positive(rule)  # what is absent hands on no values
                for column, term in enumerate(atom.terms)
                if isinstance(term, Variable) and term in taken
            }
        if len(slots) == before:
            return slots


def _labels(
    program: Program,
    name: str,
    relations: Collection[str],
    slots: Collection[tuple[str, int]],
    nodes: Collection[str] | None,
) -> Iterator[Atom]:
    """Yield atoms of a relation in whose first column there may be what is no node."""
    for fact in program.facts:
        if fact.relation == name and not _is_node(fact.terms[0], nodes):
            yield fact
    for rule in program.rules:
        if rule.head.relation == name and not _comes_from_a_place(
            rule, relations, slots, nodes
        ):
            yield rule.head


def _is_node(term: Term, nodes: Collection[str] | None) -> bool:
    if not isinstance(term, Constant) or not isinstance(term.value, str):
        return False
    return nodes is None or term.value in nodes


def _comes_from_a_place(
    rule: Rule,
    relations: Collection[str],
    slots: Collection[tuple[str, int]],
    nodes: Collection[str] | None,
) -> bool:
    term = rule.head.terms[0]
    if nodes is not None and _is_node(term, nodes):
        return True
    if not isinstance(term, Variable | Constant):
        return False
    return any(
        term == other
        and (part.atom.relation == CRASH or (part.atom.relation, column) in slots)
        for part in literals(rule)
        for column, other in enumerate(part.atom.terms)
        if part.atom.relation == CRASH or part.atom.relation in relations
    )


def atoms_of(program: Program) -> Iterator[Atom]:
    """Yield every atom of a program: facts, then each rule's head and body."""
    yield from program.facts
    for rule in program.rules:
        yield rule.head
        yield from (part.atom for part in literals(rule))


# ---------------------------------------------------------------------- where a rule runs


def place_of(rule: Rule, relations: Collection[str]) -> Term:
    """Return the place at which nodes carry out a rule: that of its first premise.

    Parameters
    ----------
    relations
        Those whose first column is a place.
    """
    return next(
        (atom.terms[0] for atom in at_a_place(rule, relations)), rule.head.terms[0]
    )


def at_a_place(rule: Rule, relations: Collection[str]) -> Iterator[Atom]:
    """Yield the atoms of a body that are in one place; all nodes see the crashes."""
    for part in literals(rule):
        first = part.atom.terms[0]
        is_anywhere = part.negated and isinstance(first, Variable) and first.wild
        if part.atom.relation in relations and not is_anywhere:
            yield part.atom
