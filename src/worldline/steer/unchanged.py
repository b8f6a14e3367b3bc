"""Since when nothing of a node has changed that properties look at.

A message tells that its sender has been on since its last checkpoint. It may have changed
nothing that matters; then the checkpoint still says what its neighbours want to know. So
beside each message stands the number of a checkpoint since which that is so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.steer.watched import Watched
from worldline.worlds.companions import Effects, ToldPeers

CHECKPOINT, SINCE = 1, 7
"""Beside a message: the number of its sender's last checkpoint, and of one since which
nothing has changed that properties look at."""

MOST_NUMBER = 1 << 48
"""What counts anything is less: whoever says more would let numbers run out."""


@final
class Unchanged:
    """Since which checkpoint nothing has changed in one life of a node.

    Attributes
    ----------
    changed_at
        The number of the checkpoint after which something has; None if nothing has since
        the one of `stands_since`.
    told
        Of `Attention`; all nodes are to be told again when something has changed.
    """

    __slots__ = ("_watched", "changed_at", "stands_since", "told")

    def __init__(self, watched: Watched, number: int) -> None:
        self._watched = watched
        self.stands_since = number
        # The first checkpoint of a life has a number that others may have had before.
        self.changed_at: int | None = number
        self.told: ToldPeers = {}

    def happened(
        self, event: Event, effects: Effects, number: int, *, timers: bool
    ) -> None:
        """Take note of an event.

        Parameters
        ----------
        number
            That of the last checkpoint.
        timers
            Whether other timers are set than before.
        """
        if self.changed_at is not None and self.changed_at >= number:
            return
        watched, written = self._watched, effects.written
        is_changed = written is None or any(map(watched.has, written))
        is_changed = is_changed or (watched.timers and timers)
        if watched.calls and not is_changed:
            is_changed = event.kind is Kind.CALL
        if is_changed:
            self.change(number)

    def change(self, number: int) -> None:
        """Take note that something has changed after the checkpoint of a number."""
        if self.changed_at is None or self.changed_at < number:
            self.changed_at = number
            self.told.clear()

    def since(self, number: int) -> int | None:
        """Return since which checkpoint nothing has changed; None if something has.

        Parameters
        ----------
        number
            That of the last one.
        """
        if self.changed_at is not None:
            if number <= self.changed_at:
                return None
            self.stands_since, self.changed_at = number, None
        return self.stands_since


def is_still_so(number: int, numbers: Mapping[int, int]) -> bool:
    """Say whether a checkpoint still tells what matters, by the numbers beside a message."""
    since = numbers.get(SINCE)
    return since is not None and number >= since
