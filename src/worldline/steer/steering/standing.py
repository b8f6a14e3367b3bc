"""The filters that stand at a node, for as long as the snapshot that they rest on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import final

from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.forecasting import SnapshotForecast

_OFTEN = 5
"""Times that something is blocked, from which on it may be what keeps a node from going on."""


@final
class StandingFilters:
    """The filters of one node.

    One that is a precaution, against what comes about only if a fault happens first, gives
    way once in a while: it may keep a node from what it does over and over, such as mending
    a ring, though nothing has gone wrong.

    Parameters
    ----------
    lasts
        Seconds for which a snapshot is good.
    """

    __slots__ = (
        *("_blocked", "_filters", "_known", "_lasts", "_precautions", "_spells"),
        "_until",
    )

    def __init__(self, lasts: float) -> None:
        self._lasts = lasts
        self._blocked: dict[EventFilter, tuple[float, float, int]] = {}
        self._spells: dict[EventFilter, tuple[float, int]] = {}
        self._filters: tuple[EventFilter, ...] = ()
        self._precautions: Collection[EventFilter] = ()
        self._until = 0.0
        # What known paths have led to, and the time of the snapshot from which they did.
        self._known: tuple[float, tuple[ForeseenFailure, ...]] = -math.inf, ()

    def __len__(self) -> int:
        return len(self._filters)

    def take(self, forecast: SnapshotForecast) -> int:
        """Let the filters of a forecast stand; return how many they are, or are new.

        Those of known paths stand beside others. Those that were predicted replace all, but
        for what known paths have led to from that snapshot: a prediction is bounded, and may
        not come as far again.
        """
        time, (since, known) = forecast.snapshot.time, self._known
        if not forecast.is_known:
            whole = forecast.along(known if since >= time else ())
            self.replace(whole.filters, time, whole.precautions)
            return len(forecast.filters)
        if time >= since:
            self._known = time, (*(known if time == since else ()), *forecast.findings)
        return self.put(forecast.filters, time, forecast.precautions)

    def replace(
        self,
        filters: Iterable[EventFilter],
        time: float,
        precautions: Collection[EventFilter] = (),
    ) -> None:
        """Let these stand alone, which rest on a snapshot of a time."""
        self._filters = tuple(dict.fromkeys(filters))
        self._precautions = precautions
        self._until = time + self._lasts

    def put(
        self,
        filters: Iterable[EventFilter],
        time: float,
        precautions: Collection[EventFilter] = (),
    ) -> int:
        """Let these stand, too; return how many did not."""
        added = tuple(filters)
        joined = tuple(dict.fromkeys((*self._filters, *added)))
        needed = {*self._filters} - {*self._precautions} | {*added} - {*precautions}
        self._precautions = {*joined} - needed
        new = len(joined) - len(self._filters)
        self._filters, self._until = joined, max(self._until, time + self._lasts)
        return new

    def renew(self, time: float) -> None:
        """Let stand longer what there is: all is as it was when a snapshot was taken."""
        if self._filters:
            self._until = max(self._until, time + self._lasts)

    def clear(self) -> None:
        """Let none stand."""
        self._filters = ()

    def blocking(self, event: Event, now: float) -> EventFilter | None:
        """Return a filter that blocks an event; None if none does."""
        if not self._filters:
            return None
        if now > self._until:
            self._filters = ()
            return None
        blocking = next((one for one in self._filters if one.matches(event)), None)
        if blocking is not None and not self._gives_way(blocking, now):
            first, _, count = self._blocked.get(blocking, (now, now, 0))
            self._blocked[blocking] = first, now, count + 1
            return blocking
        return None

    def _gives_way(self, blocking: EventFilter, now: float) -> bool:
        """Say whether a filter has blocked so often that it blocks for once no more."""
        if blocking not in self._precautions:
            return False
        first, count = self._spells.pop(blocking, (now, 0))
        if count >= _OFTEN and now - first > self._lasts:
            return True
        self._spells[blocking] = first, count + 1
        return False

    def stubborn(self) -> Iterator[tuple[EventFilter, float, int]]:
        """Yield what was blocked again and again, for longer than a snapshot is good.

        Each with the seconds from the first time to the last, and how often it was.
        """
        for blocking, (first, last, count) in self._blocked.items():
            if last - first > self._lasts and count >= _OFTEN:
                yield blocking, last - first, count
