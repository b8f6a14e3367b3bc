"""Findings: what a node saw coming, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from worldline.model.counts import counted
from worldline.model.data.identity import NodeId
from worldline.model.events import Schedule
from worldline.model.filters import EventFilter
from worldline.model.foreseen import Action
from worldline.search.predicting.avoiding import needs_fault
from worldline.search.predicting.paths import KnownPath
from worldline.trace.records import Trace


@final
@dataclass(frozen=True, slots=True)
class Handed:
    """A path for another node, which can refuse a step of it."""

    to: NodeId
    path: KnownPath


@final
@dataclass(frozen=True, slots=True)
class ForeseenFailure:
    """A failure that may come.

    Attributes
    ----------
    node
        Who saw it coming.
    property
        What fails: a safety property, or how a handler does.
    schedule
        How it comes about, from the snapshot on.
    cost
        See `predict`.
    action, filters, handed
        What was done.
    trace
        The run, where whoever predicted has made it.
    """

    node: NodeId
    property: str
    schedule: Schedule
    cost: int
    action: Action
    filters: tuple[EventFilter, ...] = ()
    handed: Handed | None = None
    trace: Trace | None = None

    def actors(self) -> set[str]:
        """Return the names of those to whom its steps happen, or from whom they come."""
        both = [who for event, _ in self.schedule for who in (event.node, event.peer)]
        return {who.name for who in both if who is not None}

    def needs_fault(self) -> bool:
        """Say whether a fault has to happen before anything that is refused leads there."""
        for event, _ in self.schedule:
            if any(one.matches(event) for one in self.filters):
                return False
            if needs_fault(event):
                return True
        return False


@final
@dataclass(slots=True)
class FoundOften:
    """Equal findings of a run.

    Attributes
    ----------
    property
        What fails.
    count
        How often that was predicted.
    nodes
        Who saw it coming, by name.
    actions
        How often what was done.
    trace
        The shortest of the runs, from its snapshot on.
    steps, cost
        Of that.
    age
        Seconds from the snapshot that it begins in to the prediction.
    absent
        Of whom nothing was known there.
    file
        Where the trace was written.
    """

    property: str
    trace: Trace
    steps: int
    cost: int
    age: float
    absent: tuple[str, ...]
    count: int = 0
    nodes: dict[str, int] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    file: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "property": self.property,
            "count": self.count,
            "nodes": self.nodes,
            "actions": self.actions,
            "steps": self.steps,
            "cost": self.cost,
            "age": round(self.age, 6),
            "absent": list(self.absent),
            "trace": None if self.file is None else str(self.file),
        }

    def __str__(self) -> str:
        done = ", ".join(f"{what} {number}" for what, number in self.actions.items())
        where = "" if self.file is None else f"; {self.file}"
        return (
            f"{self.property} {counted(self.count, 'time')} ({done}), "
            f"in {counted(self.steps, 'step')}{where}"
        )
