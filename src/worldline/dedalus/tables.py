"""The rows that a relation holds in a round."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import itemgetter
from typing import TypeAlias

from worldline.dedalus.syntax import Value
from worldline.dedalus.templates import FactRow

Key: TypeAlias = Value | FactRow


class Table:
    """The rows of one relation in one round, in the order of their derivation."""

    __slots__ = ("_indexes", "rows")

    def __init__(self) -> None:
        self.rows: dict[FactRow, None] = {}
        self._indexes: dict[tuple[int, ...], dict[Key, list[FactRow]]] = {}

    def index(self, columns: tuple[int, ...]) -> dict[Key, list[FactRow]]:
        """Return the rows by some of their columns; a lone one is its own key."""
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = {}
            key = _key(columns)
            for row in self.rows:
                index.setdefault(key(row), []).append(row)
        return index

    def add(self, row: FactRow) -> bool:
        """Add a row, and say whether it is new."""
        if row in self.rows:
            return False
        self.rows[row] = None
        for columns, index in self._indexes.items():
            index.setdefault(_key(columns)(row), []).append(row)
        return True


@cache
def _key(columns: tuple[int, ...]) -> Callable[[FactRow], Key]:
    """Return what takes columns out of a row."""
    return itemgetter(*columns)
