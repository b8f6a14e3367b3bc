"""Reads of a view in the present state of a world, of which some may be unknown."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, TypeAlias, final

from worldline.model.absent import AbsentCell
from worldline.model.answers import answer, holds_for, seen_for, unseen
from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.identity import NodeId
from worldline.model.instruments import INSTRUMENTS
from worldline.model.pure import Pure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.verdicts import UNSEEN, StateVerdict
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
    blind
        What was found out before, of the same system.

    Attributes
    ----------
    has_lost
        Whether events are not known that histories would have.
    view
        The view that it is behind.
    """

    is_partial = True

    def __init__(
        self, world: Readable, unknown: Set[int], blind: Blind | None = None
    ) -> None:
        self._world = world
        self._unknown = unknown
        self._blind: Blind = {} if blind is None else blind
        self._first = _NO_READ
        self._inner = LiveReader(world)
        self.has_lost = False
        self.view = View(world.system, self, world.instruments)

    def read(self, read: ColumnRead) -> Any:
        system, column = self._world.system, read.column
        first, self._first = self._first, _OTHER_READ
        if column >= system.layout.first:
            node = system.layout.node_of(column)
            is_unknown = node in self._unknown
            if read.what == "present":
                return not is_unknown
            if is_unknown:
                self._first = node if first == _NO_READ else first
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
        key = function, nodes
        if self._blind.get(key) in self._unknown:
            self._first = _OTHER_READ
            return UNSEEN
        self._first = _NO_READ
        try:
            answer = seen_for(function, view._apart(), nodes)
            if answer is UNSEEN and self._first >= 0:
                self._blind[key] = self._first
        finally:
            self._first = _OTHER_READ
        return answer


Blind: TypeAlias = dict[tuple[Pure, tuple[NodeId, ...]], int]
"""Elements that first read a node of which nothing was known, and the index of that.

An element is pure, so that nothing else decides what it says: it is unseen for as long as
nothing is known of that node.
"""

_NO_READ, _OTHER_READ = -1, -2
"""In the place of that index: nothing was read yet, or something else first."""

_IMMUTABLE = frozenset(
    {int, str, bytes, bool, type(None), float, tuple, NodeId, CanonicalFrozenset}
)
