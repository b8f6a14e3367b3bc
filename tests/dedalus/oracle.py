"""Dedalus once more, as simply as can be: environments, loops, and no index.

Shares the syntax with the package and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.syntax import (
    Aggregate,
    Aggregator,
    Arithmetic,
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
from worldline.injection.scope import Crash, Delay, Loss

Facts = dict[tuple[str, int], set[tuple]]


class Oracle:
    """One run; `facts` by relation and round, `fired` as rule, round, environment."""

    def __init__(
        self, program: Program, nodes, faults, eot: int, *, halt=False, labels=()
    ):
        self.placed = protocol(program, {"pre", "post", *labels})
        self.program, self.nodes, self.eot, self.halt = program, nodes, eot, halt
        self.losses = {(f.time, f.src, f.dst) for f in faults if isinstance(f, Loss)}
        self.delays = {
            (f.time, f.src, f.dst): f.by for f in faults if isinstance(f, Delay)
        }
        self.crashes: dict[str, int] = {}
        for fault in faults:
            if isinstance(fault, Crash):
                before = self.crashes.get(fault.node, fault.time)
                self.crashes[fault.node] = min(before, fault.time)
        self.facts: Facts = {}
        self.fired: set[tuple[int, int, tuple]] = set()
        self.level = levels(program)
        self.run()

    def holds(self, relation: str, time: int) -> set[tuple]:
        if relation == "crash":
            return {(o, n, t) for o in self.nodes for n, t in self.crashes.items()}
        return self.facts.setdefault((relation, time), set())

    def dead(self, node, time: int) -> bool:
        return self.halt and self.crashes.get(node, time + 1) <= time

    def run(self) -> None:
        for fact in self.program.facts:
            row = tuple(value(term, {}) for term in fact.terms)
            time = fact.time or 1
            if fact.relation not in self.placed or not self.dead(row[0], time):
                self.holds(fact.relation, time).add(row)
        for time in range(1, self.eot + 1):
            for level in sorted(set(self.level.values())):
                while self.saturate(level, time):
                    pass
            for number, rule in enumerate(self.program.rules):
                if rule.when is not When.NOW and time < self.eot:
                    for row, place in self.heads(number, rule, time):
                        self.later(rule, row, place, time)

    def saturate(self, level: int, time: int) -> bool:
        new = False
        for number, rule in enumerate(self.program.rules):
            if rule.when is When.NOW and self.level[rule.head.relation] == level:
                rows = {row for row, _ in self.heads(number, rule, time)}
                held = self.holds(rule.head.relation, time)
                new = new or not rows <= held
                held |= rows
        return new

    def later(self, rule: Rule, row: tuple, place, time: int) -> None:
        arrives = time + 1
        if rule.when is When.ASYNC and row[0] != place:
            if (time, place, row[0]) in self.losses:
                return
            if self.crashes.get(place, time + 1) <= time:
                return
            arrives += self.delays.get((time, place, row[0]), 0)
        if rule.head.relation not in self.placed or not self.dead(row[0], arrives):
            self.holds(rule.head.relation, arrives).add(row)

    def heads(self, number: int, rule: Rule, time: int) -> list[tuple[tuple, object]]:
        found = []
        groups: dict[tuple, list[dict]] = {}
        for env in self.bindings(rule, time):
            place = self.place(rule, env)
            if self.acting(rule) and self.dead(place, time):
                continue
            moved = self.acting(rule) and rule.when is When.NOW
            if moved and self.dead(value(rule.head.terms[0], env), time):
                continue
            if rule.when is When.NOW or time < self.eot:
                self.fired.add((number, time, tuple(sorted(env.items()))))
            key = tuple(
                None if isinstance(term, Aggregate) else value(term, env)
                for term in rule.head.terms
            )
            sender = place if rule.when is When.ASYNC else None
            groups.setdefault((sender, key), []).append(env)
            found.append((key, place))
        if not any(isinstance(term, Aggregate) for term in rule.head.terms):
            return found
        return [
            (
                tuple(
                    aggregate(term, envs) if isinstance(term, Aggregate) else plain
                    for term, plain in zip(rule.head.terms, key, strict=True)
                ),
                sender,
            )
            for (sender, key), envs in groups.items()
        ]

    def bindings(self, rule: Rule, time: int) -> Iterator[dict]:
        """Yield what a rule fires with; it waits for rounds that it names."""
        derived = {rule.head.relation for rule in self.program.rules}
        atoms = [part.atom for part in rule.body if isinstance(part, Literal)]
        if any(a.relation in derived and (a.time or 1) > time for a in atoms):
            return
        for env in self.environments(rule, time):
            try:
                for term in rule.head.terms:
                    if not isinstance(term, Aggregate):
                        value(term, env)
            except ZeroDivisionError:
                continue  # nothing is divided by zero: the rule is silent
            yield env

    def place(self, rule: Rule, env: dict):
        """Where a rule runs: at its first premise that is somewhere."""
        for part in rule.body:
            if isinstance(part, Literal) and part.atom.relation in self.placed:
                term = part.atom.terms[0]
                if not isinstance(term, Variable) or term.name in env:
                    return value(term, env)
        return value(rule.head.terms[0], env)

    def acting(self, rule: Rule) -> bool:
        """Whether nodes carry it out; what only heads of messages share is no reason."""
        if rule.when is When.NOW:
            return rule.head.relation in self.placed and self.read(rule.head.relation)
        return rule.head.relation in self.placed

    def read(self, relation: str) -> bool:
        rules = [r for r in self.program.rules if r.when is not When.NOW]
        rules = [r for r in rules if r.head.relation in self.placed]
        return relation in below(self.program, rules)

    def environments(self, rule: Rule, time: int) -> Iterator[dict]:
        environments: list[dict] = [{}]
        for part in rule.body:
            if isinstance(part, Literal) and not part.negated:
                environments = [
                    more
                    for env in environments
                    for row in self.holds(part.atom.relation, part.atom.time or time)
                    if (more := matched(part.atom, row, env)) is not None
                ]
        place = rule.head.terms[0]
        if isinstance(place, Variable) and rule.when is When.ASYNC:
            environments = [
                env if place.name in env else {**env, place.name: node}
                for env in environments
                for node in ([None] if place.name in env else self.nodes)
            ]
        for env in environments:
            if all(self.true(part, env, time) for part in rule.body):
                yield env

    def true(self, part, env: dict, time: int) -> bool:
        if isinstance(part, Comparison):
            left, right = value(part.left, env), value(part.right, env)
            compare = {
                "==": lambda: left == right,
                "!=": lambda: left != right,
                "<": lambda: left < right,
                "<=": lambda: left <= right,
                ">": lambda: left > right,
                ">=": lambda: left >= right,
            }
            return bool(compare[part.operator]())
        if not part.negated:
            return True
        rows = self.holds(part.atom.relation, part.atom.time or time)
        return not any(matched(part.atom, row, env) is not None for row in rows)


def below(program: Program, rules: list[Rule]) -> set[str]:
    """All relations on which rules rest, however indirectly."""
    names: set[str] = set()
    while True:
        more = {
            part.atom.relation
            for rule in program.rules
            for part in rule.body
            if isinstance(part, Literal)
            and (rule in rules or rule.head.relation in names)
        }
        if more <= names:
            return names - {"crash"}
        names |= more


def protocol(program: Program, labels: set[str]) -> set[str]:
    """What nodes keep, send or act on; what holds labels only if a message needs it."""
    sending = [r for r in program.rules if r.when is When.ASYNC]
    sent = {r.head.relation for r in sending} | below(program, sending)
    later = [r for r in program.rules if r.when is not When.NOW]
    later = [
        r for r in later if r.head.relation in sent or r.head.relation not in labels
    ]
    names = {r.head.relation for r in later} | below(program, later)
    return sent | (names - labels)


def matched(atom: Atom, row: tuple, env: dict) -> dict | None:
    found = dict(env)
    for term, column in zip(atom.terms, row, strict=True):
        if isinstance(term, Variable) and term.name not in found:
            found[term.name] = column
        elif value(term, found) != column:
            return None
    return found


def value(term: Term, env: dict):
    if isinstance(term, Constant):
        return term.value
    if isinstance(term, Variable):
        return env[term.name]
    assert isinstance(term, Arithmetic)
    left, right = value(term.left, env), value(term.right, env)
    return {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left // right,
    }[term.operator]()


def aggregate(term: Aggregate, envs: list[dict]):
    values = {env[term.of.name] for env in envs}
    return {
        Aggregator.COUNT: lambda: len(values),
        Aggregator.SUM: lambda: sum(values),
        Aggregator.MIN: lambda: min(values),
        Aggregator.MAX: lambda: max(values),
        Aggregator.AVG: lambda: sum(values) // len(values),
    }[term.aggregator]()


def levels(program: Program) -> dict[str, int]:
    """How many negations and aggregates lie below each relation within a round."""
    level = {rule.head.relation: 0 for rule in program.rules}
    for _ in range(len(level) + 1):
        for rule in program.rules:
            if rule.when is not When.NOW:
                continue
            over = any(isinstance(term, Aggregate) for term in rule.head.terms)
            for part in rule.body:
                if isinstance(part, Literal):
                    below = level.get(part.atom.relation, 0)
                    least = below + (part.negated or over)
                    head = rule.head.relation
                    level[head] = max(level[head], least)
    return level
