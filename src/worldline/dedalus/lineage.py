"""The faults that can take a fact of a run away, as a formula.

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

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from worldline.dedalus.appearing import Appearances
from worldline.dedalus.circuit import Circuit
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.matching import unified
from worldline.dedalus.parts import All, AnyOf, Appearing, Part, SupportNode
from worldline.dedalus.possible import PossibleFacts
from worldline.dedalus.provenance import Absence, Derivation, Fact, Provenance
from worldline.dedalus.strata import components
from worldline.dedalus.syntax import Aggregator
from worldline.dedalus.templates import FactRow, RowPattern
from worldline.dedalus.walk import CRASH
from worldline.injection.formula import ALWAYS, NEVER, Formula
from worldline.injection.scope import Crash, FaultSet, Scope
from worldline.injection.subject import Pulse, never_interrupt

_Join: TypeAlias = Callable[[Iterable[Formula]], Formula]
_Made: TypeAlias = "Formula | int | tuple[_Join, list[_Made]]"
"""A part with numbers for its nodes."""


class Negation(StrEnum):
    """The treatment of negated premises and of aggregates."""

    IGNORE = "ignore"
    """Nothing: what does not hold in this run is taken never to (as published)."""
    CONSERVATIVE = "conservative"
    """All that may make them hold is in the formula."""


class RunLineage:
    """The formulas of one run, made when asked for and kept.

    Parameters
    ----------
    execution, faults
        The run, and what was injected.
    scope
        Which faults there may be.
    possible
        What may hold under any of them, if that is known.
    """

    def __init__(
        self,
        execution: Execution,
        faults: FaultSet,
        scope: Scope,
        negation: Negation,
        possible: PossibleFacts | None = None,
    ) -> None:
        self.provenance = Provenance(execution)
        self.circuit = Circuit(scope)
        self._execution = execution
        self._placed = execution.compiled.checked.placed
        self._conservative = negation is Negation.CONSERVATIVE
        # Nodes are hashed once: from then on they are numbers.
        self._numbers: dict[SupportNode, int] = {}
        self._nodes: list[SupportNode] = []
        self._done: dict[int, Formula] = {}
        self._appearances = Appearances(
            self.provenance, self.circuit, faults, scope, possible
        )

    def falls(self, fact: Fact, check: Pulse = never_interrupt) -> Formula:
        """Return what takes a fact of this run away."""
        return self._formula(fact, check)

    def appears(
        self,
        relation: str,
        pattern: RowPattern,
        time: int,
        check: Pulse = never_interrupt,
    ) -> Formula:
        """Return what may make a relation hold a new row like this in a round."""
        return self._formula(Appearing(relation, pattern, time), check)

    def _formula(self, node: SupportNode, check: Pulse) -> Formula:
        wanted = self._number(node)
        if wanted in self._done:
            return self._done[wanted]
        made: dict[int, _Made] = {}
        below: dict[int, list[int]] = {}
        pending = [wanted]
        while pending:
            number = pending.pop()
            if number in made:
                continue
            check()
            needed: list[int] = []
            made[number] = self._made(self._expand(self._nodes[number]), needed)
            below[number] = needed
            pending += needed
        for group in components(below):
            check()
            self._close(group, made, below)
        return self._done[wanted]

    def _number(self, node: SupportNode) -> int:
        number = self._numbers.setdefault(node, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(node)
        return number

    def _expand(self, node: SupportNode) -> Part:
        if isinstance(node, Appearing):
            return AnyOf(tuple(self._appearances.parts(node)))
        return self._falling(node)

    def _made(self, part: Part, needed: list[int]) -> _Made:
        """Put numbers for nodes; those that are still to be worked out are needed."""
        kind = type(part)
        if kind is All or kind is AnyOf:
            join = self.circuit.every if kind is All else self.circuit.some
            return join, [self._made(inner, needed) for inner in part.parts]  # type: ignore[union-attr]
        if kind is Fact or kind is Appearing:
            number = self._number(part)  # type: ignore[arg-type]
            if number in self._done:
                return self._done[number]
            needed.append(number)
            return number
        return part  # type: ignore[return-value]

    def _close(
        self, group: list[int], made: dict[int, _Made], below: dict[int, list[int]]
    ) -> None:
        """Finish nodes that need each other; most are alone, and need not themselves.

        What holds in a cycle holds by the least fixpoint; so facts fall by the greatest,
        and what appears does so by the least. It takes no more rounds than there are
        nodes in the cycle.
        """
        first = group[0]
        if len(group) == 1 and first not in below[first]:
            self._done[first] = self._resolved(made[first])
            return
        start = ALWAYS if isinstance(self._nodes[first], Fact) else NEVER
        self._done.update(dict.fromkeys(group, start))
        for _ in group:
            self._done.update({node: self._resolved(made[node]) for node in group})

    def _resolved(self, made: _Made) -> Formula:
        if isinstance(made, int):
            return self._done[made]
        if isinstance(made, tuple):
            join, parts = made
            return join([self._resolved(part) for part in parts])
        return made

    def _falling(self, fact: Fact) -> Part:
        if fact.relation == CRASH:
            return self._uncrashed(fact.row)
        if fact.relation in self._appearances.steady:
            return NEVER
        ways: list[Part] = []
        if self.provenance.given(fact):
            is_placed = fact.relation in self._placed
            gone = self._gone(str(fact.row[0]), fact.time) if is_placed else NEVER
            ways.append(gone)
        ways += [self._broken(d, fact) for d in self.provenance.derivations(fact)]
        return NEVER if NEVER in ways else All(tuple(ways))

    def _uncrashed(self, row: FactRow) -> Formula:
        if not self._conservative:
            return NEVER
        node, time = str(row[1]), int(row[2])
        return self.circuit.spared(Crash(time, node))

    def _gone(self, node: str, time: int) -> Formula:
        if not self._execution.network.halting:
            return NEVER
        return self.circuit.crashed(node, time)

    def _broken(self, derivation: Derivation, fact: Fact) -> Part:
        """Return what keeps a rule from deriving a fact."""
        parts: list[Part] = []
        sender = derivation.sender()
        node = str(fact.row[0])
        if sender is not None and sender != node:
            late = fact.time - derivation.time - 1
            parts.append(self.circuit.cut(derivation.time, sender, node, late))
        if derivation.rule.protocol:
            parts.append(self._gone(node, fact.time))
        if derivation.rule.aggregating:
            parts += self._changed(derivation, fact.row)
        else:
            parts += self._unbound(derivation, derivation.bindings[0])
        return AnyOf(tuple(part for part in parts if part is not NEVER))

    def _unbound(self, derivation: Derivation, binding: FactRow) -> Iterator[Part]:
        """Yield what takes one binding away."""
        if derivation.rule.protocol:
            place = derivation.rule.place(binding)
            if (gone := self._gone(place, derivation.time)) is not NEVER:
                yield gone
        yield from derivation.premises(binding)
        if self._conservative:
            for absence in derivation.absences(binding):
                yield self._ended(absence)

    def _ended(self, absence: Absence) -> Part:
        if absence.relation == CRASH:
            _, node, time = absence.pattern
            return self.circuit.crash_row(node, time)
        return Appearing(*absence)

    def _changed(self, derivation: Derivation, row: FactRow) -> Iterator[Part]:
        """Yield what changes an aggregate: a value that goes, or one that comes.

        A value goes when all its bindings do. Of a minimum or maximum only the value
        itself matters; what is larger or smaller may go.
        """
        rule = derivation.rule
        for column, aggregate in enumerate(rule.columns):
            if aggregate is None:
                continue
            at = rule.names.index(aggregate.of.name)
            values: dict[object, list[Part]] = {}
            for binding in derivation.bindings:
                way = AnyOf(tuple(self._unbound(derivation, binding)))
                values.setdefault(binding[at], []).append(way)
            if aggregate.aggregator in {Aggregator.MIN, Aggregator.MAX}:
                yield All(tuple(values[row[column]]))
            else:
                yield from (All(tuple(ways)) for ways in values.values())
        if self._conservative:
            # The group is that of its first binding: only a row of it can join.
            head_values = unified(rule.rule.head, row, {})
            yield from self._appearances.bodies(
                rule, head_values or {}, derivation.time
            )
