"""Runs a compiled program under faults, round by round, and keeps every firing.

Within a round relations are derived stratum by stratum; recursive ones to their least
fixpoint, from what is new (semi-naive). Then rules with ``@next`` and ``@async`` fill
the rounds to come.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 4.1.
Crashes are as its published tool has them (`CrashSemantics.MUTE`), which differs from
the text: a crashed node goes on by itself, and sends nothing to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from worldline.dedalus.compile import Compiled, CompiledRule
from worldline.dedalus.network import FaultyNetwork
from worldline.dedalus.source import (
    LARGEST,
    MOST_FIRINGS,
    Derived,
    NumberTooLarge,
    RuleFunction,
    TooMany,
)
from worldline.dedalus.syntax import Aggregator, Value, When
from worldline.dedalus.tables import Table
from worldline.dedalus.templates import FactRow
from worldline.dedalus.text import value_text
from worldline.dedalus.walk import CRASH
from worldline.injection.scope import CrashSemantics, FaultSet
from worldline.injection.subject import SentMessage
from worldline.model.errors import UsageError

_MOST_STEPS = 10_000
"""A recursion that goes on for longer within a round makes new values without end."""


RowGroup: TypeAlias = tuple[FactRow, tuple[FactRow, ...]]
"""A head with aggregates, and all bindings that went into it."""


@dataclass(frozen=True)
class Execution:
    """The facts that one run derived.

    Attributes
    ----------
    times
        The tables of each round, by the number of the relation; index 0 is unused.
    fired
        By round and number of a rule: heads and bindings. Messages are here also if
        they were lost.
    grouped
        The same for rules with aggregates.
    """

    compiled: Compiled
    eot: int
    network: FaultyNetwork
    times: list[list[Table]]
    fired: list[dict[int, Derived]]
    grouped: list[dict[int, list[RowGroup]]] = field(repr=False)

    def rows(self, relation: str, time: int) -> dict[FactRow, None]:
        """Return what a relation holds in a round, in the order of derivation."""
        number = self.compiled.relations.get(relation)
        return {} if number is None else self.times[time][number].rows

    def node_of(self, row: FactRow) -> str:
        """Return the node that a row is at; empty where its first column names none."""
        return str(row[0]) if row[0] in self.compiled.checked.nodes else ""

    def tuples(self) -> Iterator[tuple[str, FactRow, int]]:
        """Yield every fact of every round; those of `crash` hold always."""
        for time in range(1, self.eot + 1):
            for relation, number in self.compiled.relations.items():
                for row in self.times[time][number].rows:
                    yield relation, row, time

    def messages(self) -> list[SentMessage]:
        """Return what was sent to others, by time, in the order of sending."""
        messages: dict[tuple[int, str, FactRow, str], SentMessage] = {}
        for time in range(1, self.eot):
            for rule in self.compiled.later:
                if rule.rule.when is not When.ASYNC:
                    continue
                for head, src in self._sends(rule, time):
                    dst = str(head[0])
                    key = (time, rule.rule.head.relation, head, src)
                    if src != dst and key not in messages:
                        arrived = self.network.arrival(time, src, dst)
                        label = label_of(rule.rule.head.relation, head)
                        messages[key] = SentMessage(src, dst, time, label, arrived)
        return list(messages.values())

    def _sends(self, rule: CompiledRule, time: int) -> Iterator[tuple[FactRow, str]]:
        for head, binding in self.fired[time].get(rule.number, ()):
            yield head, rule.place(binding)
        for head, bindings in self.grouped[time].get(rule.number, ()):
            for binding in bindings:
                yield head, rule.place(binding)


def label_of(relation: str, row: FactRow) -> str:
    """Return a fact as text, as a program would write it."""
    return f"{relation}({', '.join(value_text(value) for value in row)})"


def evaluate(
    compiled: Compiled,
    faults: FaultSet,
    eot: int,
    semantics: CrashSemantics = CrashSemantics.MUTE,
) -> Execution:
    """Run a program for rounds 1 to `eot`.

    Rules with ``@next`` and ``@async`` are not carried out in the last round. A rule
    that names a round (``p(X)@3``) is silent before it, unless no rule derives `p`.

    Raises
    ------
    UsageError
        If a fault cannot be injected (`FaultyNetwork`).
    """
    return _Evaluation(compiled, faults, eot, semantics).run()


class _Evaluation:
    """One run."""

    def __init__(
        self, compiled: Compiled, faults: FaultSet, eot: int, semantics: CrashSemantics
    ) -> None:
        self._nodes = compiled.checked.nodes
        network = FaultyNetwork(faults, self._nodes, semantics)
        crash = Table()
        for node, time in network.crashed.items():
            for observer in self._nodes:
                crash.add((observer, node, time))
        number = compiled.relations[CRASH]
        times: list[list[Table]] = []
        # Facts of later rounds are there to be named, as in p(X)@9.
        named = {time for _, _, time in compiled.facts}
        empty: list[Table] | None = None
        for time in range(max(eot, compiled.last) + 1):
            if time > eot and time not in named and empty is not None:
                times.append(empty)
                continue
            tables = [Table() for _ in compiled.relations]
            tables[number] = crash
            times.append(tables)
            if time > eot and time not in named:
                empty = tables
        placed = {compiled.relations[name] for name in compiled.checked.placed}
        for relation, row, time in compiled.facts:
            if relation not in placed or network.alive(str(row[0]), time):
                times[time][relation].rows[row] = None
        self._result = Execution(
            compiled,
            eot,
            network,
            times,
            [{} for _ in range(eot + 1)],
            [{} for _ in range(eot + 1)],
        )
        self._times = times
        self._halting = network.halting

    def run(self) -> Execution:
        compiled, eot = self._result.compiled, self._result.eot
        for time in range(1, eot + 1):
            now = self._times[time]
            for rules, recursive in compiled.groups:
                if recursive:
                    self._fixpoint(rules, time)
                # Recursive rules fire once more, over all that there is: that records
                # every firing once, whichever order the fixpoint found them in.
                for rule in rules:
                    rows = now[rule.head]
                    for head, _ in self._fire(rule, time):
                        rows.add(head)
            if time < eot:
                for rule in compiled.later:
                    self._later(rule, time)
        return self._result

    def _found(self, rule: CompiledRule, time: int) -> Derived:
        derived: Derived = []
        if time < rule.waits:
            return derived
        self._call(rule, rule.function, time, derived, None)
        return self._alive(rule, derived, time)

    def _alive(self, rule: CompiledRule, derived: Derived, time: int) -> Derived:
        """Leave out what a halted node would derive, or would have."""
        if not (self._halting and rule.guarded and derived):
            return derived
        alive, is_now = self._result.network.alive, rule.rule.when is When.NOW
        return [
            (head, binding)
            for head, binding in derived
            if alive(rule.place(binding), time)
            and not (is_now and not alive(str(head[0]), time))
        ]

    def _call(
        self,
        rule: CompiledRule,
        function: RuleFunction,
        time: int,
        derived: Derived,
        delta: list[FactRow] | None,
    ) -> None:
        """Find the bindings of a rule in a round.

        Raises
        ------
        UsageError
            If there are too many, or if they lead to too large numbers.
        """
        try:
            function(self._times[time], self._times, derived, self._nodes, delta)
        except TooMany:
            raise UsageError(
                f"the rule at {rule.rule.span} fires more than {MOST_FIRINGS:,} times "
                f"in round {time}",
                remedy="let it join less, or ask about fewer facts",
            ) from None
        except NumberTooLarge:
            raise UsageError(
                f"the rule at {rule.rule.span} calculates numbers beyond {LARGEST} "
                f"in round {time}",
                remedy="bound what it calculates with a comparison",
            ) from None

    def _fire(self, rule: CompiledRule, time: int) -> list[RowGroup] | Derived:
        """Carry out a rule, record it, and return the heads first."""
        derived = self._found(rule, time)
        if not derived:
            return derived
        if rule.aggregating:
            groups = _grouped(rule, derived)
            self._result.grouped[time][rule.number] = groups
            return groups
        self._result.fired[time][rule.number] = derived
        return derived

    def _later(self, rule: CompiledRule, time: int) -> None:
        rows = self._times[time + 1][rule.head].rows
        network = self._result.network
        if rule.rule.when is When.NEXT:
            halting = self._halting and rule.protocol
            for head, _ in self._fire(rule, time):
                if not halting or network.alive(str(head[0]), time + 1):
                    rows[head] = None
            return
        for head, by in self._fire(rule, time):
            binding = by[0] if rule.aggregating else by
            src = rule.place(binding)  # type: ignore[arg-type]
            arrives = network.arrival(time, src, str(head[0]))
            if arrives is not None and arrives <= self._result.eot:
                self._times[arrives][rule.head].rows[head] = None

    def _fixpoint(self, rules: tuple[CompiledRule, ...], time: int) -> None:
        now = self._times[time]
        for rule in rules:
            derived = self._found(rule, time)
            # An aggregate has a recursive relation in its head, never in its body.
            for head, _ in _grouped(rule, derived) if rule.aggregating else derived:
                now[rule.head].add(head)
        # Facts and messages are new to the group as well.
        deltas = {relation for rule in rules for relation, _ in rule.deltas}
        fresh = {relation: list(now[relation].rows) for relation in deltas}
        for _ in range(_MOST_STEPS):
            if not fresh:
                return
            fresh = self._step(rules, time, fresh)
        names = ", ".join(dict.fromkeys(rule.rule.head.relation for rule in rules))
        raise UsageError(
            f"the derivation of {names} in round {time} has no end",
            remedy="put @next on a head that calculates a new value",
        )

    def _step(
        self,
        rules: tuple[CompiledRule, ...],
        time: int,
        fresh: dict[int, list[FactRow]],
    ) -> dict[int, list[FactRow]]:
        """Derive what follows from new rows, and return what of it is new."""
        now = self._times[time]
        derived: dict[int, list[FactRow]] = {}
        for rule in rules:
            for relation, function in rule.deltas:
                delta = fresh.get(relation)
                if not delta or time < rule.waits:
                    continue
                results: Derived = []
                self._call(rule, function, time, results, delta)
                for head, _ in self._alive(rule, results, time):
                    if now[rule.head].add(head):
                        derived.setdefault(rule.head, []).append(head)
        return derived


def _grouped(rule: CompiledRule, derived: Derived) -> list[RowGroup]:
    """Put together what has the same plain columns; values count once each.

    What two nodes send is never put together.
    """
    groups: dict[tuple[str, FactRow], list[tuple[FactRow, FactRow]]] = {}
    sent = rule.rule.when is When.ASYNC
    plain = [n for n, column in enumerate(rule.columns) if column is None]
    for head, binding in derived:
        place = rule.place(binding) if sent else ""
        key = place, tuple([head[n] for n in plain])
        groups.setdefault(key, []).append((head, binding))
    made = []
    for members in groups.values():
        row = list(members[0][0])
        for number, column in enumerate(rule.columns):
            if column is not None:
                values = {head[number] for head, _ in members}
                row[number] = aggregated(column.aggregator, values)
        made.append((tuple(row), tuple([binding for _, binding in members])))
    return made


def aggregated(aggregator: Aggregator, values: set[Value]) -> Value:
    """Return the aggregate of distinct values; an average is rounded down."""
    if aggregator is Aggregator.COUNT:
        return len(values)
    if aggregator is Aggregator.MIN:
        return min(values)
    if aggregator is Aggregator.MAX:
        return max(values)
    total = sum(value for value in values if isinstance(value, int))
    return total if aggregator is Aggregator.SUM else total // len(values)
