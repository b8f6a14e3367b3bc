"""Audits of a predictor's assumptions: a small share of its time."""

from __future__ import annotations

from typing import final

from worldline.search.predicting.by_cost import SearchByCost
from worldline.search.question import SearchQuery
from worldline.worlds.purity.sample import HandlerKey, handler_of

STATES_PER_AUDIT = 200_000
"""States that are judged for each audit but the first, which takes as long as a few
thousand of them."""


@final
class Auditing:
    """The audits of one predictor, which keeps its tables for many predictions.

    All is audited at first, and again when the tables have doubled, but not more often
    than once for so many states. A handler that was not met before is audited at once.
    So none goes without, and who predicts for hours does little else. That is a matter
    of counts, not of time: the same predictions are audited in every run.
    """

    def __init__(self) -> None:
        self._states = self._audits = 0
        self._met: set[HandlerKey] = set()
        self.begin_anew()

    def begin_anew(self) -> None:
        """Note that tables are empty; the handlers that fill them are the same."""
        self._audited = self._seen = 0

    def audit(self, query: SearchQuery, by_cost: SearchByCost, states: int) -> None:
        """Check samples of what a prediction, of so many states, took for granted."""
        self._states += states
        leaves = query.world.tables.leaves
        entries = [leaf.entry for leaf in leaves[self._seen :]]
        handlers = {handler_of(one.event) for one in entries if one.column >= 0}
        fresh = handlers - self._met
        self._met |= fresh
        self._seen = len(leaves)
        has_grown = self._seen >= 2 * self._audited
        if has_grown and self._states >= STATES_PER_AUDIT * self._audits:
            self._audits += 1
            self._audited = max(1, self._seen)
            query.verify(by_cost.search)
        elif fresh:
            query.verify_handlers(by_cost.search, fresh)
