"""Provenance of a fact in a run: the firings that derive it, and the premises of each.

Firings are recorded as bindings; what they mean is worked out here, when asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from worldline.dedalus.compile import CompiledRule
from worldline.dedalus.evaluate import Execution
from worldline.dedalus.syntax import When
from worldline.dedalus.templates import FactRow, RowPattern


class Fact(NamedTuple):
    """A row of a relation in a round."""

    relation: str
    row: FactRow
    time: int


class Absence(NamedTuple):
    """No row like this in a relation and a round."""

    relation: str
    pattern: RowPattern
    time: int


class Derivation(NamedTuple):
    """A rule that fired in a round, with one binding, or all that it aggregates."""

    rule: CompiledRule
    time: int
    bindings: tuple[FactRow, ...]

    def premises(self, binding: FactRow) -> Iterator[Fact]:
        """Yield what a binding needed."""
        for relation, row, time in self.rule.needs:
            yield Fact(relation, row(binding), time or self.time)  # type: ignore[arg-type]

    def absences(self, binding: FactRow) -> Iterator[Absence]:
        """Yield what a binding needed not to be."""
        for relation, pattern, time in self.rule.absences:
            yield Absence(relation, pattern(binding), time or self.time)

    def sender(self) -> str | None:
        """Return who sent the head; ``None`` if it was derived where it is."""
        if self.rule.rule.when is not When.ASYNC:
            return None
        return self.rule.place(self.bindings[0])


class Provenance:
    """The derivations of a run, looked up by what they derive."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._found: dict[tuple[str, int], dict[FactRow, list[Derivation]]] = {}
        self._given = {
            (relation, row, time) for relation, row, time in execution.compiled.facts
        }

    def given(self, fact: Fact) -> bool:
        """Say whether the program states a fact."""
        number = self.execution.compiled.relations[fact.relation]
        return (number, fact.row, fact.time) in self._given

    def derivations(self, fact: Fact) -> list[Derivation]:
        """Return every firing whose head is a fact."""
        key = fact.relation, fact.time
        if key not in self._found:
            self._found[key] = self._all(*key)
        return self._found[key].get(fact.row, [])

    def _all(self, relation: str, time: int) -> dict[FactRow, list[Derivation]]:
        derivations: dict[FactRow, list[Derivation]] = {}
        if time > self.execution.eot:
            return derivations
        for rule in self.execution.compiled.heads[relation]:
            for fired in self._rounds(rule, time):
                for head, derivation in self.fired(rule, fired):
                    if self._arrives(derivation, head) == time:
                        derivations.setdefault(head, []).append(derivation)
        return derivations

    def _rounds(self, rule: CompiledRule, time: int) -> range:
        """Return the rounds in which a rule may derive what holds in a round."""
        if rule.rule.when is When.NOW:
            return range(time, time + 1)
        if rule.rule.when is When.NEXT:
            return range(max(1, time - 1), time)
        return range(max(1, time - 1 - self.execution.network.latest), time)

    def fired(
        self, rule: CompiledRule, time: int
    ) -> Iterator[tuple[FactRow, Derivation]]:
        """Yield what a rule derived in a round; messages also if they were lost."""
        for head, binding in self.execution.fired[time].get(rule.number, ()):
            yield head, Derivation(rule, time, (binding,))
        for head, bindings in self.execution.grouped[time].get(rule.number, ()):
            yield head, Derivation(rule, time, bindings)

    def _arrives(self, derivation: Derivation, head: FactRow) -> int | None:
        if derivation.rule.rule.when is When.NOW:
            return derivation.time
        network, node = self.execution.network, str(head[0])
        sender = derivation.sender()
        if sender is not None:
            return network.arrival(derivation.time, sender, node)
        later = derivation.time + 1
        is_there = not derivation.rule.protocol or network.alive(node, later)
        return later if is_there else None
