"""The judge of a run that is steered: it looks at the whole system after each event.

What it says is independent of what any node knows or counts: the properties are asked of
the state of all nodes, as of a recording of them all.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.worlds.lasting import lasting
from worldline.worlds.simulation import Simulation
from worldline.worlds.standing import Standing

_KEPT = 128
"""Actions after which what there is is taken to last as long as the run."""


def safety_of(system: System) -> list[Property]:
    """Return the safety properties of a system."""
    return [p for p in system.properties if p.kind is PropertyKind.SAFETY]


@final
class Judge:
    """Counts what happens in a run, and what is violated in it.

    Attributes
    ----------
    actions
        Events, boot left out.
    begun
        By property, how often it became false.
    inconsistent
        States in which a property is false.
    first
        By property that became false, when it did for the first time, in virtual seconds.
    """

    def __init__(self, simulation: Simulation, properties: Iterable[Property]) -> None:
        world = simulation.world
        self.actions = self.inconsistent = 0
        self.begun: Counter[str] = Counter()
        self.first: dict[str, float] = {}
        self._simulation = simulation
        self._standing = Standing(world, world.series)
        self._asked = [(p.name, self._standing.of_property(p)) for p in properties]
        self._false: set[str] = set()

    def run(
        self, until: float, note: Callable[[Event], object] = lambda event: False
    ) -> None:
        """Let the run go on to a time, and judge each state.

        Parameters
        ----------
        note
            Is called with each event when the state after it has been judged; the run
            stops there if it returns True.

        Raises
        ------
        RuntimeError
            If a handler fails.
        """
        simulation = self._simulation
        with simulation.world.series, lasting() as keep:
            while simulation.advance(until):
                event = simulation.event
                if self.actions % _KEPT == 0:
                    gc.collect()  # what predictions have left behind does not last
                    keep()  # but their tables do
                if event.kind is not Kind.START:
                    self.actions += 1
                self._look()
                if note(event) is True:
                    return
        if simulation.world.failure is not None:
            raise RuntimeError(f"{simulation.event}: {simulation.world.failure}")

    def _look(self) -> None:
        world, alone = self._simulation.world, self._simulation.alone
        touched, world.touched = world.touched, set()
        if alone is not None:  # of which the world does not note it
            layout = world.system.layout
            touched |= {layout.local(alone), layout.hidden(alone)}
        if not self._standing.stands(touched):
            false = {name for name, answer in self._asked if not answer.value()}
            for name in sorted(false - self._false):
                self.begun[name] += 1
                self.first.setdefault(name, self._simulation.now)
            self._false = false
        if self._false:
            self.inconsistent += 1


@final
class Joins:
    """How long nodes take to join: from the call that begins it until they have joined.

    A node that is reset meanwhile begins again; so does one that is called again.

    Parameters
    ----------
    has_joined
        Says of a node object whether it has.

    Attributes
    ----------
    seconds
        Of each that was completed.
    """

    def __init__(
        self, simulation: Simulation, has_joined: Callable[[Any], bool]
    ) -> None:
        self.seconds: list[float] = []
        self._simulation = simulation
        self._has_joined = has_joined
        self._index = {node: i for i, node in enumerate(simulation.world.system.ids)}
        self._since: dict[int, float] = {}

    def note(self, event: Event) -> None:
        """Take note of an event that has happened."""
        if event.node is None:
            return
        index, now = self._index[event.node], self._simulation.now
        if event.kind is Kind.CALL:
            self._since[index] = now
        elif event.kind in (Kind.RESET, Kind.CRASH):
            self._since.pop(index, None)
        if index in self._since and self._has_joined(
            self._simulation.world.nodes[index]
        ):
            self.seconds.append(now - self._since.pop(index))


def mean_and_spread(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some numbers, and their standard deviation; 0 of none."""
    if not numbers:
        return 0.0, 0.0
    mean = sum(numbers) / len(numbers)
    return mean, (sum((n - mean) ** 2 for n in numbers) / len(numbers)) ** 0.5
