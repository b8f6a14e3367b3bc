"""The promises of a system in rounds: safety in each round, liveness at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from worldline.injection.scope import Scope
from worldline.injection.subject import CoverPoint
from worldline.lineage.rounds.scheduler import RoundWorld
from worldline.model.answers import answer, holds_for
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.properties import Property, PropertyKind
from worldline.model.pure import Pure
from worldline.model.semantics.hidden import Hidden
from worldline.model.semantics.layout import ColumnKind
from worldline.model.system import System
from worldline.model.view import ColumnRead, Reader, View

FAILURE = "exception"
"""The promise that every system makes: no handler fails."""
CALLS = "calls"
"""The case that the workload calls anything at all."""

_LONGER = "give a larger --eot"


@final
@dataclass(frozen=True, order=True, slots=True)
class Promise:
    """A goal: a property, or that no handler fails, in the state after a round."""

    round: int
    property: str

    def __str__(self) -> str:
        return f"{self.property} after round {self.round}"


def promises(system: System, scope: Scope) -> Iterator[tuple[Promise, Property]]:
    """Return all properties that must hold, and when, in the order of rounds."""
    for number in range(1, scope.eot + 1):
        for prop in due(system, scope, number):
            yield Promise(number, prop.name), prop


def due(system: System, scope: Scope, number: int) -> list[Property]:
    """Return the properties that must hold after a round."""
    kinds = {PropertyKind.SAFETY}
    if number == scope.eot:
        kinds.add(PropertyKind.LIVENESS)
    return [prop for prop in system.properties if prop.kind in kinds]


def witnesses(system: System) -> list[Property]:
    """Return the properties that must hold sometimes."""
    kind = PropertyKind.SOMETIMES
    return [prop for prop in system.properties if prop.kind is kind]


def cases(system: System) -> list[CoverPoint]:
    """Return what has to happen in some run for a HOLDS to mean anything."""
    points = []
    if any(system.scripts) or any(system.whenevers):
        why = "no call of the workload happened in any run"
        remedy = f"{_LONGER}, or see why no guard of a call is true"
        points.append(CoverPoint(CALLS, why, remedy))
    remedy = f"{_LONGER} or more faults, or ask 'worldline check' if it can be reached"
    return points + [
        CoverPoint(prop.name, f"{prop.name} was not reached in any run", remedy)
        for prop in witnesses(system)
    ]


@final
class Judge:
    """Evaluates properties after a round, and notes what they read.

    A node that only fell silent is seen as crashed: as it would be if it crashed now.
    """

    def __init__(self, rounds: RoundWorld) -> None:
        self._system = rounds.system
        self._cells = rounds.world.cells
        self._inner: Reader = rounds.world.view._reader
        self._stopped = set(rounds.muted())
        self.reads: list[ColumnRead] = []

    def holds(self, prop: Property) -> bool:
        """Evaluate a property; `reads` is then what it looked at."""
        self.reads = []
        return prop.judge(View(self._system, self)).holds

    def read(self, read: ColumnRead) -> Any:
        self.reads.append(read)
        column = self._system.layout.columns[read.column]
        if column.kind is ColumnKind.HIDDEN and column.index in self._stopped:
            frozen = self._cells[read.column].freeze()
            return answer(read, stopped(self._system, read.column, frozen))
        return self._inner.read(read)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        return holds_for(function, view, nodes)


def stopped(system: System, column: int, frozen: Frozen) -> Hidden:
    """Return the hidden cell of a node as it would be after a crash."""
    cell = system.cell(column)
    assert isinstance(cell, Hidden)
    cell.restore(frozen)
    cell.stop()
    return cell
