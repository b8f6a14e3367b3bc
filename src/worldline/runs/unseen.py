"""Predicates over a run of which the state of some nodes is not known.

What reads such a node is not judged, unless it is false for others in any case: of a
``for_each`` form the elements that touch the node are left out. Histories and gauges follow
the events of all nodes, so they are unknown with the first of them, and messages under
way as long as one is: it may have sent some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import NotRecorded
from worldline.model.gauges import Gauge, TimedStep, fold
from worldline.model.properties import Property
from worldline.model.pure import Pure
from worldline.model.semantics.layout import ColumnKind
from worldline.model.view import ColumnRead, View
from worldline.worlds.direct import DirectWorld, LiveReader
from worldline.worlds.world import Readable, World


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
    has_lost
        Whether events are not known that histories would have.
    """

    def __init__(self, world: Readable, unknown: Set[int]) -> None:
        self._world = world
        self._unknown = unknown
        self._inner = LiveReader(world)
        self.left_out = False
        self.has_lost = False
        self.view = View(world.system, self, world.instruments)

    @property
    def gauges(self) -> Set[str]:
        """The names of the gauges that are not known any more."""
        instruments = self._world.instruments
        return frozenset() if instruments is None else instruments.unknown

    def read(self, read: ColumnRead) -> Any:
        system, column = self._world.system, read.column
        layout = system.layout
        if column >= layout.first:
            node = system.ids[layout.node_of(column)]
            if system.index[node] in self._unknown:
                raise NotRecorded(f"{node}")
            if self._unknown and layout.columns[column].kind is ColumnKind.INBOX:
                raise NotRecorded(f"what is under way to {node}")
        elif (
            self.has_lost
            and column >= 0
            and layout.columns[column].kind is ColumnKind.OBSERVER
        ):
            name = system.observers[layout.columns[column].index].name
            raise NotRecorded(f"the history {name}")
        return self._inner.read(read)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        try:
            return self._inner.nested(view, function, nodes)
        except NotRecorded:
            self.left_out = True
            return True

    def lose(self, gauges: Sequence[Gauge]) -> None:
        """Take note that events happen of which nothing is known."""
        if self._unknown:
            self.has_lost = True
            if self._world.instruments is not None:
                self._world.instruments.unknown.update(one.name for one in gauges)

    def resume(self, gauges: Sequence[Gauge]) -> None:
        """Let gauges go on that can begin in a state, once that is known."""
        instruments = self._world.instruments
        if self._unknown or instruments is None:
            return
        for one in gauges:
            if one.name in instruments.unknown and one.resume is not None:
                try:
                    instruments.gauges[one.name] = one.resumed(self.view)
                except NotRecorded:
                    continue
                instruments.unknown.discard(one.name)

    def fold(self, gauges: Sequence[Gauge], step: TimedStep, number: int) -> None:
        """Fold a step into gauges, as far as these are known."""
        instruments = self._world.instruments
        assert instruments is not None, "who has gauges has instruments"
        fold(gauges, instruments, step, self.view, number=number)

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


@final
class SeenRun:
    """What is known in each state of a trace of which journals are missing.

    Views of its world answer no more than that.

    Parameters
    ----------
    lost
        The step after which nothing is known of a node, by index; None for never.
    histories
        Whether histories lack events from the beginning on.

    Attributes
    ----------
    reader
        Answers what is known.
    unknown
        The indices of the nodes of which nothing is known now.
    """

    def __init__(
        self, world: DirectWorld, lost: Mapping[int, int | None], *, histories: bool
    ) -> None:
        self._gauges = world.system.gauges
        self._lost, self._histories = lost, histories
        self.unknown: set[int] = set()
        self.reader = SeenReader(world, self.unknown)
        world.view = self.reader.view
        self._never = {index for index, step in lost.items() if step is None}
        self._know(self._never)

    def come(self, step: int) -> None:
        """Come to the state after a step; gauges that fold it lack what is not known."""
        later = {n for n, at in self._lost.items() if at is not None and at < step}
        self._know(self._never | later)

    def _know(self, unknown: set[int]) -> None:
        self.unknown.clear()
        self.unknown.update(unknown)
        self.reader.has_lost = self._histories
        self.reader.lose(self._gauges)


def seen_of(world: World) -> SeenRun | None:
    """Return what is known in a world of a trace; None if all is."""
    system = world.system
    if system.unseen is None or not isinstance(world, DirectWorld):
        return None
    nodes, histories = system.unseen
    names = {node.name: index for index, node in enumerate(system.ids)}
    lost = {names[name]: step for name, step in nodes.items()}
    return SeenRun(world, lost, histories=histories)
