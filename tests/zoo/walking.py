"""Random walks, to see whether a system still becomes live from a state.

A walk is fair with probability one, so a system that can become live in few steps does
so in a long walk: MaceMC's argument for taking a state for dead if no walk from it
becomes live (sections 3 and 4.1 of its paper).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import PropertyKind
from worldline.worlds.direct import DirectWorld

WEIGHTS = {Kind.CALL: 20.0, Kind.TIMER: 1.0}
"""How likely events are, a delivery being ten: MaceMC's order of what is likely."""

Patterns: TypeAlias = Sequence[wl.events.Pattern]
MakeSystem: TypeAlias = Callable[[], wl.System]


def started(system: wl.System, schedule: Patterns = ()) -> DirectWorld:
    """Return a world in the state after a system's prologue and a schedule.

    Raises
    ------
    ModelError
        If the schedule is not legal. Faults are, whatever the budgets.
    """
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    world.prepare(system.prologue)
    world.prepare(tuple(schedule))
    return world


def failing(world: DirectWorld, names: Iterable[str] = ()) -> list[str]:
    """Return the liveness properties that are false now, of all or of `names`."""
    chosen = set(names)
    return [
        declared.name
        for declared in world.system.properties
        if declared.kind is PropertyKind.LIVENESS
        and (not chosen or declared.name in chosen)
        and not declared.judge(world.view).holds
    ]


def unsafe(world: DirectWorld) -> list[str]:
    """Return the safety properties that are false now, and the failure of a handler."""
    found = [
        declared.name
        for declared in world.system.properties
        if declared.kind is PropertyKind.SAFETY and not declared.judge(world.view).holds
    ]
    return found if world.failure is None else [*found, world.failure.kind]


class Walker:
    """Walks through a world at random.

    Parameters
    ----------
    bias
        Whether calls are likelier than deliveries, and those than timers.
    """

    def __init__(self, world: DirectWorld, seed: int, *, bias: bool = True) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.bias = bias
        self.steps = 0

    def step(self) -> Event | None:
        """Let one event happen; None if none is enabled."""
        events = self.world.enabled()
        if not events:
            return None
        weights = [WEIGHTS.get(e.kind, 10.0) if self.bias else 1.0 for e in events]
        event = self.random.choices(events, weights)[0]
        self.world.step(event, source=self._option)
        self.steps += 1
        return event

    def becomes_live(self, steps: int) -> bool:
        """Walk until all liveness properties hold; False if none of `steps` led there."""
        for _ in range(steps):
            if not failing(self.world):
                return True
            if self.step() is None:
                break
        return not failing(self.world)

    def _option(self, count: int, weights: tuple[float, ...] | None) -> int:
        return self.random.choices(range(count), weights)[0]


def recoveries(
    make: MakeSystem, schedule: Patterns, *, walks: int = 20, steps: int = 5_000
) -> int:
    """Return how many of some random walks become live after a schedule."""
    return sum(
        Walker(started(make(), schedule), seed).becomes_live(steps)
        for seed in range(walks)
    )
