"""Knowledge of a recorded run, and of one that begins where some nodes are absent.

What is not known is *unseen*, as the model says. Of a recording of which journals are
missing, histories and gauges follow the events of all nodes, so they are unknown with
the first of them; an absent node has no events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import final

from worldline.model.errors import Unseen
from worldline.model.gauges import Gauge, TimedStep, fold
from worldline.model.properties import Property
from worldline.worlds.direct import DirectWorld
from worldline.worlds.reading import PartialReader
from worldline.worlds.world import Readable, World


@final
class SeenReader:
    """The properties and gauges of a run, as far as they are known.

    Parameters
    ----------
    unknown
        The indices of the nodes of which nothing is known; it changes.

    Attributes
    ----------
    view
        The present state, of which it shows what is known.
    """

    def __init__(self, world: Readable, unknown: Set[int]) -> None:
        self._world = world
        self._unknown = unknown
        self._reader = PartialReader(world, unknown)
        self.view = self._reader.view

    @property
    def has_lost(self) -> bool:
        """Whether events are not known that histories would have."""
        return self._reader.has_lost

    @property
    def gauges(self) -> Set[str]:
        """The names of the gauges that are not known any more."""
        instruments = self._world.instruments
        return frozenset() if instruments is None else instruments.unknown

    def lose(self, gauges: Sequence[Gauge]) -> None:
        """Take note that events happen of which nothing is known."""
        if self._unknown:
            self._reader.has_lost = True
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
                except Unseen:
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
        Unseen
            If the answer depends on what is not known.
        """
        return prop.judge(self.view).holds

    def begin(self, *, has_lost: bool) -> None:
        """Know again what histories would have, unless that was lost before."""
        self._reader.has_lost = has_lost


@final
class SeenAnswer:
    """What a property says in the present state, as far as that is known."""

    def __init__(self, reader: SeenReader, prop: Property) -> None:
        self._reader = reader
        self._prop = prop

    def value(self) -> bool:
        """Return it; raise `Unseen` where nobody knows."""
        return self._reader.holds(self._prop)

    def retire(self) -> None:
        """Do nothing: who asks no more costs nothing."""


@final
class SeenRun:
    """What is known in each state of a trace of which journals are missing.

    So it is of one that begins where nodes are absent, who stay so. Views of its world
    answer no more than that.

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
    absent
        The indices of the nodes that are absent.
    unknown
        Of these and of those of which nothing is known now.
    """

    def __init__(
        self, world: DirectWorld, lost: Mapping[int, int | None], *, histories: bool
    ) -> None:
        self._gauges = world.system.gauges
        self._lost, self._histories = lost, histories
        self.absent = world.absent
        self.unknown: set[int] = set()
        self.reader = SeenReader(world, self.unknown)
        world.view = self.reader.view
        self._never = {index for index, step in lost.items() if step is None}
        self._know(self._never)

    def come(self, step: int) -> None:
        """Come to the state after a step; gauges that fold it lack what is not known."""
        later = {n for n, at in self._lost.items() if at is not None and at < step}
        self._know(self._never | later)

    def _know(self, lost: set[int]) -> None:
        self.unknown.clear()
        self.unknown.update(lost)
        self.reader.begin(has_lost=self._histories)
        self.reader.lose(self._gauges)
        self.unknown.update(self.absent)


def seen_of(world: World) -> SeenRun | None:
    """Return what is known in a world of a trace; None if all is."""
    system = world.system
    if not isinstance(world, DirectWorld):
        return None
    if system.unseen is None:
        return SeenRun(world, {}, histories=False) if world.is_partial else None
    nodes, histories = system.unseen
    names = {node.name: index for index, node in enumerate(system.ids)}
    lost = {names[name]: step for name, step in nodes.items()}
    return SeenRun(world, lost, histories=histories)
