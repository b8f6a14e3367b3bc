"""Attention: what a companion looks at in the events of one life, if that is little.

To ask a companion before and after each event, by the node and the event, costs more than
many an event. One that is told by `Companion.attention` of what it has to see is asked
no more than that: of plain handlers, those of which nothing has to be asked before, it
takes the numbers beside messages, and is asked about an event that has changed what it
looks at. All other events it sees as every companion does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.usercode.running import Series

if TYPE_CHECKING:  # they name this in turn
    from worldline.worlds.companions import Effects, Instead

NO_NUMBERS: Mapping[int, int] = {}
"""What stands beside a message of somebody without companions."""


class Attention:
    """The attention of a companion to the plain events of one life of a node.

    Attributes
    ----------
    is_gated
        Whether the next event is to be seen as a whole, by `gate`, `vet` and `seen`.
    is_due
        Whether `passed` is to be called though nothing has been written.
    now
        The time of the node when its present turn began.
    reads
        The fields, by name, about whose changes `vet` is to be asked; None for all.
    looks_at_timers
        Whether it is asked about an event that has set or cancelled a timer, too.
    """

    __slots__ = ("is_due", "is_gated", "looks_at_timers", "now", "reads")

    def __init__(
        self, reads: Collection[str] | None = None, *, looks_at_timers: bool = True
    ) -> None:
        self.is_gated, self.is_due, self.now = True, False, 0.0
        self.reads = None if reads is None else frozenset(reads)
        self.looks_at_timers = looks_at_timers

    def begin(self, now: float) -> None:
        """Begin to take messages at a time."""
        self.now = now

    def came(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of a message that came from a node of an index; see `noticed`."""

    def beside(self, to: int, part: str, message: Any) -> dict[int, int] | None:
        """Return the numbers beside a message to a node of an index; see `extensions`."""
        return None

    def vet(
        self, src: NodeId, message: Any, effects: Effects, series: Series
    ) -> tuple[Event, Instead] | None:
        """Return what is to happen instead of a message that was handled; see `Companion.vet`.

        Parameters
        ----------
        effects
            What its handler has done.
        series
            In which it ran, and in which user code may run that judges it.

        Returns
        -------
        tuple or None
            The event, which is undone then, with what happens instead; None to keep it.
        """
        return None

    def passed(self) -> None:
        """Take note that events were handled whose effects have left; see `seen`."""
        self.is_due = False

    def is_about(self, written: Collection[str], *, has_timers: bool) -> bool:
        """Say whether `vet` is to be asked about an event that has written fields."""
        reads = self.reads
        if has_timers and self.looks_at_timers:
            return True
        return bool(written) if reads is None else not reads.isdisjoint(written)
