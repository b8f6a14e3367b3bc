"""The times of a node's snapshots: an interval after the last, or with a reason to.

It does so under a new number, unless its number rose since the last time: otherwise n nodes
would make n numbers in each interval. It has reason to earlier when a field has changed, or
the neighbourhood, or when a neighbour at which something has changed forced a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

from worldline.steer.snapshots.options import GatherOptions
from worldline.worlds.companions import Beside

_GLANCE_S = 0.02
"""Seconds between two looks at what has changed, which take longer than most events."""


class Occasion(Protocol):
    """What the occasions of a node need of it."""

    def look(self) -> Any:
        """Return what calls for a snapshot when it changes."""

    def number(self) -> int:
        """Return the number of its last checkpoint."""

    def wait(self, *, has_news: bool) -> float | None:
        """Return in how many seconds it may gather; None if nobody knows."""

    def begin(self, number: int, *, has_news: bool) -> bool:
        """Begin a gather; say whether it could: one at a time."""

    def tell_received(self) -> None:
        """Tell peers what was received of them, if nothing else has."""


@final
class Occasions:
    """The occasions on which one life of a node gathers snapshots.

    Parameters
    ----------
    gathers
        Whether it gathers any; otherwise it answers alone.
    first
        Seconds until the first interval ends.
    """

    def __init__(
        self,
        occasion: Occasion,
        beside: Beside,
        options: GatherOptions,
        *,
        gathers: bool,
        first: float,
    ) -> None:
        self._occasion, self._beside, self._options = occasion, beside, options
        self._gathers = gathers
        self._asked = occasion.number()
        self._began = self._looked = -options.interval
        self._seen: Any = None
        self._is_forced = self._is_wanted = self._is_due = False
        self._call_off: Callable[[], None] | None = None
        self._no_tick: Callable[[], None] = beside.later(first, self._tick)
        beside.later(first, self._tell)

    def happened(self) -> None:
        """Take note that an event has happened at the node."""
        if self._gathers and self._call_off is None:
            self._plan()

    def forced(self) -> None:
        """Take note that a checkpoint was forced, and by news."""
        self._is_forced = True
        self.happened()

    def want(self) -> None:
        """Gather one as soon as that is possible."""
        self._is_wanted = True
        self._plan()

    def again(self) -> None:
        """Take note that a gather is over, and that something may have happened since."""
        self.happened()

    # ------------------------------------------------------------------------ inside

    def _plan(self) -> None:
        earliest = max(self._began + self._options.pause, self._looked + _GLANCE_S)
        wait = earliest - self._beside.now
        if wait > 0:
            self._after(wait)
        else:
            if self._call_off is not None:
                self._call_off()
            self._look()

    def _look(self) -> None:
        self._call_off, self._looked = None, self._beside.now
        occasion, seen = self._occasion, self._occasion.look()
        number = occasion.number()
        rose = number > self._asked
        if self._is_wanted or seen != self._seen:
            self._begin(number + 1, seen, has_news=True)
        elif self._is_forced and rose:
            self._begin(number, seen, has_news=False)
        elif self._is_due:
            self._begin(number if rose else number + 1, seen, has_news=False)
        self._is_forced = False

    def _begin(self, number: int, seen: Any, *, has_news: bool) -> None:
        wait = self._occasion.wait(has_news=has_news)
        self._is_wanted |= has_news
        if wait:
            self._after(wait)
            return
        before = self._asked, self._began, self._seen
        # A gather that asks nobody is complete at once.
        self._asked, self._began, self._seen = number, self._beside.now, seen
        if wait is None or not self._occasion.begin(number, has_news=has_news):
            self._asked, self._began, self._seen = before
            return
        self._is_wanted = self._is_due = False
        self._no_tick()
        self._no_tick = self._beside.later(self._options.interval, self._tick)

    def _after(self, wait: float) -> None:
        if self._call_off is not None:
            self._call_off()
        self._call_off = self._beside.later(wait, self._look)

    def _tick(self) -> None:
        if not self._gathers:
            return
        self._no_tick = self._beside.later(self._options.interval, self._tick)
        self._is_due = True
        self._plan()

    def _tell(self) -> None:
        self._beside.later(self._options.interval, self._tell)
        self._occasion.tell_received()
