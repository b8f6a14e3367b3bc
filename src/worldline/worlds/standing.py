"""What stays as it is in a direct world from step to step, so that nobody asks again."""

from __future__ import annotations

from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, thaw
from worldline.model.events import Event
from worldline.model.properties import Property
from worldline.model.semantics.layout import Layout
from worldline.model.view import Pure, Read, View, answer, holds_for
from worldline.worlds.direct import DirectWorld

_SIMPLE = frozenset({int, str, bytes, bool, type(None), float, NodeId})


@final
class Standing:
    """The verdict of a property, evaluated anew only if something it read is new.

    Parameters
    ----------
    world
        Whose states it is about; who changes them calls `look_again`.
    """

    def __init__(self, world: DirectWorld, known: Property) -> None:
        self._world = world
        self._known = known
        self._view = View(world.system, self)
        self._holds: bool | None = None
        self._seen: dict[int, dict[Read, Any]] = {}

    def holds(self) -> bool:
        """Return the verdict on the present state."""
        if self._holds is None:
            self._seen = {}
            self._holds = self._known.judge(self._view).holds
        return self._holds

    def look_again(self, touched: set[int]) -> None:
        """Compare what was read with what is there now, in columns that were touched."""
        if self._holds is None:
            return
        for column in touched:
            for read, before in self._seen.get(column, {}).items():
                if self._frozen(read)[0] != before:
                    self._holds = None
                    return

    def read(self, read: Read) -> Any:
        """Answer a read of the property, as `Reader` says."""
        frozen, found = self._frozen(read)
        self._seen.setdefault(read.column, {})[read] = frozen
        if read.what != "field":
            return answer(read, self._world.cells[read.column])
        return found

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        """Evaluate one element of a ``for_each`` form."""
        return holds_for(function, view, nodes)

    def _frozen(self, read: Read) -> tuple[Any, Any]:
        """Return what tells the answer from others, and the value of a field."""
        world = self._world
        if read.what != "field":
            return world.cells[read.column].freeze(), None
        value: Any = world.nodes[world.system.layout.columns[read.column].index]
        for name in read.detail:
            value = value.__dict__[name]
        if type(value) in _SIMPLE:
            return (type(value), value), value
        frozen = freeze(value)
        return frozen, thaw(frozen)


@final
class Offers:
    """The events that are enabled in a direct world, node by node."""

    def __init__(self, world: DirectWorld) -> None:
        self._world = world
        layout, count = world.system.layout, len(world.system.ids)
        self._known: list[list[Event] | None] = [None] * count
        self._columns = [
            {
                layout.local(index),
                layout.hidden(index),
                layout.inbox(index),
                Layout.BUDGET,
                Layout.PARTITION,
            }
            for index in range(count)
        ]

    def all(self) -> list[Event]:
        """Return them all, in canonical order."""
        found: list[Event] = []
        for index, known in enumerate(self._known):
            if known is None:
                known = self._known[index] = self._world.enabled_at(index)
            found += known
        return found + self._world.enabled_around()

    def look_again(self, touched: set[int]) -> None:
        """Forget the events of nodes whose columns were touched."""
        # Whether a delivery changes anything may depend on buffers of other nodes.
        everything = self._world.system.ignore_noops
        for index, columns in enumerate(self._columns):
            if everything or not columns.isdisjoint(touched):
                self._known[index] = None
