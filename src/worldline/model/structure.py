"""The fixed part of a system, for those that a system itself is made with.

A view, a renaming and a check of declarations ask what nodes and columns there are. They
stand below `System`, which calls them; so they take this, which it fulfils.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from worldline.model.data.identity import NodeId
from worldline.model.node import NodeType
from worldline.model.semantics.layout import Layout


class Watcher(Protocol):
    """An observer, as far as its column is concerned."""

    @property
    def name(self) -> str:
        """What properties call it."""

    @property
    def arrange(self) -> Callable[[Any], Any] | None:
        """What puts a value in order whose order means nothing."""

    @property
    def explain(self) -> Callable[[Any], Any] | None:
        """What says why a value is rejected."""

    def why(self, value: Any) -> tuple[str, ...]:
        """Return what it says of a value that it rejects, line by line."""


class Structure(Protocol):
    """The nodes and columns of a system.

    Attributes
    ----------
    ids, index
        The nodes in order, and the position of each.
    nodes, types
        Their values at first, by id, and their types, by position.
    layout
        What is in which column.
    cuts
        The splits that a partition chooses from: the nodes on one side, each.
    timed
        Whether the order of pending timers means something.
    """

    ids: tuple[NodeId, ...]
    index: dict[NodeId, int]
    types: list[NodeType]
    layout: Layout
    cuts: tuple[frozenset[NodeId], ...]
    timed: bool

    @property
    def nodes(self) -> Mapping[NodeId, Any]:
        """The node of each id, as it is at first."""

    @property
    def observers(self) -> Sequence[Watcher]:
        """What watches the run, each with a column of its own."""
