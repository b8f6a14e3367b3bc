"""Which faults can take a fact of a run away, as a formula.

A fact falls where all its derivations fall; a derivation where one of its premises
does, or where the message that brought it is cut off. With `Negation.CONSERVATIVE` a
derivation falls also where something may appear that it needs to be absent: for each
relation and round a formula over-approximates that the run's faults, changed, make it
hold a row that it does not hold now. Such a row needs a rule one of whose premises
appears, or one of whose absences ends because a fact of this run falls; so the formulas
meet again, and stay linear in the size of the run.

Contracts: the formula of a fact is false of the run's own faults, and with
`Negation.CONSERVATIVE` true of every fault set of the scope under which the fact does
not hold.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015, section 4 and
Algorithm 2, which for a negated premise takes all facts from which it can be reached
through an odd number of negations. Here only the first negation on the way is taken so;
beyond it the derivations of the run are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from worldline.dedalus.circuit import Circuit
from worldline.dedalus.compile import CompiledRule
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.provenance import Absence, Derivation, Fact, Provenance
from worldline.dedalus.strata import components
from worldline.dedalus.syntax import Aggregator, When
from worldline.dedalus.templates import Row
from worldline.dedalus.walk import CRASH
from worldline.model.injection.formula import (
    ALWAYS,
    NEVER,
    Formula,
)
from worldline.model.injection.scope import Crash, Delay, FaultSet, Scope, in_order


class Negation(StrEnum):
    """What becomes of negated premises and of aggregates."""

    IGNORE = "ignore"
    """Nothing: what does not hold in this run is taken never to (as published)."""
    CONSERVATIVE = "conservative"
    """All that may make them hold is in the formula."""


class Appearing(NamedTuple):
    """A relation holds a row in a round that it does not hold in this run."""

    relation: str
    time: int


class _Every(NamedTuple):
    """A formula in the making: all parts."""

    parts: tuple[_Part, ...]


class _Some(NamedTuple):
    """A formula in the making: some part."""

    parts: tuple[_Part, ...]


_Node: TypeAlias = Fact | Appearing
_Part: TypeAlias = Formula | _Node | _Every | _Some


class Lineage:
    """The formulas of one run, made when asked for and kept.

    Parameters
    ----------
    execution, faults
        The run, and what was injected.
    scope
        Which faults there may be.
    """

    def __init__(
        self, execution: Execution, faults: FaultSet, scope: Scope, negation: Negation
    ) -> None:
        self.provenance = Provenance(execution)
        self.circuit = Circuit(scope)
        self._execution = execution
        self._conservative = negation is Negation.CONSERVATIVE
        self._done: dict[_Node, Formula] = {}
        self._appearances = Appearances(self.provenance, self.circuit, faults, scope)

    def falls(self, fact: Fact) -> Formula:
        """Return what takes a fact of this run away."""
        return self._formula(fact)

    def appears(self, relation: str, time: int) -> Formula:
        """Return what may make a relation hold a new row in a round."""
        return self._formula(Appearing(relation, time))

    def _formula(self, wanted: _Node) -> Formula:
        if wanted in self._done:
            return self._done[wanted]
        made: dict[_Node, _Part] = {}
        below: dict[_Node, list[_Node]] = {}
        pending = [wanted]
        while pending:
            node = pending.pop()
            if node in made:
                continue
            made[node] = self._expand(node)
            below[node] = [n for n in _nodes(made[node]) if n not in self._done]
            pending += below[node]
        for group in components(below):
            self._close(group, made, below)
        return self._done[wanted]

    def _expand(self, node: _Node) -> _Part:
        if isinstance(node, Appearing):
            return _Some(tuple(self._appearances.parts(node)))
        return self._falling(node)

    def _close(
        self,
        group: list[_Node],
        made: dict[_Node, _Part],
        below: dict[_Node, list[_Node]],
    ) -> None:
        """Finish nodes that need each other; most are alone, and need not themselves.

        Facts in a cycle hold by their least fixpoint, so they fall by a greatest one:
        reached in as many rounds as there are facts, each above the one before. What
        appears in a cycle does so for any reason from outside.
        """
        first = group[0]
        if len(group) == 1 and first not in below[first]:
            self._done[first] = self._resolved(made[first])
            return
        falling = isinstance(first, Fact)
        self._done.update(dict.fromkeys(group, ALWAYS if falling else NEVER))
        if not falling:
            outside = self.circuit.some([self._resolved(made[node]) for node in group])
            self._done.update(dict.fromkeys(group, outside))
            return
        for _ in group:
            self._done.update({node: self._resolved(made[node]) for node in group})

    def _resolved(self, part: _Part) -> Formula:
        if isinstance(part, Fact | Appearing):
            return self._done[part]
        if isinstance(part, _Every):
            return self.circuit.every(self._resolved(p) for p in part.parts)
        if isinstance(part, _Some):
            return self.circuit.some(self._resolved(p) for p in part.parts)
        return part

    def _falling(self, fact: Fact) -> _Part:
        if fact.relation == CRASH:
            return self._uncrashed(fact.row)
        ways: list[_Part] = []
        if self.provenance.given(fact):
            ways.append(self._gone(str(fact.row[0]), fact.time))
        ways += [self._broken(d, fact) for d in self.provenance.derivations(fact)]
        return NEVER if NEVER in ways else _Every(tuple(ways))

    def _uncrashed(self, row: Row) -> Formula:
        if not self._conservative:
            return NEVER
        node, time = str(row[1]), int(row[2])
        return self.circuit.spared(Crash(time, node))

    def _gone(self, node: str, time: int) -> Formula:
        if not self._execution.network.halting:
            return NEVER
        return self.circuit.crashed(node, time)

    def _broken(self, derivation: Derivation, fact: Fact) -> _Part:
        """Return what keeps a rule from deriving a fact."""
        parts: list[_Part] = []
        sender = derivation.sender()
        node = str(fact.row[0])
        if sender is not None and sender != node:
            late = fact.time - derivation.time - 1
            parts.append(self.circuit.cut(derivation.time, sender, node, late))
        if derivation.rule.protocol:
            parts.append(self._gone(node, fact.time))
            place = derivation.rule.place(derivation.bindings[0])
            parts.append(self._gone(place, derivation.time))
        if derivation.rule.aggregating:
            parts += self._changed(derivation, fact.row)
        else:
            parts += self._unbound(derivation, derivation.bindings[0])
        return _Some(tuple(part for part in parts if part is not NEVER))

    def _unbound(self, derivation: Derivation, binding: Row) -> Iterator[_Part]:
        """Yield what takes one binding away."""
        yield from derivation.premises(binding)
        if self._conservative:
            for absence in derivation.absences(binding):
                yield self._ended(absence)

    def _ended(self, absence: Absence) -> _Part:
        if absence.relation == CRASH:
            _, node, time = absence.pattern
            return self.circuit.crash_row(node, time)
        return Appearing(absence.relation, absence.time)

    def _changed(self, derivation: Derivation, row: Row) -> Iterator[_Part]:
        """Yield what changes an aggregate: a value that goes, or one that comes.

        A value goes when all its bindings do. Of a minimum or maximum only the value
        itself matters; what is larger or smaller may go.
        """
        rule = derivation.rule
        for column, aggregate in enumerate(rule.columns):
            if aggregate is None:
                continue
            at = rule.names.index(aggregate.of.name)
            values: dict[object, list[_Part]] = {}
            for binding in derivation.bindings:
                way = _Some(tuple(self._unbound(derivation, binding)))
                values.setdefault(binding[at], []).append(way)
            if aggregate.aggregator in {Aggregator.MIN, Aggregator.MAX}:
                yield _Every(tuple(values[row[column]]))
            else:
                yield from (_Every(tuple(ways)) for ways in values.values())
        if self._conservative:
            yield from self._appearances.bodies(rule, derivation.time)


class Appearances:
    """What may make a relation hold more than it does in a run."""

    def __init__(
        self, provenance: Provenance, circuit: Circuit, faults: FaultSet, scope: Scope
    ) -> None:
        self._provenance = provenance
        self._execution = provenance.execution
        self._circuit = circuit
        self._faults = in_order(faults)
        self._scope = scope

    def parts(self, node: Appearing) -> Iterator[_Part]:
        """Yield the reasons, as parts of a disjunction."""
        relation, time = node
        if relation == CRASH:
            yield self._circuit.crash_row(None, None, frozenset(self._faults))
            return
        for rule in self._execution.compiled.heads[relation]:
            if rule.rule.when is When.NOW:
                yield from self._fires(rule, time)
            elif rule.rule.when is When.NEXT:
                yield from self._fires(rule, time - 1)
            else:
                yield from self._arrives(rule, time)
        if self._execution.network.halting:
            for fault in self._faults:
                if isinstance(fault, Crash) and fault.time <= time:
                    yield self._circuit.spared(fault)

    def _arrives(self, rule: CompiledRule, time: int) -> Iterator[_Part]:
        """Yield what may bring a message in a round: on time, late, or not lost."""
        for by in range(self._scope.delay + 1):
            sent = time - 1 - by
            if sent < 1 or (by and not self._scope.may_lose(sent)):
                continue
            yield from self._fires(rule, sent)
            if by:
                for head, derivation in self._provenance.fired(rule, sent):
                    src, dst = derivation.sender(), str(head[0])
                    if src is not None and src != dst:
                        delay = Delay(sent, src, dst, by)
                        if delay not in self._faults:
                            yield self._circuit.injected(delay)
        for fault in self._faults:
            if isinstance(fault, Crash) or fault.time < time:
                yield self._circuit.spared(fault)

    def _fires(self, rule: CompiledRule, time: int) -> Iterator[_Part]:
        """Yield what may make a rule derive in a round what it does not."""
        if time < 1:
            return
        yield from self.bodies(rule, time)
        if rule.aggregating:
            # A group without one of its values is another row.
            for _, derivation in self._provenance.fired(rule, time):
                for binding in derivation.bindings:
                    yield from derivation.premises(binding)
                    for absence in derivation.absences(binding):
                        yield Appearing(absence.relation, absence.time)

    def bodies(self, rule: CompiledRule, time: int) -> Iterator[_Part]:
        """Yield what may give a rule a binding in a round that it does not have."""
        for need in rule.needs:
            yield Appearing(need.relation, need.time or time)
        for absence in rule.absences:
            at = absence.time or time
            for row in self._execution.rows(absence.relation, at):
                yield Fact(absence.relation, row, at)


def _nodes(part: _Part) -> Iterator[_Node]:
    if isinstance(part, Fact | Appearing):
        yield part
    elif isinstance(part, _Every | _Some):
        for inner in part.parts:
            yield from _nodes(inner)
