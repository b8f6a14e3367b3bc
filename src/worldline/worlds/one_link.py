"""Transitions of one link, worked out for all mailboxes that contain it."""

from __future__ import annotations

from typing import Any, final

from worldline.engine.tables import Ask, Operations, Tables
from worldline.model.absent import NO_VALUE, AbsentCell
from worldline.model.errors import InternalError
from worldline.model.system import System
from worldline.worlds.present import state_answer


@final
class OneLink:
    """Works out what operations make of a link, and what it answers.

    Parameters
    ----------
    system, tables
        Of a system whose mailboxes are collections of links.
    """

    def __init__(self, system: System, tables: Tables) -> None:
        self._system, self._tables = system, tables
        self._cells: dict[int, Any] = {}

    def apply(self, operations: Operations, link: Any) -> Any:
        """Return what an operation makes of a link, or of none; None if it ends."""
        operation: Any = operations.operation
        cell = self._alone(operations.column, link)
        getattr(cell, operation[0])(*operation[1:])
        left = self._tables.collections[operations.column].split(cell.freeze())
        if len(left) > 1:
            raise InternalError(f"{operation} makes {left} of the link {link}")
        return left[0][0] if left else None

    def answer(self, ask: Ask, link: Any) -> int:
        """Return what a link, or none, answers to a question about it."""
        index, query = ask.question
        return state_answer(self._system, index, query, self._alone(ask.column, link))

    def _alone(self, column: int, link: Any) -> Any:
        """Return a mailbox that has this link alone."""
        if link == NO_VALUE:
            return AbsentCell()
        cell = self._cells.get(column)
        if cell is None:
            cell = self._cells[column] = self._system.cell(column)
        pairs = [] if link is None else [(link, 1)]
        cell.restore(self._tables.collections[column].join(pairs))
        return cell
