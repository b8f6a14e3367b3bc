"""Reads of a view in the present state of a world, of which some may be unknown."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, final

from worldline.model.absent import AbsentCell
from worldline.model.answers import answer, holds_for, seen_for, unseen
from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.identity import NodeId
from worldline.model.instruments import INSTRUMENTS
from worldline.model.pure import Pure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.verdicts import StateVerdict
from worldline.model.view import ColumnRead, View
from worldline.worlds.kept import fresh
from worldline.worlds.world import Readable


@final
class LiveReader:
    """Answers a view's reads from the present state."""

    __slots__ = ("_world",)

    def __init__(self, world: Readable) -> None:
        self._world = world

    def read(self, read: ColumnRead) -> Any:
        world = self._world
        if read.what != "field":
            if read.column == INSTRUMENTS and world.instruments is not None:
                return world.instruments.answer(read.what, *read.detail)
            return answer(read, world.cells[read.column])
        value: Any = world.nodes[world.system.layout.node_of(read.column)]
        for name in read.detail:
            value = value.__dict__[name]
        return value if type(value) in _IMMUTABLE else fresh(value)

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        return holds_for(function, view, nodes)


@final
class PartialReader:
    """Answers those reads of the present state of which something is known.

    Parameters
    ----------
    unknown
        The indices of the nodes of which nothing is known; it may change.

    Attributes
    ----------
    has_lost
        Whether events are not known that histories would have.
    view
        The view that it is behind.
    """

    is_partial = True

    def __init__(self, world: Readable, unknown: Set[int]) -> None:
        self._world = world
        self._unknown = unknown
        self._inner = LiveReader(world)
        self.has_lost = False
        self.view = View(world.system, self, world.instruments)

    def read(self, read: ColumnRead) -> Any:
        system, column = self._world.system, read.column
        if column >= system.layout.first:
            is_unknown = system.layout.node_of(column) in self._unknown
            if read.what == "present":
                return not is_unknown
            if is_unknown:
                raise unseen(system, read)
        elif column >= 0 and self._is_unknown(column):
            raise unseen(system, read)
        return self._inner.read(read)

    def _is_unknown(self, column: int) -> bool:
        """Say whether nothing is known of a column that is no node's."""
        kind = self._world.system.layout.columns[column].kind
        is_lost = self.has_lost and kind is ColumnKind.OBSERVER
        return is_lost or type(self._world.cells[column]) is AbsentCell

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        return seen_for(function, view._apart(), nodes)


_IMMUTABLE = frozenset(
    {int, str, bytes, bool, type(None), float, tuple, NodeId, CanonicalFrozenset}
)
