"""Attention: what a companion looks at in the events of one life, if that is little.

To ask a companion before and after each event, by the node and the event, costs more than
many an event. One that is told by `Companion.attention` of what it has to see is asked
no more than that: of plain handlers, those of which nothing has to be asked before, it
takes the numbers beside messages, and is asked about an event that has changed what it
looks at. All other events it sees as every companion does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.usercode.running import Series
from worldline.trace.journal.frames import Extensions

if TYPE_CHECKING:  # they name this in turn
    from worldline.worlds.companions import Effects, Instead


Vet: TypeAlias = (
    "Callable[[NodeId, Any, Effects, Series], tuple[Event, Instead] | None]"
)
"""Says what is to happen instead of a message that was handled, as `Companion.vet` does:
from whom, the message, what its handler has done, and the series in which it ran. The event,
which is undone then, with what happens instead; None to keep it."""


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
    news
        The fields, by name, of whose changes `passed` is to be told; None for all.
    vet
        Is asked about events, where the companion vets any.
    reads
        The fields, by name, about whose changes `vet` is to be asked; None for all.
    looks_at_timers
        Whether it is asked about an event that has set or cancelled a timer, too.
    """

    __slots__ = (
        *("is_due", "is_gated", "looks_at_timers", "news", "now", "reads", "vet"),
    )

    def __init__(self) -> None:
        self.is_gated, self.is_due, self.now = True, False, 0.0
        self.vet: Vet | None = None
        self.reads: frozenset[str] | None = None
        self.news: frozenset[str] | None = None
        self.looks_at_timers = True

    def begin(self, now: float) -> None:
        """Begin to take messages at a time."""
        self.now = now

    def came(self, peer: int, life: int, beside: Extensions | None) -> None:
        """Take note of a message that came from a node of an index; see `noticed`."""

    def beside(self, to: int, part: str, message: Any) -> Extensions | None:
        """Return the numbers beside a message to a node of an index; see `extensions`."""
        return None

    def passed(self) -> None:
        """Take note that events were handled whose effects have left; see `seen`."""
        self.is_due = False
