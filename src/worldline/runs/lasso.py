"""Checking that a run which ends in a cycle shows that a property is violated.

A liveness property is violated by a run that never ends, is weakly fair, and in which
it is false again and again. A trace has the run up to the cycle, and the cycle once;
an empty cycle says that the run stops. That this is so is checked on the real nodes.

Going round for ever is weakly fair if no event is passed over: one that could happen
before every step of the cycle, and never did. A timer that a step sets is not passed
over: it begins to wait anew, even if it was pending before and is pending after.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from worldline.model.events import Event, Schedule
from worldline.model.kinds import Kind
from worldline.model.properties import Property
from worldline.model.semantics.outcome import TimerChange
from worldline.runs.start import lead
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.world import Snapshot, World


@final
class Cycle:
    """Watches a world that goes round a cycle once.

    Parameters
    ----------
    world
        The world; when the cycle begins, call `look`.
    prop
        The property that is said to be violated.
    """

    def __init__(self, world: World, prop: Property) -> None:
        self._world = world
        self._prop = prop
        self._first: Snapshot | None = None
        self._passed_over: set[Event] = set()
        self._was_false = False

    def look(self) -> None:
        """Take note of the state before a step of the cycle."""
        enabled = self._enabled()
        if self._first is None:
            self._first = self._world.snapshot()
            self._passed_over = set(enabled)
        self._passed_over.intersection_update(enabled)
        self._was_false |= not self._prop.judge(self._world.view).holds

    def take(self, event: Event, timers: Iterable[TimerChange]) -> None:
        """Take note of the step that was made, and of the timers that it set."""
        self._passed_over.discard(event)
        for change in timers:
            if change.after is not None:
                part, name = change.timer.part, change.timer.name
                fires = Event(
                    Kind.TIMER,
                    event.node,
                    part=part,
                    name=name,
                    payload=change.timer.payload,
                )
                self._passed_over.discard(fires)

    def objection(self) -> str:
        """Return why this is no violation, now that the run is at its end; or ``""``."""
        name = self._prop.name
        if self._first is None:
            enabled = self._enabled()
            if enabled:
                return f"the run need not stop: {enabled[0]!r} can happen"
            holds = self._prop.judge(self._world.view).holds
            return f"{name} is true where the run stops" if holds else ""
        if self._world.snapshot() != self._first:
            return "the last state is not the one in which the cycle began"
        if not self._was_false:
            return f"{name} is true in every state of the cycle"
        for event in sorted(self._passed_over, key=repr):
            return f"the cycle is not fair: {event!r} can always happen and never does"
        return ""

    def _enabled(self) -> list[Event]:
        return [e for e in self._world.enabled() if not e.kind.is_fault]


def objection(
    world: World,
    boot: Schedule,
    prologue: Schedule,
    schedule: Schedule,
    *,
    prop: Property,
    cycle: int,
    begins: Checkpoint | None = None,
) -> str:
    """Return why a run does not violate a liveness property, or ``""`` if it does.

    Parameters
    ----------
    world
        A fresh world of the system.
    cycle
        The number of the step, from 1, with which the cycle begins.
    begins
        The state in which the run begins; None for the start.
    """
    lead(world, boot, prologue, begins)
    watched = Cycle(world, prop)
    for number, (event, choices) in enumerate(schedule, 1):
        if number < cycle:
            world.step(event, choices)
            continue
        watched.look()
        watched.take(event, world.step(event, choices).timers)
    return watched.objection()
