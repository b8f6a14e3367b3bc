"""The filters that stand at a node, for as long as the snapshots that they rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.properties import Property
from worldline.steer.steering.ages import SnapshotAges
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.forecasting import SnapshotForecast

_OFTEN = 5
"""Times that something is blocked, from which on it may be what keeps a node from going on."""


@final
@dataclass(frozen=True, slots=True)
class _Reason:
    """Why filters stand: a finding, and of its snapshot the time, and who is absent there."""

    finding: ForeseenFailure
    time: float
    is_known: bool
    absent: frozenset[str]


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
    properties
        What is not to fail.
    """

    __slots__ = (
        *("_ages", "_blocked", "_filters", "_lasts", "_precautions", "_reasons"),
        *("_soonest", "_spells", "_whole"),
    )

    def __init__(self, lasts: float, properties: Iterable[Property] = ()) -> None:
        self._lasts = lasts
        # Those that do not look at each node, or pair, by itself.
        self._whole = {one.name for one in properties if not one.names_forms}
        self._blocked: dict[EventFilter, tuple[float, float, int]] = {}
        self._spells: dict[EventFilter, tuple[float, int]] = {}
        self._ages = SnapshotAges(lasts)
        self._rest_on(())

    def __len__(self) -> int:
        return len(self._filters)

    def take(self, forecast: SnapshotForecast) -> int:
        """Let the filters of a forecast stand; return how many they are, or are new.

        Those of known paths stand beside others. Those that were predicted replace all that
        this prediction could have found again.
        """
        time, is_known = forecast.snapshot.time, forecast.is_known
        absent = frozenset(forecast.absent)
        before = () if not is_known else self._filters
        new = [_Reason(one, time, is_known, absent) for one in forecast.findings]
        self._ages.begin(time)
        if is_known:
            # Others hand the same path again and again: it is one reason, the latest.
            kept = [one for one in self._reasons if not _is_among(one, new)]
        else:
            kept = [one for one in self._reasons if self._outlasts(one, forecast)]
        self._rest_on((*kept, *new))
        return len({*forecast.filters} - {*before})

    def begin(self, time: float) -> None:
        """Take note of a snapshot that is not as the last one."""
        self._ages.begin(time)

    def renew(self, time: float, now: float) -> bool:
        """Let last longer what rests on the last snapshot: all is as it was there.

        So does what is still to be found from there.

        Returns
        -------
        bool
            Whether it has not been too long since.
        """
        if not self._ages.renew(time, now):
            return False
        self._rest_on(self._reasons)
        return True

    def is_stale(self, time: float, now: float) -> bool:
        """Say whether a snapshot is good for nothing any more."""
        return now > self._ages.ends(time)

    def _rest_on(self, reasons: Iterable[_Reason]) -> None:
        """Let those filters stand for which there is a reason."""
        self._reasons = tuple(one for one in reasons if one.finding.filters)
        self._filters = _filters(self._reasons)
        needed = _filters(one for one in self._reasons if not one.finding.needs_fault())
        self._precautions = {*self._filters} - {*needed}
        ends = (self._ages.ends(one.time) for one in self._reasons)
        self._soonest = min(ends, default=math.inf)

    def _outlasts(self, reason: _Reason, forecast: SnapshotForecast) -> bool:
        """Say whether a prediction could not have found again what filters stand against.

        It is bounded, and may come less far than a known path has led to from its snapshot.
        And it knows nothing of who is absent there: a snapshot for which a neighbour has not
        answered says nothing against what was seen coming when it had, of that one's steps, or
        against a property that is about several nodes at once.
        """
        if reason.is_known and reason.time >= forecast.snapshot.time:
            hopeless = (one for one in forecast.findings if one.action == "unhelpful")
            return all(one.property != reason.finding.property for one in hopeless)
        finding, absent = reason.finding, forecast.absent
        if finding.property in self._whole and not reason.absent.issuperset(absent):
            return True
        return not finding.actors().isdisjoint(absent)

    def blocking(self, event: Event, now: float) -> EventFilter | None:
        """Return a filter that blocks an event; None if none does."""
        if not self._filters:
            return None
        if now > self._soonest:
            self._rest_on(
                one for one in self._reasons if not self.is_stale(one.time, now)
            )
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


def _filters(reasons: Iterable[_Reason]) -> tuple[EventFilter, ...]:
    return tuple(dict.fromkeys(each for one in reasons for each in one.finding.filters))


def _is_among(reason: _Reason, new: Iterable[_Reason]) -> bool:
    """Say whether a known path has led to the same again, from no earlier snapshot."""
    return reason.is_known and any(
        one.finding == reason.finding and one.time >= reason.time for one in new
    )
