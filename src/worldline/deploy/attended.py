"""Events of a node as far as a companion attends to them: what they have changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import final

from worldline.deploy.door import HostDoor
from worldline.deploy.turn import Leaving
from worldline.model.semantics.hidden import PendingTimer
from worldline.worlds.companions import Attention


@final
class AttendedEvents:
    """What the events of a node have changed, for a companion that attends to some of it.

    Parameters
    ----------
    door
        Has what a handler did.

    Attributes
    ----------
    attention
        What the companion attends to.
    idle
        What was written last of what nobody wants to know: the same object again is the
        same fields.
    """

    __slots__ = ("_door", "attention", "idle")

    def __init__(self, attention: Attention, door: HostDoor) -> None:
        self.attention, self._door = attention, door
        self.idle: Collection[str] | None = ()

    def looked_at(self) -> frozenset[str] | None:
        """Return the fields that it looks at; None if it may want to know of any event."""
        one = self.attention
        if one.news is None or one.vet is None:
            return one.news
        # Whoever sets a timer that is looked at may have to be undone.
        return (
            None if one.reads is None or one.looks_at_timers else one.news | one.reads
        )

    def is_about(self, written: Collection[str], fired: PendingTimer | None) -> bool:
        """Say whether `vet` wants to be asked about an event.

        Parameters
        ----------
        written
            The fields that it has changed.
        fired
            The timer of which it is; None if it is of none.
        """
        if written is not self.idle:
            reads, news = self.attention.reads, self.attention.news
            if written and (reads is None or not reads.isdisjoint(written)):
                return True
            if type(written) is tuple and news is not None and news.isdisjoint(written):
                self.idle = written
        is_timed = fired is not None or self._door.timers
        return bool(is_timed) and self._changes_timers(fired)

    def _changes_timers(self, fired: PendingTimer | None) -> bool:
        """Say whether other timers are set now, if anybody looks at them."""
        if not self.attention.looks_at_timers:
            return False
        door, is_set = self._door, fired is None
        for timer, after in door.timers:
            if timer is fired or timer == fired:  # as most set themselves again
                is_set = after is not None
            elif (timer in door.pending) is (after is None):
                return True
        return not is_set

    def passed(self, leaving: Leaving, written: Collection[str] | None) -> None:
        """Have the companion told that an event has passed, if it wants to know of that."""
        attention = self.attention
        if written is self.idle and not attention.is_due:
            return
        news = attention.news
        is_new = written and (news is None or not news.isdisjoint(written))
        if is_new or written is None or attention.is_due:
            leaving.attention = attention
        elif attention.vet is None and type(written) is tuple:
            self.idle = written
