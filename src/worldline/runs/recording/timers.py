"""The timers of a recorded run: those that journals name, and those that nodes have set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from worldline.model.node import NodeType
from worldline.model.semantics.hidden import PendingTimer
from worldline.runs.recording.comparing import Unlike
from worldline.trace.journal.checkpoints import SavedTimer
from worldline.trace.journal.records import FiredRecord


@final
class RecordedTimers:
    """Finds the timer that a record speaks of: most have no payload, and are few."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], PendingTimer] = {}

    def of(self, what: FiredRecord | SavedTimer) -> PendingTimer:
        """Return the timer of a record."""
        part, name, payload = what[:3]
        if payload is not None:
            return PendingTimer(part, name, payload)
        timer = self._known.get((part, name))
        if timer is None:
            timer = self._known[part, name] = PendingTimer(part, name, None)
        return timer

    def fired(self, what: FiredRecord, pending: Iterable[PendingTimer]) -> PendingTimer:
        """Return the timer that fired, which has to be among those that are set.

        Raises
        ------
        Unlike
            If it is not.
        """
        timer = self.of(what)
        if timer not in pending:
            raise Unlike(
                "the timer", f"{timer!r} fired", f"those set are: {_all(pending)}"
            )
        return timer


def compare_timers(
    recorded: dict[PendingTimer, float], present: dict[PendingTimer, float]
) -> None:
    """Compare which timers are set with those that were.

    Raises
    ------
    Unlike
        If they are others.
    """
    if recorded.keys() != present.keys():
        raise Unlike("the timers that are set", _all(recorded), _all(present))


def check_timers(kind: NodeType, timers: Iterable[PendingTimer]) -> None:
    """Check that a node of a class can have timers that were written down.

    Raises
    ------
    Unlike
        If it has none such.
    """
    for timer in timers:
        owner: NodeType | None = kind
        for name in timer.part.split(".") if timer.part else ():
            owner = None if owner is None else owner.parts.get(name)
        if owner is None or timer.name not in owner.timers:
            raise Unlike("the timer", f"{timer!r} is set", "the node has none such")


def _all(timers: Iterable[PendingTimer]) -> str:
    return ", ".join(map(repr, timers)) or "none"
