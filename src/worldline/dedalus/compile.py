"""Rules become Python functions, once for each program, and are put in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.places import place_of
from worldline.dedalus.source import RuleFunction, Source, names_of
from worldline.dedalus.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Constant,
    Literal,
    Program,
    Rule,
    Term,
    Variable,
    When,
)
from worldline.dedalus.templates import FactRow, Template, absences, needs
from worldline.dedalus.text import rule_text
from worldline.dedalus.walk import (
    CRASH,
    comparisons,
    literals,
    positive,
)


class Trigger(NamedTuple):
    """An atom of a body that may change, so that its rule fires anew.

    Attributes
    ----------
    others, comparisons
        What the rule needs besides.
    """

    literal: Literal
    others: tuple[Literal, ...]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, eq=False)
class CompiledRule:
    """A rule that can be carried out.

    Attributes
    ----------
    number
        Its place in the program.
    names
        The variables, in the order of a binding.
    columns
        For each column of the head, what it aggregates; ``None`` for a plain one.
    place
        Where it is carried out, as a function of the binding.
    waits
        The first round in which it is carried out: it may name a later one than 1.
    guarded
        Whether nothing in the body says that its place is alive, or its head is derived
        at another one.
    deltas
        For premises of its own recursive group: the function that restricts them.
    needs, absences
        The atoms of the body, as functions of a binding.
    text
        The rule as it is written.
    """

    number: int
    rule: Rule
    head: int
    protocol: bool
    names: tuple[str, ...]
    columns: tuple[Aggregate | None, ...]
    place: Callable[[FactRow], str]
    waits: int
    guarded: bool
    function: RuleFunction
    deltas: tuple[tuple[int, RuleFunction], ...]
    needs: tuple[Template, ...]
    absences: tuple[Template, ...]
    text: str

    @cached_property
    def aggregating(self) -> bool:
        """Whether the head has aggregates."""
        return any(self.columns)

    @cached_property
    def triggers(self) -> tuple[Trigger, ...]:
        """Each atom of the body in turn."""
        parts = list(literals(self.rule))
        compared = tuple(comparisons(self.rule))
        return tuple(
            Trigger(part, (*parts[:number], *parts[number + 1 :]), compared)
            for number, part in enumerate(parts)
        )


@dataclass(frozen=True)
class Compiled:
    """A program that can be run; see `worldline.dedalus.evaluate`.

    Attributes
    ----------
    relations
        The number of each relation.
    groups
        The rules without annotation, by stratum, and whether they are recursive.
    later
        The rules with ``@next`` and ``@async``.
    heads
        The rules of each relation.
    facts
        The numbers of relations, rows and rounds of the facts.
    last
        The last round that the text names.
    steady
        Relations that rest on no message and no crash: while crashed nodes go on, they
        are the same in every run.
    """

    checked: CheckedProgram
    relations: dict[str, int]
    rules: tuple[CompiledRule, ...]
    groups: tuple[tuple[tuple[CompiledRule, ...], bool], ...]
    later: tuple[CompiledRule, ...]
    heads: dict[str, tuple[CompiledRule, ...]]
    facts: tuple[tuple[int, FactRow, int], ...]
    last: int
    steady: frozenset[str]


def compile_program(checked: CheckedProgram) -> Compiled:
    """Compile every rule; takes milliseconds."""
    program = checked.program
    relations = {name: number for number, name in enumerate(checked.columns.arity)}
    derived = {rule.head.relation for rule in program.rules}
    group = {name: set(names) for names in checked.strata for name in names}
    source = Source(relations)
    deltas: list[list[tuple[int, str]]] = []
    for number, rule in enumerate(program.rules):
        source.function(f"rule_{number}", rule, None)
        own = group[rule.head.relation] if rule.when is When.NOW else set()
        recursive = [n for n, atom in enumerate(positive(rule)) if atom.relation in own]
        deltas.append([])
        for at in recursive:
            source.function(f"rule_{number}_{at}", rule, at)
            relation = list(positive(rule))[at].relation
            deltas[-1].append((relations[relation], f"rule_{number}_{at}"))
    functions = source.functions()
    rules = tuple(
        _compiled(
            number,
            rule,
            checked.protocol[number],
            checked.placed,
            relations,
            derived,
            functions,
            triggers,
        )
        for number, (rule, triggers) in enumerate(
            zip(program.rules, deltas, strict=True)
        )
    )
    heads: dict[str, list[CompiledRule]] = {name: [] for name in relations}
    for made in rules:
        heads[made.rule.head.relation].append(made)
    groups = []
    for names in checked.strata:
        now = [r for name in names for r in heads[name] if r.rule.when is When.NOW]
        if now:
            groups.append((tuple(now), any(rule.deltas for rule in now)))
    return Compiled(
        checked,
        relations,
        rules,
        tuple(groups),
        tuple(rule for rule in rules if rule.rule.when is not When.NOW),
        {name: tuple(functions) for name, functions in heads.items()},
        tuple(_given(fact, relations) for fact in program.facts),
        max([0, *(atom.time or 0 for atom in _timed(program))]),
        frozenset(relations) - _uncertain(program),
    )


def _uncertain(program: Program) -> set[str]:
    uncertain = {r.head.relation for r in program.rules if r.when is When.ASYNC} | {
        CRASH
    }
    while True:
        more = {
            rule.head.relation
            for rule in program.rules
            if any(part.atom.relation in uncertain for part in literals(rule))
        }
        if more <= uncertain:
            return uncertain
        uncertain |= more


def _timed(program: Program) -> Iterator[Atom]:
    yield from program.facts
    for rule in program.rules:
        for part in literals(rule):
            yield part.atom


def _given(fact: Atom, relations: dict[str, int]) -> tuple[int, FactRow, int]:
    row = tuple(term.value for term in fact.terms if isinstance(term, Constant))
    return relations[fact.relation], row, fact.time or 1


def _compiled(
    number: int,
    rule: Rule,
    protocol: bool,
    placed: frozenset[str],
    relations: dict[str, int],
    derived: set[str],
    functions: dict[str, RuleFunction],
    deltas: list[tuple[int, str]],
) -> CompiledRule:
    names = names_of(rule)
    waits = [
        part.atom.time or 1 for part in literals(rule) if part.atom.relation in derived
    ]
    place = place_of(rule, placed)
    held = (atom for atom in positive(rule) if atom.relation in placed)
    lives = any(atom.time is None and atom.terms[0] == place for atom in held)
    moves = rule.when is When.NOW and rule.head.terms[0] != place
    return CompiledRule(
        number,
        rule,
        relations[rule.head.relation],
        protocol,
        names,
        tuple(t if isinstance(t, Aggregate) else None for t in rule.head.terms),
        _place(place, names),
        max(waits, default=1),
        protocol and (moves or not lives),
        functions[f"rule_{number}"],
        tuple((relation, functions[name]) for relation, name in deltas),
        needs(rule, names),
        absences(rule, names),
        rule_text(rule),
    )


def _place(place: Term, names: tuple[str, ...]) -> Callable[[FactRow], str]:
    if isinstance(place, Variable) and place.name in names:
        at = names.index(place.name)
        return lambda binding: str(binding[at])
    where = str(place.value) if isinstance(place, Constant) else ""
    return lambda _: where
