"""Rules that no single node could carry out, and places that are none.

They run as they are written, but say more than a node can know: each is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.places import Places, at_a_place, atoms_of, place_of
from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import Constant, Program, Rule, Term, Variable, When
from worldline.dedalus.text import term_text
from worldline.dedalus.walk import POST, PRE, literals


def unsent(program: Program, places: Places) -> Iterator[Problem]:
    """Yield messages that nobody sends."""
    for rule in program.rules:
        if rule.when is When.ASYNC and not any(at_a_place(rule, places.relations)):
            what = f"nobody sends {rule.head.relation}: the rule has no premise"
            yield Problem(rule.span, what, "add one at the sender")


def apart(program: Program, places: Places) -> Iterator[Problem]:
    """Yield, as warnings, rules that no single node could carry out."""
    feeding = set[str]()
    for rule, acts in zip(program.rules, places.acting, strict=True):
        if acts and (problem := _in_rule(program, rule, places, feeding)):
            yield problem


def _in_rule(
    program: Program, rule: Rule, places: Places, feeding: set[str]
) -> Problem | None:
    head, place = rule.head.relation, place_of(rule, places.relations)
    atoms = list(at_a_place(rule, places.relations))
    elsewhere = next((atom for atom in atoms if atom.terms[0] != place), None)
    moves = rule.when is not When.ASYNC and rule.head.terms[0] != place
    if rule.when is When.NOW:
        if head in feeding or not (head in {PRE, POST} or elsewhere or moves):
            return None
        feeding.add(head)
        return _feeding(program, rule, places)
    if elsewhere is not None:
        return Problem(
            elsewhere.span,
            f"the premises of a rule with @{rule.when} are in two places: "
            f"{atoms[0].relation} at {term_text(place)}, "
            f"{elsewhere.relation} at {term_text(elsewhere.terms[0])}",
            f"it is run at {term_text(place)}; send what a node cannot know by itself",
            fatal=False,
        )
    if moves:
        where = f"from {term_text(place)} to {term_text(rule.head.terms[0])}"
        return Problem(
            rule.span,
            f"{head}@next moves {where}, and no loss can stop it",
            "write @async for what is sent",
            fatal=False,
        )
    return None


def _feeding(program: Program, rule: Rule, places: Places) -> Problem:
    head = rule.head.relation
    why = f"is derived over several nodes at {rule.span}"
    if head in {PRE, POST}:
        why = "is the specification"
    readers = (
        part.atom.span
        for reader, acts in zip(program.rules, places.acting, strict=True)
        for part in literals(reader)
        if acts and part.atom.relation == head
    )
    return Problem(
        next(readers, rule.span),
        f"{head} {why}, and feeds the protocol, as if one node saw all of them",
        "let each node derive what it acts on from its own facts",
        fatal=False,
    )


def odd_places(program: Program, places: Places) -> Iterator[Problem]:
    """Yield places that are numbers, calculated or aggregated."""
    for atom in atoms_of(program):
        if atom.relation in places.relations and not _names_a_place(atom.terms[0]):
            yield Problem(
                atom.span,
                f"the location {term_text(atom.terms[0])} of {atom.relation} is no name "
                "of a node",
                "the first column of what nodes keep, send or act on is a string or a "
                "variable",
            )


def _names_a_place(term: Term) -> bool:
    if isinstance(term, Constant):
        return isinstance(term.value, str)
    return isinstance(term, Variable)
