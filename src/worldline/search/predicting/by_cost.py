"""A search by cost that notes at which cost each violation was found, and can go on.

It does not end at the first violation: there is a prediction for each property. So it
goes from cost to cost until a bound is hit, nothing is left, or every property is answered: a
safety property that is violated somewhere, and a `sometimes` that was asked for by name, or
beside no other, and is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

from worldline.engine.bounds import Bounds
from worldline.engine.exploration import Exploration, Hit

ALL_VIOLATED = "all violated"
"""The bound of a prediction that has a violation of every property."""

ALL_ANSWERED = "all answered"
"""That of one which has reached properties, too, and violates all others."""


@final
@dataclass(frozen=True, slots=True)
class Found:
    """What was found, and when.

    Attributes
    ----------
    hit
        How to get there.
    cost, states
        That of the state, and how many states had been visited when it was noted.
    """

    hit: Hit
    cost: int
    states: int


@final
class SearchByCost:
    """A search by cost, and what it has found.

    Parameters
    ----------
    search
        The search; it does not end at a violation.
    strategy
        Explores by cost, and goes on where it stood.
    by_name
        Whether its properties were asked for by their names.

    Attributes
    ----------
    hits, failures
        For each check that was met, and for each kind of failure, where.
    """

    def __init__(
        self,
        search: Exploration,
        strategy: Callable[[Exploration], None],
        *,
        by_name: bool = False,
    ) -> None:
        self.search = search
        self.hits: dict[int, Found] = {}
        self.failures: dict[str, Found] = {}
        self._strategy = strategy
        checks = dict(enumerate(search.checks))
        fatal = {number for number, check in checks.items() if check.fatal}
        self._open = fatal if fatal and not by_name else {*checks}
        self._end = ALL_VIOLATED if self._open <= fatal else ALL_ANSWERED

    def run(self, bounds: Bounds) -> None:
        """Search on to these bounds; the meter is the search's own."""
        search, statistics = self.search, self.search.statistics
        if self._is_answered():
            search.bound = self._end
            return
        limit, first = bounds.cost, not statistics.states
        while True:
            cost = 0 if first else statistics.cost + 1
            is_last = limit is not None and cost >= limit
            cost = limit if limit is not None and is_last else cost
            ended, first = self._search_to(replace(bounds, cost=cost)), False
            # Whatever is new cost more than what had been visited before.
            self.note(cost)
            if ended != "cost" or is_last:
                return
            if self._is_answered():
                search.bound = self._end
                return

    def _search_to(self, bounds: Bounds) -> str | None:
        """Search to a cost; return what ended it."""
        self.search.bounds, self.search.bound = bounds, None
        self.search.run(self._strategy)
        return self.search.bound

    def _is_answered(self) -> bool:
        """Whether there is nothing more to be found out about properties."""
        return bool(self._open) and self._open <= self.hits.keys()

    def note(self, cost: int) -> None:
        """Note at which cost something was found since the last look."""
        search, states = self.search, self.search.statistics.states
        for number, hit in search.hits.items():
            self.hits.setdefault(number, Found(hit, cost, states))
        for kind, hit in search.failures.items():
            self.failures.setdefault(kind, Found(hit, cost, states))
