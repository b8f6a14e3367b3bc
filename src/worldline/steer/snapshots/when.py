"""When a node gathers a snapshot: each interval, and when something has changed.

Each interval a node takes a new number, unless its number rose since the last time:
otherwise n nodes would make n numbers in each. What asks in between has a reason: a field
has changed, or the neighbourhood, or a neighbour that began by itself asked for a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

from worldline.steer.snapshots.options import GatherOptions
from worldline.worlds.companions import Beside


class Occasion(Protocol):
    """What the occasions of a node need of it."""

    def look(self) -> Any:
        """Return what calls for a snapshot when it changes."""

    def number(self) -> int:
        """Return the number of its last checkpoint."""

    def wait(self) -> float | None:
        """Return in how many seconds it may send something; None if nobody knows."""

    def begin(self, number: int, *, is_own: bool) -> bool:
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
        self._number_then = occasion.number()
        self._asked = -1
        self._began = -options.interval
        self._seen: Any = None
        self._is_forced = self._is_wanted = False
        self._call_off: Callable[[], None] | None = None
        beside.later(first, self._tick)

    def happened(self) -> None:
        """Take note that an event has happened at the node."""
        if self._gathers and self._call_off is None:
            self._plan()

    def forced(self) -> None:
        """Take note that a neighbour asked for a checkpoint of a new number."""
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
        wait = self._began + self._options.pause - self._beside.now
        if wait > 0:
            self._after(wait)
        else:
            if self._call_off is not None:
                self._call_off()
            self._look()

    def _look(self) -> None:
        self._call_off = None
        occasion, seen = self._occasion, self._occasion.look()
        if self._is_wanted or seen != self._seen:
            self._begin(occasion.number() + 1, seen, is_own=True)
        elif self._is_forced and occasion.number() > self._asked:
            self._begin(occasion.number(), seen, is_own=False)
        self._is_forced = False

    def _begin(self, number: int, seen: Any, *, is_own: bool) -> None:
        wait = self._occasion.wait()
        self._is_wanted |= is_own
        if wait:
            self._after(wait)
            return
        before = self._asked, self._began, self._seen
        # A gather that asks nobody is complete at once.
        self._asked, self._began, self._seen = number, self._beside.now, seen
        if wait is None or not self._occasion.begin(number, is_own=is_own):
            self._asked, self._began, self._seen = before
        else:
            self._is_wanted = False

    def _after(self, wait: float) -> None:
        if self._call_off is not None:
            self._call_off()
        self._call_off = self._beside.later(wait, self._look)

    def _tick(self) -> None:
        occasion, options = self._occasion, self._options
        self._beside.later(options.interval, self._tick)
        number = occasion.number()
        if self._gathers:
            rose, seen = number > self._number_then, occasion.look()
            if not rose:
                self._begin(number + 1, seen, is_own=True)
            elif number > self._asked:
                self._begin(number, seen, is_own=True)
        self._number_then = occasion.number()
        occasion.tell_received()
