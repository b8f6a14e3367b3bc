"""The columns of a global state: what is where in a row."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import final


class ColumnKind(enum.Enum):
    """The kind of a column. Columns of one kind share their interned values."""

    BUDGET = "budget"
    PARTITION = "partition"
    OBSERVER = "observer"
    LOCAL = "local"
    HIDDEN = "hidden"
    INBOX = "inbox"


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One column: its kind and which node or observer it belongs to."""

    kind: ColumnKind
    index: int


@final
class Layout:
    """The place of each piece of the state: environment first, then node by node.

    Parameters
    ----------
    nodes, observers
        How many there are.
    """

    BUDGET = 0
    PARTITION = 1

    def __init__(self, nodes: int, observers: int) -> None:
        self.nodes = nodes
        self.first = 2 + observers
        self.width = self.first + 3 * nodes

    # Made when first asked for: a world that only runs a system needs none of them.
    @functools.cached_property
    def columns(self) -> list[Column]:
        """All columns, in order."""
        columns = [Column(ColumnKind.BUDGET, 0), Column(ColumnKind.PARTITION, 0)]
        columns += [Column(ColumnKind.OBSERVER, k) for k in range(self.first - 2)]
        for index in range(self.nodes):
            columns += [
                Column(ColumnKind.LOCAL, index),
                Column(ColumnKind.HIDDEN, index),
                Column(ColumnKind.INBOX, index),
            ]
        return columns

    def node_of(self, column: int) -> int:
        """Return the index of the node of a column that is some node's.

        Whoever asks this of a million nodes need not make all of `columns`.
        """
        return (column - self.first) // 3

    def observer(self, index: int) -> int:
        """Return the column of an observer."""
        return 2 + index

    def local(self, node: int) -> int:
        """Return the column of a node's fields."""
        return self.first + 3 * node

    def hidden(self, node: int) -> int:
        """Return the column of a node's hidden state."""
        return self.first + 3 * node + 1

    def inbox(self, node: int) -> int:
        """Return the column of a node's mailbox."""
        return self.first + 3 * node + 2
