"""The order in which the relations of one round are derived.

Only rules without annotation count: ``@next`` and ``@async`` lead into later rounds,
which are derived after.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import Atom, Program, Rule, When
from worldline.dedalus.walk import aggregates, literals

Thing = TypeVar("Thing", bound=Hashable)


def strata(program: Program) -> list[list[str]]:
    """Return groups of mutually recursive relations, each after what it needs."""
    needs: dict[str, dict[str, None]] = {fact.relation: {} for fact in program.facts}
    for rule in program.rules:
        own = needs.setdefault(rule.head.relation, {})
        for part in literals(rule):
            needs.setdefault(part.atom.relation, {})
            if rule.when is When.NOW:
                own[part.atom.relation] = None
    return components(needs)


def unstratified(program: Program, groups: list[list[str]]) -> Iterator[Problem]:
    """Yield where a relation depends on its own absence, or aggregates over itself.

    Of relations that need each other, the first such place is told.
    """
    told: set[int] = set()
    group = {name: number for number, names in enumerate(groups) for name in names}
    for rule in program.rules:
        head = rule.head.relation
        if rule.when is not When.NOW:
            continue
        for part in literals(rule):
            if group[part.atom.relation] != group[head] or group[head] in told:
                continue
            if part.negated or aggregates(rule):
                told.add(group[head])
                yield _problem(program, rule, part.atom, negated=part.negated)


def components(needs: Mapping[Thing, Iterable[Thing]]) -> list[list[Thing]]:
    """Return the strongly connected components, each after those that it needs.

    R. Tarjan, "Depth-first search and linear graph algorithms", 1972; with a stack of
    its own, so that long chains do not exhaust Python's.
    """
    number: dict[Thing, int] = {}
    low: dict[Thing, int] = {}
    groups: list[list[Thing]] = []
    pending: list[Thing] = []
    placed: set[Thing] = set()
    for start in needs:
        if start in number:
            continue
        work = [(start, iter(needs[start]))]
        number[start] = low[start] = len(number)
        pending.append(start)
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    pending.append(other)
                    work.append((other, iter(needs[other])))
                    break
                if other not in placed:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[name])
                if low[name] == number[name]:
                    group = [pending.pop()]
                    while group[-1] != name:
                        group.append(pending.pop())
                    groups.append(group[::-1])
                    placed.update(group)
    return groups


def _problem(program: Program, rule: Rule, atom: Atom, *, negated: bool) -> Problem:
    head = rule.head.relation
    way = " <- ".join(_way(program, atom.relation, head))
    if negated:
        what = f"{head} depends on its own absence within one round"
        way = f"notin {way}"
    else:
        what = f"{head} aggregates over itself within one round"
    return Problem(
        atom.span,
        f"{what}: {head} <- {way}",
        "put @next on one of the heads, or break the cycle",
    )


def _way(program: Program, start: str, end: str) -> list[str]:
    """Return a shortest chain of relations from one to what it needs."""
    before: dict[str, str | None] = {start: None}
    queue = [start]
    for name in queue:
        if name == end:
            break
        for rule in program.rules:
            if rule.when is When.NOW and rule.head.relation == name:
                for part in literals(rule):
                    if part.atom.relation not in before:
                        before[part.atom.relation] = name
                        queue.append(part.atom.relation)
    way = []
    step: str | None = end
    while step is not None:
        way.append(step)
        step = before[step]
    return way[::-1]
