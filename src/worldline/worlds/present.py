"""Answers of the present state to the questions of a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from worldline.model.absent import AbsentCell, restored_cell
from worldline.model.events import Event
from worldline.model.semantics.transitions import changes
from worldline.model.system import System
from worldline.worlds.door import Query


@final
class PresentAnswers:
    """Answers what a handler asks of the present state.

    The event's own operations come first: a timer that fires is not pending.

    Parameters
    ----------
    cells
        The cell of each column but the local ones; they are not changed.
    index
        Where the handler runs.
    """

    __slots__ = ("_cells", "_event", "_index", "_system")

    def __init__(
        self,
        system: System,
        cells: Sequence[Any],
        index: int,
        event: Event,
    ) -> None:
        self._system = system
        self._cells = cells
        self._index = index
        self._event = event

    def __call__(self, query: Query) -> int:
        system = self._system
        column = system.layout.hidden(self._index)
        if query[0] == "full":
            column = system.layout.inbox(query[1])
        cell = restored_cell(system, column, self._cells[column].freeze())
        for at, operation in changes(system, self._event):
            if at == column:
                getattr(cell, operation[0])(*operation[1:])
        return state_answer(system, self._index, query, cell)


def state_answer(system: System, index: int, query: Query, cell: Any) -> int:
    """Return what a state answers to a query of a node, by the cell asked about."""
    if query[0] == "full":
        if isinstance(cell, AbsentCell):
            return 0  # what is sent there vanishes, also what this handler has sent
        under_way = cell.holds(system.ids[index]) + query[2]
        return int(under_way >= (system.network.buffer or 0))
    if query[0] == "sequence":
        return int(cell.counter)
    if query[0] == "whole":
        return int(query[1] in cell.breakable())
    return int(query[1] in cell.timers)
