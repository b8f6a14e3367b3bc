"""What a relation holds in a round."""

from __future__ import annotations

from typing import TypeAlias

from worldline.dedalus.syntax import Value
from worldline.dedalus.templates import Row

Key: TypeAlias = Value | Row


class Table:
    """The rows of one relation in one round, in the order of their derivation."""

    __slots__ = ("_indexes", "rows")

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self._indexes: dict[tuple[int, ...], dict[Key, list[Row]]] = {}

    def index(self, columns: tuple[int, ...]) -> dict[Key, list[Row]]:
        """Return the rows by some of their columns; a lone one is its own key."""
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = {}
            for row in self.rows:
                index.setdefault(_key(row, columns), []).append(row)
        return index

    def add(self, row: Row) -> bool:
        """Add a row, and say whether it is new."""
        if row in self.rows:
            return False
        self.rows[row] = None
        for columns, index in self._indexes.items():
            index.setdefault(_key(row, columns), []).append(row)
        return True


def _key(row: Row, columns: tuple[int, ...]) -> Key:
    if len(columns) == 1:
        return row[columns[0]]
    return tuple([row[column] for column in columns])
