"""A profile of a search: stopwatches by the sort of work.

Who does some work asks for it to be `timed` once, when it is made. `Untimed` gives back
what it got, so that a search without a profile runs the very same functions as if this
module did not exist; `Profile` gives back one that runs a stopwatch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, final

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

HANDLERS = "handlers"
FREEZING = "freezing and thawing"
OBSERVERS = "observers"
MAILBOXES = "mailboxes"
ENABLED = "enabled events"
PROPERTIES = "properties"
KERNEL = "kernel"
REST = "the rest"
SORTS = (
    HANDLERS,
    FREEZING,
    OBSERVERS,
    MAILBOXES,
    ENABLED,
    PROPERTIES,
    KERNEL,
    REST,
)
"""The sorts of work, in the order in which they are shown."""


class Untimed:
    """No profile: everything stays as it is."""

    def timed(self, sort: str, function: Callable[P, R]) -> Callable[P, R]:
        """Return `function`, or one that does the same and is timed."""
        return function

    def all_timed(self, sort: str, owner: T) -> T:
        """Return `owner`, or a stand-in whose functions are timed."""
        return owner


UNTIMED = Untimed()


@final
class Stopwatch:
    """The seconds spent in one sort of work, and how often it was begun."""

    __slots__ = ("count", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0


@final
class Profile(Untimed):
    """A stopwatch for each sort of work; only one runs at a time.

    Work inside other work is counted for the inner sort alone, so the seconds add up to
    those of the outermost function that is timed. Looking at the clock costs about 0.3
    microseconds a call, so what is short and frequent looks longer than it is.

    Parameters
    ----------
    clock
        Returns seconds, from any beginning.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.watches = {sort: Stopwatch() for sort in SORTS}
        self._clock = clock
        self._running = Stopwatch()
        self._since = 0.0

    def timed(self, sort: str, function: Callable[P, R]) -> Callable[P, R]:
        mine, clock = self.watches[sort], self._clock

        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            outer, now = self._running, clock()
            outer.seconds += now - self._since
            self._running, self._since = mine, now
            mine.count += 1
            try:
                return function(*args, **kwargs)
            finally:
                now = clock()
                mine.seconds += now - self._since
                self._running, self._since = outer, now

        return run

    def all_timed(self, sort: str, owner: T) -> T:
        stand_in: Any = _Timed(self, sort, owner)
        return stand_in  # type: ignore[no-any-return]

    def to_json(self) -> dict[str, dict[str, float]]:
        """Return seconds, share of the whole and count of each sort of work."""
        total = sum(watch.seconds for watch in self.watches.values())
        return {
            sort: {
                "seconds": round(watch.seconds, 3),
                "share": round(watch.seconds / total, 3) if total else 0.0,
                "count": watch.count,
            }
            for sort, watch in self.watches.items()
        }

    def lines(self) -> list[str]:
        """Return a table for people."""
        lines = ["  where the time went    seconds      %         count"]
        for sort, of in self.to_json().items():
            lines.append(
                f"    {sort:<20} {of['seconds']:8.2f} {of['share']:6.1%}"
                f" {of['count']:>13,}"
            )
        return lines


@final
class _Timed:
    """Stands for an object whose functions are all of one sort of work."""

    def __init__(self, profile: Profile, sort: str, owner: object) -> None:
        self._profile = profile
        self._sort = sort
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        timed = self._profile.timed(self._sort, getattr(self._owner, name))
        # The next time, Python finds it without asking here.
        self.__dict__[name] = timed
        return timed
