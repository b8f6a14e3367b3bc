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
        Atoms that put a constant that is no node into the first column of a relation,
        which therefore is no place.
    """

    relations: frozenset[str]
    acting: tuple[bool, ...]
    nodes: tuple[str, ...]
    foreign: tuple[tuple[Constant, Atom], ...]
    labelled: tuple[Atom, ...]


def places_of(program: Program, nodes: Collection[str] | None = None) -> Places:
    """Return the places of a program; ``None`` for all nodes that it names."""
    sending = [rule for rule in program.rules if rule.when is When.ASYNC]
    sent = {rule.head.relation for rule in sending} | _read(program, sending)
    named = None if nodes is None else set(nodes)
    if named is None and sending:
        named = {str(constant.value) for constant, _ in _naming(program, sent)}
    labels = _labels(program, sent, named)
    rules = [rule for rule in program.rules if rule.when is When.NEXT]
    rules = [rule for rule in rules if labels.get(rule.head.relation, rule) is not None]
    lasting = {rule.head.relation for rule in rules} | _read(program, rules)
    keeping = [rule for rule in rules if rule.head.relation not in labels]
    kept = {rule.head.relation for rule in keeping} | _read(program, keeping)
    relations = sent | (kept - labels.keys())
    read = _read(program, [*sending, *keeping]) & relations
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
            for name, atom in labels.items()
            if atom is not None and name in lasting and _is_node(atom.terms[0], None)
        ),
    )


def read_later(program: Program) -> set[str]:
    """Return the relations on which some rule with ``@next`` or ``@async`` rests."""
    return _read(program, [rule for rule in program.rules if rule.when is not When.NOW])


def _read(program: Program, rules: Iterable[Rule]) -> set[str]:
    """Return what rules read, and what the rules that derive it read."""
    defining = _defining(program)
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
    defining = _defining(program)
    queue = [(name, 0) for name in relations]
    for rule in program.rules:
        atoms = [part.atom for part in literals(rule)]
        taken = {t for a in atoms if a.relation == CRASH for t in a.terms[:2]}
        if rule.head.relation in relations:
            taken |= {a.terms[0] for a in atoms if a.relation in relations}
        queue += _handing_on(rule, taken)
    slots = set[tuple[str, int]]()
    for slot in queue:  # grows while it is walked
        if slot in slots:
            continue
        slots.add(slot)
        name, column = slot
        for rule in defining.get(name, ()):
            for term in rule.head.terms[column : column + 1]:
                one: Term = term.of if isinstance(term, Aggregate) else term
                queue += _handing_on(rule, {one})
    return slots


def _handing_on(rule: Rule, taken: Collection[Term]) -> Iterator[tuple[str, int]]:
    """Yield the columns of premises that variables come from; absences have none."""
    for atom in positive(rule):
        for column, term in enumerate(atom.terms):
            if isinstance(term, Variable) and term in taken:
                yield atom.relation, column


def _defining(program: Program) -> dict[str, list[Rule]]:
    defining: dict[str, list[Rule]] = {}
    for rule in program.rules:
        defining.setdefault(rule.head.relation, []).append(rule)
    return defining


def _labels(
    program: Program, sent: Collection[str], nodes: Collection[str] | None
) -> dict[str, Atom | None]:
    """Return relations outside of all messages whose first column is no place, and why.

    That is an atom that may fill it with what is no node; ``None`` for the goals.
    """
    labels: dict[str, Atom | None] = {g: None for g in (PRE, POST) if g not in sent}
    for fact in program.facts:
        if fact.relation not in sent and not _is_node(fact.terms[0], nodes):
            labels.setdefault(fact.relation, fact)
    slots = _slots(program, sent)
    reading: dict[str, list[Rule]] = {}
    for rule in program.rules:
        for atom in positive(rule):
            reading.setdefault(atom.relation, []).append(rule)
    queue = list(program.rules)
    for rule in queue:  # grows while it is walked
        head = rule.head.relation
        if head in sent or head in labels:
            continue
        if not _comes_from_a_place(rule, labels, slots, nodes):
            labels[head] = rule.head
            queue += reading.get(head, ())
    return labels


def _is_node(term: Term, nodes: Collection[str] | None) -> bool:
    if not isinstance(term, Constant) or not isinstance(term.value, str):
        return False
    return nodes is None or term.value in nodes


def _comes_from_a_place(
    rule: Rule,
    labels: Collection[str],
    slots: Collection[tuple[str, int]],
    nodes: Collection[str] | None,
) -> bool:
    """Say whether the first column of a head holds nodes, as far as a rule tells."""
    term = rule.head.terms[0]
    if nodes is not None and _is_node(term, nodes):
        return True
    return any(
        term == other
        and (
            atom.relation == CRASH
            or (atom.relation, column) in slots
            or (column == 0 and atom.relation not in labels)
        )
        for atom in positive(rule)
        for column, other in enumerate(atom.terms)
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
