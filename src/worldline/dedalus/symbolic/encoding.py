"""A checked program and a scope become an answer-set program.

A fact of relation r in round T is an atom of r's predicate whose last argument is T. The
rules stand in parts that are grounded round by round, so that what is known of the past
is used, and so that a budget can end it:

- ``base``: the facts of the program, and the faults;
- ``now(t)``: what holds in round t because of what else holds in it;
- ``later(t)``: what round t leads to;
- ``end(t)``: the specification, at the end of time only, and the question.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.check import Checked
from worldline.dedalus.places import place_of, protocol
from worldline.dedalus.symbolic.aggregates import collected, results
from worldline.dedalus.symbolic.faults import LIMITS, arrivals, choices
from worldline.dedalus.symbolic.words import Relations, Words, applied
from worldline.dedalus.syntax import (
    Aggregate,
    Atom,
    BodyPart,
    Comparison,
    Program,
    Rule,
    When,
)
from worldline.dedalus.walk import CRASH, POST, PRE, aggregates, literals
from worldline.model.injection.scope import CrashSemantics, Scope


class Encoding:
    """The answer-set program of one program in one scope.

    Attributes
    ----------
    text
        The whole of it.
    """

    def __init__(self, checked: Checked, scope: Scope) -> None:
        self._checked = checked
        self._program = checked.program
        self._scope = scope
        self._relations = Relations(checked.program)
        halts = scope.semantics is not CrashSemantics.MUTE
        self._halting = {
            rule
            for rule, local in zip(checked.program.rules, checked.protocol, strict=True)
            if local and halts and rule.when is not When.ASYNC
        }
        self.text = "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield "#program base."
        yield from choices(self._scope)
        if self._checked.uses_crash:
            yield "crashed(O,N,T):-node(O),crash(N,T)."
        yield from self._facts()
        now = list(arrivals(self._scope))
        later: list[str] = []
        end: list[str] = []
        always = _always(self._program)
        for number, rule in enumerate(self._program.rules):
            if rule.when is not When.NOW:
                later += self._rule(rule, number)
                now += self._results(rule, number)
            else:
                part = now if rule.head.relation in always else end
                part += self._rule(rule, number)
                part += self._results(rule, number)
        yield "#program now(t)."
        yield from now
        yield "#program later(t)."
        yield from later
        yield "#program end(t)."
        yield from end
        yield from self._question()
        yield LIMITS

    def _facts(self) -> Iterator[str]:
        for fact in self._program.facts:
            assert fact.time is not None
            if fact.time <= self._scope.eot:
                yield f"{self._atom(fact, Words())}."

    def _question(self) -> Iterator[str]:
        columns = [f"X{n}" for n in range(self._checked.columns.arity[PRE])]
        row = [*columns, "t"]
        pre = applied(self._relations.predicate(PRE), row)
        post = applied(self._relations.predicate(POST), row)
        yield f"broken:-{pre},not {post}."
        yield ":-not broken."

    def _results(self, rule: Rule, number: int) -> Iterator[str]:
        if aggregates(rule):
            predicate = self._relations.predicate(rule.head.relation)
            yield from results(rule, number, predicate)

    def _rule(self, rule: Rule, number: int) -> Iterator[str]:
        """Yield a rule, or those that collect what its aggregates are over."""
        words = Words()
        body = [self._part(part, words) for part in rule.body]
        if rule in self._halting:
            body.append(f"not down({words.term(place_of(rule))},t)")
        for predicate, columns in self._heads(rule, number, words):
            for round_, conditions in self._rounds(rule, words):
                head = applied(predicate, [*columns, round_])
                yield f"{head}:-{','.join([*body, *conditions])}."

    def _heads(
        self, rule: Rule, number: int, words: Words
    ) -> Iterator[tuple[str, list[str]]]:
        """Yield what a rule derives: predicates, and their arguments but for the round."""
        terms = rule.head.terms
        group = [words.term(t) for t in terms if not isinstance(t, Aggregate)]
        if len(group) == len(terms):
            yield self._relations.predicate(rule.head.relation), group
        for position, term in enumerate(terms):
            if isinstance(term, Aggregate):
                each = words.variable(term.of.name)
                yield collected(number, position), [*group, each]

    def _rounds(self, rule: Rule, words: Words) -> Iterator[tuple[str, list[str]]]:
        """Yield the rounds in which the head may hold, and on which conditions."""
        if rule.when is When.NOW:
            yield "t", []
        elif rule.when is When.NEXT:
            yield "t+1", []
        else:
            link = f"{words.term(place_of(rule))},{words.term(rule.head.terms[0])}"
            for late in range(self._scope.delay + 1):
                yield f"t+{1 + late}", [f"arrives({link},t,{late})"]

    def _part(self, part: BodyPart, words: Words) -> str:
        if isinstance(part, Comparison):
            return words.comparison(part)
        atom = part.atom
        if atom.relation == CRASH:
            text = applied("crashed", words.terms(atom.terms))
        else:
            text = self._atom(atom, words)
        return f"not {text}" if part.negated else text

    def _atom(self, atom: Atom, words: Words) -> str:
        round_ = "t" if atom.time is None else str(atom.time)
        predicate = self._relations.predicate(atom.relation)
        return applied(predicate, [*words.terms(atom.terms), round_])


def _always(program: Program) -> set[str]:
    """Return the relations that matter in other rounds than the last."""
    wanted = set(protocol(program))
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
