"""Predicates over a run of which the state of some nodes is not known.

What reads such a node is not judged, unless it is false for others in any case: of a
``for_each`` form the elements that touch the node are left out.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import NotRecorded
from worldline.model.gauges import Gauge, TimedStep, fold
from worldline.model.instruments import INSTRUMENTS
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.view import ColumnRead, View
from worldline.worlds.direct import LiveReader
from worldline.worlds.world import Readable


@final
class SeenReader:
    """Answers reads of the nodes of which the state is known.

    Parameters
    ----------
    unknown
        The indices of the others; it changes.

    Attributes
    ----------
    left_out
        Whether an element of a form was not asked.
    gauges
        The names of the gauges that are not known any more.
    """

    def __init__(self, world: Readable, unknown: Set[int]) -> None:
        self._world = world
        self._unknown = unknown
        self._inner = LiveReader(world)
        self.left_out = False
        self.gauges: set[str] = set()
        self.view = View(world.system, self, world.instruments)

    def read(self, read: ColumnRead) -> Any:
        layout = self._world.system.layout
        if read.column == INSTRUMENTS:
            if read.what == "gauge" and read.detail[0] in self.gauges:
                raise NotRecorded(f"the gauge {read.detail[0]}")
        elif read.column >= layout.first:
            index = layout.node_of(read.column)
            if index in self._unknown:
                raise NotRecorded(f"{self._world.system.ids[index]}")
        return self._inner.read(read)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        try:
            return self._inner.nested(view, function, nodes)
        except NotRecorded:
            self.left_out = True
            return True

    def fold(self, gauges: Sequence[Gauge], step: TimedStep, number: int) -> None:
        """Fold a step into gauges, as far as these are known."""
        instruments = self._world.instruments
        assert instruments is not None, "who has gauges has instruments"
        for one in gauges:
            if one.name not in self.gauges:
                try:
                    fold([one], instruments, step, self.view, number=number)
                except NotRecorded:
                    self.gauges.add(one.name)

    def holds(self, prop: Property) -> bool:
        """Judge a property.

        Raises
        ------
        NotRecorded
            If the answer depends on what is not known.
        """
        self.left_out = False
        holds = prop.judge(self.view).holds
        if holds and self.left_out:
            raise NotRecorded("a node")
        return holds


@final
class SeenAnswer:
    """What a property says in the present state, as far as that is known."""

    def __init__(self, reader: SeenReader, prop: Property) -> None:
        self._reader = reader
        self._prop = prop

    def value(self) -> bool:
        """Return it; raise `NotRecorded` where nobody knows."""
        return self._reader.holds(self._prop)

    def retire(self) -> None:
        """Do nothing: who asks no more costs nothing."""
