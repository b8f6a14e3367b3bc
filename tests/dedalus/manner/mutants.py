"""Programs that are nearly those of this folder: what people write before it is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.dedalus.manner.reading import ANY, Clause, Premise, Reader, Term


def mutant(program: Reader, random: Random) -> str:
    """Return a program with one to three of its rules changed, as text."""
    clauses = list(program.clauses)
    for _ in range(random.randint(1, 3)):
        number = random.randrange(len(clauses))
        changed = random.choice(CHANGES)(clauses[number], clauses, random)
        clauses[number] = changed
    return "".join(f"{spelled(fact)};\n" for fact in program.facts) + "".join(
        map(_written, clauses)
    )


def _leave_out(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    number = random.randrange(len(clause.premises))
    rest = clause.premises[:number] + clause.premises[number + 1 :]
    return replace(clause, premises=rest or clause.premises)


def _put_in(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    other = random.choice([p for each in clauses for p in each.premises])
    premises = [*clause.premises, replace(other, absent=random.random() < 0.3)]
    random.shuffle(premises)
    return replace(clause, premises=tuple(premises))


def _deny(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    return _at_one(clause, random, lambda p: replace(p, absent=not p.absent))


def _name_a_round(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    return _at_one(clause, random, lambda p: replace(p, at=random.choice([None, 1, 2])))


def _forget(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    def forgetting(premise: Premise) -> Premise:
        terms = list(premise.terms)
        terms[random.randrange(len(terms))] = ANY
        return replace(premise, terms=tuple(terms))

    return _at_one(clause, random, forgetting)


def _at_another_time(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    return replace(clause, when=random.choice(["now", "next", "async"]))


def _take_for_another(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    names = [t for p in clause.premises for t in p.terms if t[0] == "name"]
    if not names:
        return clause
    one, other = random.choice(names), random.choice(names)
    return _at_one(
        clause,
        random,
        lambda p: replace(p, terms=tuple(other if t == one else t for t in p.terms)),
    )


def _ask_for_crashes(clause: Clause, clauses: list[Clause], random: Random) -> Clause:
    names = [t for p in clause.premises for t in p.terms if t[0] == "name"]
    if not names:
        return clause
    terms = (ANY, random.choice(names), ANY)
    asked = Premise("crash", terms, None, random.random() < 0.6)
    return replace(clause, premises=(*clause.premises, asked))


CHANGES = (
    _leave_out,
    _put_in,
    _put_in,
    _deny,
    _name_a_round,
    _forget,
    _at_another_time,
    _take_for_another,
    _ask_for_crashes,
)


def _at_one(
    clause: Clause, random: Random, change: Callable[[Premise], Premise]
) -> Clause:
    premises = list(clause.premises)
    number = random.randrange(len(premises))
    premises[number] = change(premises[number])
    return replace(clause, premises=tuple(premises))


def _written(clause: Clause) -> str:
    when = "" if clause.when == "now" else f"@{clause.when}"
    body = [*map(spelled, clause.premises), *map(_term, clause.tests)]
    return f"{spelled(clause.head)}{when} :- {', '.join(body)};\n"


def spelled(premise: Premise) -> str:
    """Return the text of a premise, fact or head."""
    terms = ", ".join(map(_term, premise.terms))
    at = "" if premise.at is None else f"@{premise.at}"
    return f"{'notin ' * premise.absent}{premise.relation}({terms}){at}"


def _term(term: Term) -> str:
    if term == ANY:
        return "_"
    if term[0] == "constant":
        return f'"{term[1]}"' if isinstance(term[1], str) else str(term[1])
    if term[0] == "name":
        return str(term[1])
    if term[0] == "all":
        return f"{term[1]}<{term[2]}>"
    return f"{_term(term[1])} {term[0]} {_term(term[2])}"
