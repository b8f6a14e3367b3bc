"""From the steps of a trace back to the events of a system."""

from __future__ import annotations

from typing import TypeAlias, final

from worldline.model.events import Choices, Event, Kind
from worldline.model.identity import NodeId
from worldline.model.system import System
from worldline.trace.class_table import ClassTable
from worldline.trace.json_values import decode
from worldline.trace.records import BOOT, PROLOGUE, RUN, StepRecord, Trace


@final
class Events:
    """Gives the events of one system that steps speak of.

    Parameters
    ----------
    system
        The only source of nodes and classes.
    """

    def __init__(self, system: System) -> None:
        self._classes = ClassTable.of(system)

    def of(self, step: StepRecord) -> Event:
        """Return the event of a step; whether it can happen is not asked.

        Raises
        ------
        InputError
            If it names a node or a class that the system does not have.
        """
        return Event(
            Kind(step.kind),
            self._node(step.node),
            part=step.part,
            name=step.name,
            peer=self._node(step.peer),
            payload=decode(step.payload, self._classes),
        )

    def _node(self, name: str | None) -> NodeId | None:
        return None if name is None else self._classes.node(name)


Steps: TypeAlias = list[tuple[Event, Choices]]


def schedule_of(trace: Trace, system: System) -> tuple[Steps, Steps, Steps]:
    """Return a trace's boot, prologue and run as events of a system.

    Raises
    ------
    InputError
        If a step names a node or a class that the system does not have.
    """
    events = Events(system)
    found: dict[str, Steps] = {BOOT: [], PROLOGUE: [], RUN: []}
    for step in trace.steps:
        found[step.phase].append((events.of(step), step.choices))
    return found[BOOT], found[PROLOGUE], found[RUN]
