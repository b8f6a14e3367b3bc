"""From the steps of a trace back to the events of a system."""

from __future__ import annotations

from typing import TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import InputError
from worldline.model.events import Choices, Event
from worldline.model.kinds import KINDS, Kind
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.outcome import TimerChange
from worldline.model.system import System
from worldline.trace.class_table import ClassTable
from worldline.trace.json_text import shorten, show
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
            If it names a node or a class that the system does not have, or its
            payload is none for its kind.
        """
        event = Event(
            KINDS[step.kind],
            self._node(step.node),
            part=step.part,
            name=step.name,
            peer=self._node(step.peer),
            payload=decode(step.payload, self._classes),
        )
        if not _is_consistent(event):
            raise InputError(
                f"there is no {step.kind} event of {step.name!r} at {step.node} about "
                f"{step.peer} with {shorten(show(step.payload), 60)}",
                remedy="the trace was edited; write it again",
            )
        return event

    def timers(self, step: StepRecord) -> list[TimerChange]:
        """Return the timers that a step set or cancelled, as it was recorded."""
        return [
            TimerChange(
                PendingTimer(one.part, one.name, decode(one.payload, self._classes)),
                one.after,
            )
            for one in step.timers
        ]

    def _node(self, name: str | None) -> NodeId | None:
        return None if name is None else self._classes.node(name)


def _is_consistent(event: Event) -> bool:
    """Say whether an event has what its kind needs, and nothing that it cannot have.

    A world compares most events with those that are enabled, but for some it looks
    only at what it needs to know.
    """
    if event.kind in (Kind.CALL, Kind.RESET):
        return isinstance(event.payload, tuple) and event.peer is None
    if event.kind is Kind.TIMER:
        return event.peer is None
    if event.kind is Kind.START:
        return (event.part, event.name, event.peer, event.payload) == (
            "",
            "",
            None,
            None,
        )
    if event.kind.is_about_message:
        return event.envelope is not None and event.name == type(event.payload).__name__
    return True


Steps: TypeAlias = list[tuple[Event, Choices]]


def schedule_of(trace: Trace, system: System) -> tuple[Steps, Steps, Steps]:
    """Return a trace's boot, prologue and run as events of a system.

    Raises
    ------
    InputError
        If a step names a node or a class that the system does not have.
    """
    events = Events(system)
    phases: dict[str, Steps] = {BOOT: [], PROLOGUE: [], RUN: []}
    for step in trace.steps:
        phases[step.phase].append((events.of(step), step.choices))
    return phases[BOOT], phases[PROLOGUE], phases[RUN]
