"""A search by cost that notes at which cost each violation was found, and can go on.

It does not end at the first violation: there is a prediction for each property. So it
goes from cost to cost until a bound is hit, nothing is left, or every property is answered: a
safety property that is violated somewhere, and a `sometimes` that was asked for by name, or
beside no other, and is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

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
        self._has_begun = False
        """Whether all initial states were judged."""
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
        limit = bounds.cost
        while True:
            # Where nothing waits at the next cost, that of what waits comes next.
            cost = max(statistics.cost, search.next_cost) + 1 if self._has_begun else 0
            is_last = limit is not None and cost >= limit
            cost = limit if limit is not None and is_last else cost
            ended = self._search_to(replace(bounds, cost=cost))
            # Whatever is new cost more than what had been visited before.
            self.note(cost)
            self._has_begun |= ended == "cost"
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
        kinds: list[tuple[dict[Any, Found], dict[Any, Hit]]]
        kinds = [(self.hits, search.hits), (self.failures, search.failures)]
        for known, met in kinds:
            for what, hit in met.items():
                # A cost that was cut by a bound is gone on with.
                if what not in known or known[what].cost == cost:
                    known[what] = Found(hit, cost, states)
