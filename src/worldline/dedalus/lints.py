"""Lints: code that is allowed, and probably not meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf

from worldline.dedalus.places import Places, atoms_of, read_later
from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import (
    UNNAMED,
    Atom,
    Constant,
    Program,
    Rule,
    Variable,
    When,
)
from worldline.dedalus.text import term_text
from worldline.dedalus.walk import (
    CRASH,
    POST,
    PRE,
    literals,
    negated,
    positive,
)

_OLD_GOALS = ("good", "bad")


def suspicious(
    program: Program, places: Places, outcomes: Collection[str]
) -> Iterator[Problem]:
    """Yield warnings, one kind after the other.

    Parameters
    ----------
    outcomes
        The relations whose rows are promised, where `pre` and `post` are not defined.
    """
    read: set[str] = {PRE, POST}
    if outcomes:
        what = (
            f"{PRE} and {POST} are not defined: what the run without faults keeps in "
            f"{', '.join(outcomes)} is promised (default outcomes)"
        )
        yield Problem(None, what, fatal=False)
        yield from _old_goals(program)
        read |= {*outcomes, *_OLD_GOALS}
    yield from _strangers(program, places)
    yield from _unsent(program)
    yield from _undefined(program)
    yield from _labelled(places)
    yield from _fleeting_goals(program)
    yield from _unread(program, read)
    yield from _same_round(program)
    yield from _dead(program)
    yield from _named_once(program)


def lasting(program: Program) -> frozenset[str]:
    """Return the relations that may hold facts in every later round.

    Such a relation has a rule all of whose positive premises last, whether it keeps
    facts (``p(X)@next :- p(X)``), derives them anew or sends them again. It is the
    greatest set with this property; a relation that only facts feed is not in it.
    """
    names = {rule.head.relation for rule in program.rules} | {CRASH}
    while True:
        kept = {CRASH} | {
            rule.head.relation
            for rule in program.rules
            if rule.head.relation in names
            and all(_stays(atom, names) for atom in positive(rule))
        }
        if kept == names:
            return frozenset(kept)
        names = kept


def _stays(atom: Atom, names: Collection[str]) -> bool:
    """Say whether a premise can hold in every later round; what names one does."""
    return atom.time is not None or atom.relation in names


def defined(program: Program) -> set[str]:
    """Return the relations that a rule, a fact or the faults can ever fill."""
    names = {CRASH, *(fact.relation for fact in program.facts)}
    return names | {rule.head.relation for rule in program.rules}


def _strangers(program: Program, places: Places) -> Iterator[Problem]:
    """Nodes that were asked for and have no row: nothing is sent to them by name."""
    named = {
        term.value
        for atom in atoms_of(program)
        for term in atom.terms
        if isinstance(term, Constant)
    }
    for node in places.nodes:
        if node not in named:
            what = f'"{node}" is a node, and the program never names it'
            yield Problem(None, what, "check --nodes A,B,...", fatal=False)


def _unsent(program: Program) -> Iterator[Problem]:
    """A program in which rows move, but in no message: no loss does anything to it."""
    if any(rule.when is When.ASYNC for rule in program.rules):
        return
    lasting_heads = {r.head.relation for r in program.rules if r.when is When.NEXT}
    acted_on = lasting_heads | read_later(program)
    for rule in program.rules:
        to, places = rule.head.terms[0], {a.terms[0] for a in positive(rule)}
        if rule.head.relation in acted_on and places and to not in places:
            what = (
                f"{rule.head.relation} moves to {term_text(to)}, but not in a message"
            )
            remedy = (
                "no rule is @async, so no loss matters; write @async for what is sent"
            )
            yield Problem(rule.span, what, remedy, fatal=False)
            return


def _undefined(program: Program) -> Iterator[Problem]:
    """Premises that are always empty; timers with an optional cancellation are so."""
    told = defined(program)
    for rule in program.rules:
        for part in literals(rule):
            name = part.atom.relation
            if name not in told:
                told.add(name)
                what = f"{name} is never defined, and so is empty"
                remedy = "check its name, or give a rule or a fact for it"
                yield Problem(part.atom.span, what, remedy, fatal=False)


def _old_goals(program: Program) -> Iterator[Problem]:
    """Promises that older programs make by other names."""
    heads = {rule.head.relation: rule for rule in reversed(program.rules)}
    for name in _OLD_GOALS:
        if name in heads:
            what = f"{name} is no promise, but a relation like others"
            remedy = f"name the promise {PRE} and {POST}"
            yield Problem(heads[name].span, what, remedy, fatal=False)


def _labelled(places: Places) -> Iterator[Problem]:
    """Relations that are kept, and whose first column is taken for no place."""
    told = set[str]()
    for atom in places.labelled:
        if atom.relation not in told:
            told.add(atom.relation)
            first = term_text(atom.terms[0])
            what = (
                f"{first} is taken for a label, not for a node: {atom.relation} takes "
                "part in no message"
            )
            remedy = f"nodes are {', '.join(places.nodes)}, and no crash touches it"
            yield Problem(atom.span, what, remedy, fatal=False)


def _fleeting_goals(program: Program) -> Iterator[Problem]:
    """What the goals read at the end of time, but is gone by then."""
    stays = lasting(program)
    for goal, effect in ((PRE, "nothing is ever owed"), (POST, "nothing is ever kept")):
        if goal in stays:
            continue
        rule = next((r for r in program.rules if r.head.relation == goal), None)
        if rule is None:
            continue
        reason = _reason(program, rule, stays)
        if reason is None or reason.relation not in defined(program):
            continue
        yield Problem(
            reason.span,
            f"{goal} is read at the end of time, and rests on {reason.relation}, "
            f"which does not last: unless that comes last, {effect}",
            _persist(reason),
            fatal=False,
        )


def _reason(program: Program, rule: Rule, stays: frozenset[str]) -> Atom | None:
    """Return a premise that does not last, as near to what is sent as rules lead."""
    seen: set[str] = set()
    culprit: Atom | None = None
    while True:
        atom = next((a for a in positive(rule) if not _stays(a, stays)), None)
        if atom is None or atom.relation in seen:
            return culprit
        culprit = atom
        seen.add(atom.relation)
        rules = [
            r
            for r in program.rules
            if r.head.relation == atom.relation and r.when is When.NOW
        ]
        if not rules:
            return culprit
        rule = rules[0]


def _persist(atom: Atom) -> str:
    columns = ", ".join(f"X{n}" for n in range(1, len(atom.terms) + 1))
    fact = f"{atom.relation}({columns})"
    return f"keep it with {fact}@next :- {fact};"


def _unread(program: Program, told: set[str]) -> Iterator[Problem]:
    told |= {part.atom.relation for rule in program.rules for part in literals(rule)}
    heads = [rule.head for rule in program.rules]
    for atom in [*program.facts, *heads]:
        if atom.relation not in told:
            told.add(atom.relation)
            what = f"nothing reads {atom.relation}"
            yield Problem(atom.span, what, "check its name", fatal=False)


def _same_round(program: Program) -> Iterator[Problem]:
    """Premises that arrive by message, and have to arrive in the same round."""
    stays = lasting(program)
    sent = {rule.head.relation for rule in program.rules if rule.when is When.ASYNC}
    for rule in program.rules:
        fleeting = {
            atom.relation: atom
            for atom in positive(rule)
            if atom.relation in sent and not _stays(atom, stays)
        }
        if len(fleeting) > 1:
            first, second = list(fleeting.values())[:2]
            yield Problem(
                second.span,
                f"{first.relation} and {second.relation} arrive by message and do not "
                "last: the rule needs both in one round",
                _persist(first),
                fatal=False,
            )


def _dead(program: Program) -> Iterator[Problem]:
    """Rules whose premises cannot hold in one round, whatever happens."""
    first, last = rounds(program)
    for rule in program.rules:
        atoms = [a for a in positive(rule) if a.time is None and a.relation != CRASH]
        # What never holds was told of where the rule for it never fires.
        if not atoms or any(first[a.relation] > last[a.relation] for a in atoms):
            continue
        ends = min(atoms, key=lambda atom: last[atom.relation])
        begins = max(atoms, key=lambda atom: first[atom.relation])
        end, begin = last[ends.relation], first[begins.relation]
        if end < begin:
            yield Problem(
                ends.span,
                f"the rule never fires: {ends.relation} holds until round {end:.0f}, "
                f"{begins.relation} from round {begin:.0f} on",
                _persist(ends),
                fatal=False,
            )


def _named_once(program: Program) -> Iterator[Problem]:
    """Names that stand in one absence and nowhere else: any value is meant, or a slip."""
    for rule in program.rules:
        for atom in negated(rule):
            for term in atom.terms:
                if not (isinstance(term, Variable) and term.wild):
                    continue
                if not term.name.startswith(UNNAMED):
                    what = (
                        f"{term.name} stands in the absence of {atom.relation} alone, "
                        "and is any value there"
                    )
                    remedy = "write _ for it, or check its name"
                    yield Problem(atom.span, what, remedy, fatal=False, word=term.name)


def rounds(program: Program) -> tuple[dict[str, float], dict[str, float]]:
    """Return in which round each relation can hold a fact first, and last.

    Both are bounds that hold whatever faults there are, but for late messages, which
    make what is sent last longer. Infinite is "never" for the first, and "always from
    then on" for the last.
    """
    names = {rule.head.relation for rule in program.rules}
    names |= {atom.relation for rule in program.rules for atom in positive(rule)}
    names |= {fact.relation for fact in program.facts}
    first, last = dict.fromkeys(names, inf), dict.fromkeys(names, -inf)
    first[CRASH], last[CRASH] = 1, inf
    for fact in program.facts:
        time = fact.time or 1
        first[fact.relation] = min(first[fact.relation], time)
        last[fact.relation] = max(last[fact.relation], time)
    changed, turn = True, 0
    while changed:
        changed, turn = False, turn + 1
        for rule in program.rules:
            head, after = rule.head.relation, int(rule.when is not When.NOW)
            begin = max((_first(a, first) for a in positive(rule)), default=1) + after
            end = min((_last(a, last) for a in positive(rule)), default=inf) + after
            if begin < first[head]:
                first[head], changed = begin, True
            if end > last[head] and begin < inf:
                # What still grows after a turn for every relation grows for ever.
                last[head] = end if turn <= len(names) else inf
                changed = True
    return first, last


def _first(atom: Atom, first: dict[str, float]) -> float:
    return first[atom.relation] if atom.time is None else atom.time


def _last(atom: Atom, last: dict[str, float]) -> float:
    return last[atom.relation] if atom.time is None else inf
