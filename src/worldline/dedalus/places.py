"""The place of a rule: at one node, or over all of them.

A rule with ``@next`` or ``@async`` belongs to the protocol, and so does each that it
needs, however indirectly. A rule of the protocol is carried out by one node: its
premises are in one place. The other rules are the specification, which sees every node.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import Atom, Constant, Program, Rule, Term, Variable, When
from worldline.dedalus.text import term_text
from worldline.dedalus.walk import CRASH, POST, PRE, literals


def protocol(program: Program) -> dict[str, Rule]:
    """Return the relations that the protocol reads, each with a rule that reads it."""
    readers: dict[str, Rule] = {}
    rules = [rule for rule in program.rules if rule.when is not When.NOW]
    defining: dict[str, list[Rule]] = {}
    for rule in program.rules:
        if rule.when is When.NOW:
            defining.setdefault(rule.head.relation, []).append(rule)
    for rule in rules:
        for part in literals(rule):
            if part.atom.relation not in readers:
                readers[part.atom.relation] = rule
                rules += defining.get(part.atom.relation, [])
    return readers


def is_protocol(rule: Rule, readers: dict[str, Rule]) -> bool:
    """Say whether a rule is carried out by one node."""
    return rule.when is not When.NOW or rule.head.relation in readers


def place_of(rule: Rule) -> Term:
    """Return the location at which a rule of the protocol is carried out."""
    return next((atom.terms[0] for atom in _placed(rule)), rule.head.terms[0])


def misplaced(program: Program) -> Iterator[Problem]:
    """Yield rules of the protocol that need more than one place."""
    readers = protocol(program)
    for rule in program.rules:
        if is_protocol(rule, readers):
            yield from _in_rule(rule, readers)


def _in_rule(rule: Rule, readers: dict[str, Rule]) -> Iterator[Problem]:
    head = rule.head.relation
    if rule.when is When.NOW and head in {PRE, POST}:
        yield _feeding(head, readers[head], "is the specification")
        return
    place, atoms = place_of(rule), list(_placed(rule))
    if rule.when is When.ASYNC and not atoms:
        yield Problem(
            rule.span,
            f"nobody sends {head}: the rule has no premise",
            "add one at the sender",
        )
    elsewhere = next((atom for atom in atoms if atom.terms[0] != place), None)
    moves = rule.when is not When.ASYNC and rule.head.terms[0] != place
    if rule.when is When.NOW and (elsewhere is not None or moves):
        why = f"is derived over several nodes at {rule.span}"
        yield _feeding(head, readers[head], why)
    elif elsewhere is not None:
        yield Problem(
            elsewhere.span,
            f"the premises of a rule with @{rule.when} are in two places: "
            f"{atoms[0].relation} at {_shown(place)}, "
            f"{elsewhere.relation} at {_shown(elsewhere.terms[0])}",
            "a node knows only what is at its own place",
        )
    elif moves:
        yield Problem(
            rule.span,
            f"{head}@next moves from {_shown(place)} to {_shown(rule.head.terms[0])}",
            "write @async for what is sent",
        )


def _placed(rule: Rule) -> Iterator[Atom]:
    """Yield the atoms of a body that are in one place; all nodes see the crashes."""
    atoms = (part.atom for part in literals(rule))
    return (atom for atom in atoms if atom.relation != CRASH)


def _feeding(relation: str, reader: Rule, why: str) -> Problem:
    span = next(
        (p.atom.span for p in literals(reader) if p.atom.relation == relation),
        reader.span,
    )
    return Problem(
        span,
        f"{relation} {why}, and cannot feed the protocol",
        "let each node derive what it acts on from its own facts",
    )


def _shown(place: Term) -> str:
    return term_text(place)


def odd_places(program: Program) -> Iterator[Problem]:
    """Yield locations that are numbers, calculated or aggregated."""
    atoms = list(program.facts)
    for rule in program.rules:
        atoms += [rule.head, *(part.atom for part in literals(rule))]
    for atom in atoms:
        if not _names_a_place(atom.terms[0]):
            yield Problem(
                atom.span,
                f"the location {_shown(atom.terms[0])} of {atom.relation} is no name "
                "of a node",
                "the first column of a relation is a string or a variable",
            )


def _names_a_place(term: Term) -> bool:
    if isinstance(term, Constant):
        return isinstance(term.value, str)
    return isinstance(term, Variable)
