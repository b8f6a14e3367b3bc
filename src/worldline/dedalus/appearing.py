"""Changes that may make a relation hold more than it does in a run.

A row that is new under other faults is derived by a rule that fires anew: one of its
premises is new, or one of its absences is. For each such trigger, and for what follows
from it about the variables, the other premises must be possible too: they hold in the
run at hand, or they are new as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.dedalus.circuit import Circuit
from worldline.dedalus.compile import CompiledRule, Trigger
from worldline.dedalus.matching import (
    Known,
    excluded,
    is_decided,
    pattern_of,
    rows_like,
    unified,
)
from worldline.dedalus.parts import All, Appearing, Part
from worldline.dedalus.possible import PossibleFacts
from worldline.dedalus.provenance import Fact, Provenance
from worldline.dedalus.syntax import Literal, When
from worldline.dedalus.templates import FactRow, RowPattern, matches
from worldline.dedalus.walk import CRASH
from worldline.injection.scope import Crash, Delay, FaultSet, Scope, in_order


class Appearances:
    """Reasons for new rows.

    Parameters
    ----------
    provenance, faults
        The run, and what was injected.
    possible
        What may hold at all; a row that may not needs no reason.

    Attributes
    ----------
    steady
        The relations that no fault of the scope changes.
    """

    def __init__(
        self,
        provenance: Provenance,
        circuit: Circuit,
        faults: FaultSet,
        scope: Scope,
        possible: PossibleFacts | None = None,
    ) -> None:
        self._provenance = provenance
        self._execution = provenance.execution
        self._circuit = circuit
        self._faults = in_order(faults)
        self._scope = scope
        self._possible_rows = possible
        halting = self._execution.network.halting
        compiled = self._execution.compiled
        self.steady = frozenset[str]() if halting else compiled.steady

    def parts(self, node: Appearing) -> Iterator[Part]:
        """Yield the reasons for a new row, as parts of a disjunction."""
        relation, pattern, time, _ = node
        if relation in self.steady:
            return
        if relation == CRASH:
            _, who, when = pattern
            yield self._circuit.crash_row(who, when, frozenset(self._faults))
            return
        rows = self._new_rows(relation, pattern, time)
        if rows is not None and (None in pattern or not rows):
            yield from (Appearing(relation, row, time) for row in rows)
            return
        for rule in self._execution.compiled.heads[relation]:
            if rule.rule.when is When.NOW:
                yield from self._fires(rule, pattern, time)
            elif rule.rule.when is When.NEXT:
                yield from self._fires(rule, pattern, time - 1)
            else:
                yield from self._arrives(rule, pattern, time)
        if self._execution.network.halting:
            for fault in self._faults:
                if isinstance(fault, Crash) and fault.time <= time:
                    yield self._circuit.spared(fault)

    def _arrives(
        self, rule: CompiledRule, pattern: RowPattern, time: int
    ) -> Iterator[Part]:
        """Yield what may bring a message in a round: on time, late, or not lost."""
        for by in range(self._scope.delay + 1):
            sent = time - 1 - by
            if sent < 1 or (by and not self._scope.may_lose(sent)):
                continue
            yield from self._fires(rule, pattern, sent)
            if by:
                yield from self._late(rule, pattern, sent, by)
        for fault in self._faults:
            if isinstance(fault, Crash) or fault.time < time:
                yield self._circuit.spared(fault)

    def _late(
        self, rule: CompiledRule, pattern: RowPattern, sent: int, by: int
    ) -> Iterator[Part]:
        for head, derivation in self._provenance.fired(rule, sent):
            src, dst = derivation.sender(), str(head[0])
            if src is not None and src != dst and matches(head, pattern):
                delay = Delay(sent, src, dst, by)
                if delay not in self._faults:
                    yield self._circuit.injected(delay)

    def _fires(
        self, rule: CompiledRule, pattern: RowPattern, time: int
    ) -> Iterator[Part]:
        """Yield what may make a rule derive in a round what it does not."""
        values = unified(rule.rule.head, pattern, {})
        if time < 1 or values is None:
            return
        yield from self.bodies(rule, values, time)
        if rule.aggregating:
            # A group without one of its values is another row.
            for head, derivation in self._provenance.fired(rule, time):
                if unified(rule.rule.head, head, values) is not None:
                    for binding in derivation.bindings:
                        yield from derivation.premises(binding)
                        for absence in derivation.absences(binding):
                            yield Appearing(*absence)

    def bodies(self, rule: CompiledRule, binding: Known, time: int) -> Iterator[Part]:
        """Yield what may give a rule a binding in a round that it does not have."""
        for trigger in rule.triggers:
            atom = trigger.literal.atom
            if atom.relation in self.steady or excluded(trigger.comparisons, binding):
                continue
            pattern, at = pattern_of(atom, binding), atom.time or time
            if not trigger.literal.negated:
                rows = self._new_rows(atom.relation, pattern, at)
                for new_row in [pattern] if rows is None else rows:
                    known = unified(atom, new_row, binding)
                    if known is not None:
                        new = Appearing(atom.relation, new_row, at)
                        yield from self._if_possible(new, trigger, known, time)
                continue
            for row in rows_like(self._execution, atom.relation, pattern, at):
                more = unified(atom, row, binding)
                if more is not None:
                    gone = Fact(atom.relation, row, at)
                    yield from self._if_possible(gone, trigger, more, time)

    def _new_rows(
        self, relation: str, pattern: RowPattern, time: int
    ) -> list[FactRow] | None:
        """Return the rows like a pattern that may be new; None where any may be."""
        if self._possible_rows is None:
            return None
        rows = self._possible_rows.rows(relation, pattern, time)
        if rows is None:
            return None
        there = self._execution.rows(relation, time)
        return [row for row in rows if row not in there]

    def _if_possible(
        self, change: Part, trigger: Trigger, binding: Known, time: int
    ) -> Iterator[Part]:
        """Yield a change with all that must hold besides, if that can be."""
        if excluded(trigger.comparisons, binding):
            return
        needed = [change]
        for part in trigger.others:
            changes = self._possible(part, binding, time)
            if changes and part.atom.relation in self.steady:
                return
            needed += changes
        yield All(tuple(needed)) if len(needed) > 1 else change

    def _possible(self, part: Literal, binding: Known, time: int) -> list[Part]:
        """Return what must change for a premise to be true, if anything."""
        atom, at = part.atom, part.atom.time or time
        pattern = pattern_of(atom, binding)
        rows = rows_like(self._execution, atom.relation, pattern, at)
        if not part.negated:
            return [] if rows else [Appearing(atom.relation, pattern, at)]
        if not is_decided(atom, binding):
            return []
        return [Fact(atom.relation, row, at) for row in rows]
