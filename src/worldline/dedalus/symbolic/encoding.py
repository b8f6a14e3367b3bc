"""A checked program and a scope become an answer-set program.

A fact of relation r in round T is an atom of r's predicate whose last argument is T. The
rules stand in parts that are grounded round by round, so that what is known of the past
is used, and so that a budget can end it:

- ``base``: the facts of the program, and the faults;
- ``now(t)``: what holds in round t because of what else holds in it;
- ``later(t)``: what round t leads to. A grounder takes ``r(X,t+1)`` to be any round, hence
  ``r`` to be recursive, and then it simplifies little; so what is to come has a predicate
  of its own, and becomes ``r`` in its round;
- ``end(t)``: the specification, at the end of time only, and the question: faults that
  break a row of `pre`, or, if `SEEK_OWING` is true, faults under which there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.places import place_of, read_later
from worldline.dedalus.symbolic.aggregates import Aggregation
from worldline.dedalus.symbolic.faults import LIMITS, choices
from worldline.dedalus.symbolic.numbers import LARGEST, guards, too_large
from worldline.dedalus.symbolic.projections import Projections
from worldline.dedalus.symbolic.words import Relations, Words, applied
from worldline.dedalus.syntax import (
    Arithmetic,
    Atom,
    BodyPart,
    Comparison,
    Literal,
    Program,
    Rule,
    Variable,
    When,
)
from worldline.dedalus.walk import (
    CRASH,
    POST,
    PRE,
    aggregates,
    is_broadcast,
    literals,
    positive,
)
from worldline.injection.scope import CrashSemantics, Scope
from worldline.model.errors import UsageError

SEEK_OWING = "seek_owing"
"""The atom that is made true to ask for a run that owes something, broken or not."""


class Encoding:
    """The answer-set program of one program in one scope.

    Attributes
    ----------
    text
        The whole of it.

    Raises
    ------
    UsageError
        If the scope has crash-recovery: nothing in a program is durable. If the program
        has a number that is too large.
    """

    def __init__(self, checked: CheckedProgram, scope: Scope) -> None:
        self._checked = checked
        self._program = checked.program
        self._scope = scope
        self._relations = Relations(checked.program)
        if scope.recovery:
            raise UsageError(
                "a crashed node of a Dedalus program does not start again",
                remedy="leave crash-recovery to systems in Python",
            )
        for number in too_large(checked.program):
            raise UsageError(
                f"the solver cannot count to {number}",
                remedy=f"use numbers up to {LARGEST}",
            )
        self._halts = scope.semantics is CrashSemantics.HALT
        self._crashes = Projections("c")
        self._projections = Projections("p")
        self._derived = {rule.head.relation for rule in checked.program.rules}
        self.text = "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield "#program base."
        yield f"#external {SEEK_OWING}."
        yield from choices(self._scope, max(self._scope.eot, _last(self._program)))
        if self._checked.uses_crash:
            yield "crashed(O,N,T):-node(O),crash(N,T)."
        yield from self._facts()
        now = list(self._arrived())
        later: list[str] = []
        end: list[str] = []
        always = always_needed(self._program)
        in_rounds, at_the_end = Projections("p"), Projections("e")
        for number, rule in enumerate(self._program.rules):
            self._projections = in_rounds
            if rule.when is not When.NOW:
                part = later
            elif rule.head.relation in always:
                part = now
            else:
                part, self._projections = end, at_the_end
            part += self._rule(rule, number)
        now += in_rounds.rules()
        end += at_the_end.rules()
        yield from self._crashes.rules()
        yield "#program now(t)."
        yield from now
        yield "#program later(t)."
        yield from later
        yield "#program end(t)."
        yield from end
        yield from self._question()
        yield LIMITS

    def _facts(self) -> Iterator[str]:
        # Those after the end of time too: a rule may name their round.
        for fact in self._program.facts:
            words = Words()
            up = ""
            if self._halts and fact.relation in self._checked.placed:
                up = f":-not down({words.term(fact.terms[0])},{fact.time})"
            yield f"{self._atom(fact, words)}{up}."

    def _arrived(self) -> Iterator[str]:
        """Yield that what was to come is there in its round."""
        for relation in dict.fromkeys(
            rule.head.relation
            for rule in self._program.rules
            if rule.when is not When.NOW
        ):
            columns = [f"X{n}" for n in range(self._checked.columns.arity[relation])]
            row = [*columns, "t"]
            head = applied(self._relations.predicate(relation), row)
            yield f"{head}:-{applied(self._relations.to_come(relation), row)}."

    def _question(self) -> Iterator[str]:
        columns = [f"X{n}" for n in range(self._checked.columns.arity[PRE])]
        row = [*columns, "t"]
        pre = applied(self._relations.predicate(PRE), row)
        post = applied(self._relations.predicate(POST), row)
        yield f"broken:-{pre},not {post}."
        yield f"owing:-{pre}."
        yield f":-not broken,not {SEEK_OWING}."
        yield f":-not owing,{SEEK_OWING}."

    def _rule(self, rule: Rule, number: int) -> Iterator[str]:
        """Yield a rule; one with aggregates in two steps."""
        place = place_of(rule, self._checked.placed)
        words = Words(place)
        halts = self._halts and self._checked.protocol[number]
        body = [self._part(part, words) for part in rule.body]
        body += self._silence(rule)
        if halts:
            body.append(f"not down({words.term(place)},t)")
            if rule.when is When.NOW and rule.head.terms[0] != place:
                body.append(f"not down({words.term(rule.head.terms[0])},t)")
        yield from self._guards(rule, words)
        if not aggregates(rule):
            columns = words.terms(rule.head.terms)
            yield from self._heads(rule, columns, words.term(place), body, halts=halts)
            return
        if is_broadcast(rule):
            body.append(f"node({words.term(rule.head.terms[0])})")
        sent = rule.when is When.ASYNC
        collection = Aggregation(rule, number, place if sent else None)
        for head in collection.collected(words):
            yield f"{head}:-{','.join(body)}."
        yield from collection.results()
        columns = [f"C{n}" for n in range(len(rule.head.terms))]
        yield from self._heads(rule, columns, "P", collection.body(), halts=halts)

    def _guards(self, rule: Rule, words: Words) -> Iterator[str]:
        """Yield rules that tell where calculations may go too far."""
        premises = []
        for atom in positive(rule):
            plain = [
                Variable("_", wild=True) if isinstance(term, Arithmetic) else term
                for term in atom.terms
            ]
            premises.append(
                self._part(Literal(replace(atom, terms=tuple(plain))), words)
            )
        for guard in guards(rule, words):
            yield f"huge:-{','.join([*premises, guard])}."

    def _heads(
        self,
        rule: Rule,
        columns: list[str],
        place: str,
        body: Iterable[str],
        *,
        halts: bool,
    ) -> Iterator[str]:
        """Yield a rule for every round in which its head may hold, counted from t."""
        rounds = {0: ""}
        if rule.when is When.NEXT:
            rounds = {1: f"not down({columns[0]},t+1)" if halts else ""}
        elif rule.when is When.ASYNC:
            rounds = {
                1 + late: f"arrives({place},{columns[0]},t,{late})"
                for late in range(self._scope.delay + 1)
            }
        premises = list(body)
        relation = rule.head.relation
        if rule.when is When.NOW:
            predicate = self._relations.predicate(relation)
        else:
            predicate = self._relations.to_come(relation)
        for after, condition in rounds.items():
            head = applied(predicate, [*columns, f"t+{after}"])
            yield f"{head}:-{','.join([*premises, *filter(None, [condition])])}."

    def _silence(self, rule: Rule) -> Iterator[str]:
        """Yield from when on a rule is carried out: rounds that it names are over."""
        named = [
            part.atom.time
            for part in literals(rule)
            if part.atom.time is not None and part.atom.relation in self._derived
        ]
        if named:
            yield f"t>={max(named)}"

    def _part(self, part: BodyPart, words: Words) -> str:
        if isinstance(part, Comparison):
            return words.comparison(part)
        atom = part.atom
        if atom.relation == CRASH:
            text = self._crashes.atom("crashed", words.terms(atom.terms))
        elif atom.time is None:
            predicate = self._relations.predicate(atom.relation)
            text = self._projections.atom(predicate, [*words.terms(atom.terms), "t"])
        else:
            text = self._atom(atom, words)
        return f"not {text}" if part.negated else text

    def _atom(self, atom: Atom, words: Words) -> str:
        round_ = "t" if atom.time is None else str(atom.time)
        predicate = self._relations.predicate(atom.relation)
        return applied(predicate, [*words.terms(atom.terms), round_])


def always_needed(program: Program) -> set[str]:
    """Return the relations that matter in other rounds than the last."""
    wanted = read_later(program)
    # What comes from an earlier round is there in every one.
    wanted |= {
        rule.head.relation for rule in program.rules if rule.when is not When.NOW
    }
    wanted |= {
        part.atom.relation
        for rule in program.rules
        for part in literals(rule)
        if part.atom.time is not None
    }
    queue = list(wanted)
    for name in queue:
        for rule in program.rules:
            if rule.when is When.NOW and rule.head.relation == name:
                new = {part.atom.relation for part in literals(rule)} - wanted
                wanted |= new
                queue += sorted(new)
    return wanted


def _last(program: Program) -> int:
    """Return the last round that the text names; 0 where it names none."""
    rules = (part.atom for rule in program.rules for part in literals(rule))
    return max((atom.time or 0 for atom in (*program.facts, *rules)), default=0)
