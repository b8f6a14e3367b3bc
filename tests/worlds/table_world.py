"""A second world, to see that what takes a `World` knows no other: tables, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.worlds.adapters import follows

import worldline as wl
from worldline.engine.expand import Expander
from worldline.model.answers import answer, holds_for
from worldline.model.data.identity import NodeId
from worldline.model.events import Choices
from worldline.model.instruments import INSTRUMENTS, Instruments
from worldline.model.pure import Pure
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.view import ColumnRead, View
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import NotEnabled, Snapshot


class TableWorld:
    """One row of the tables, which `step` replaces.

    The tables hold of nodes that have started, unless starting is an event; and a fault
    always draws on its budget.
    """

    def __init__(self, system: wl.System) -> None:
        self.system = system
        self.failure: Failure | None = None
        self.instruments: Instruments | None = None
        self._tables = TabulatedWorld(system)
        self._expander = Expander(self._tables.tables, self._tables)
        self._row = self._tables.encode(DirectWorld(system).snapshot())

    @property
    def nodes(self) -> Sequence[Any]:
        system, snapshot = self.system, self.snapshot()
        return [
            kind.thaw(snapshot[system.layout.local(index)], first)
            for index, (kind, first) in enumerate(
                zip(system.types, system.prototypes, strict=True)
            )
        ]

    @property
    def cells(self) -> Sequence[Any]:
        return [
            None
            if column.kind is ColumnKind.LOCAL
            else self._tables.cell(number, self._row[number])
            for number, column in enumerate(self.system.layout.columns)
        ]

    @property
    def view(self) -> View:
        return View(self.system, self, self.instruments)

    def attach(self, instruments: Instruments) -> None:
        self.instruments = instruments

    def read(self, read: ColumnRead) -> Any:
        if read.column == INSTRUMENTS and self.instruments is not None:
            return self.instruments.answer(read.what, *read.detail)
        if read.what != "field":
            return answer(read, self.cells[read.column])
        value = self.nodes[self.system.layout.columns[read.column].index]
        for name in read.detail:
            value = value.__dict__[name]
        return value

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        return holds_for(function, view, nodes)

    def enabled(self, *, charge: bool = True) -> list[wl.Event]:
        if self.failure is not None:
            return []
        offered = self._expander.enabled(self._row)
        return [e.event for e in offered if self._expander.outcomes(e, self._row)]

    def is_enabled(self, event: wl.Event, *, charge: bool = True) -> bool:
        return event in self.enabled(charge=charge)

    def step(
        self,
        event: wl.Event,
        choices: Choices = (),
        *,
        charge: bool = True,
        lines: int | None = None,
    ) -> Outcome:
        if not self.is_enabled(event):
            raise NotEnabled(event, "in this row")
        entry = self._tables.entry(event)
        leaf = next(
            leaf
            for leaf in self._expander.outcomes(entry, self._row)
            if follows(leaf.detail.choices, choices)
        )
        self._row = self._expander.after(self._row, entry, leaf)
        outcome: Outcome = leaf.detail
        self.failure = outcome.failure
        return outcome

    def snapshot(self) -> Snapshot:
        return self._tables.decode(self._row)

    def restore(self, snapshot: Snapshot) -> None:
        self._row = self._tables.encode(snapshot)
        self.failure = None
