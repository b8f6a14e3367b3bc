"""The searches of a minimisation, as many as its effort says."""

from __future__ import annotations

from typing import final

from worldline.minimizing.exhaustive import ShorterEnd, ShortRuns
from worldline.minimizing.fewest import Fewest, closed
from worldline.minimizing.options import Effort
from worldline.minimizing.original import Original
from worldline.shrink.campaign import Campaign, ShrinkPass
from worldline.shrink.passes.backtracks import Backtracks

_FURTHER = 100
"""How many times as many states a search visits with high effort."""

_BACKTRACKED = 1_000_000
"""Events that are executed in vain for other orders of messages."""


@final
class Searches:
    """What looks for smaller runs, and for a proof that there are none.

    Parameters
    ----------
    states
        How many states are visited for a lower bound; 0 for none.

    Attributes
    ----------
    stages
        Passes that need a search, the cheap ones first.
    """

    def __init__(self, original: Original, states: int, *, effort: Effort) -> None:
        self._original = original
        self._is_high = effort == "high"
        self._states = states * (_FURTHER if self._is_high else 1)
        self._runs: ShortRuns | None = None
        self._closed: ClosedWorld | None = None
        self.stages: list[tuple[ShrinkPass, ...]] = []
        what = original.prop or original.failure
        if what is not None and not original.system.open_workload:
            anywhere = original.start.begins is not None
            self._runs = ShortRuns(original.system, what, anywhere=anywhere)
            self.stages.append((ShorterEnd(self._runs),))
            if self._is_high and states:
                self._closed = ClosedWorld(original, self._states)
                self.stages.append((self._closed,))
        if self._is_high:
            self.stages.append((Backtracks(_BACKTRACKED),))

    def least(self, campaign: Campaign) -> int | None:
        """Return how many deliveries every violating run has; None if unknown.

        A smaller run that is met becomes the best one.
        """
        snapshot = self._original.start.snapshot
        if self._runs is None or not self._states or snapshot is None:
            return None
        return Fewest(self._runs, snapshot).search(campaign, self._states)

    def is_closed_world(self, campaign: Campaign) -> bool:
        """Say whether no run with the same calls is known to have fewer deliveries."""
        least = None if self._closed is None else self._closed.least
        return least is not None and least >= campaign.best.size.deliveries


@final
class ClosedWorld:
    """Searches the runs with no other calls than the best one.

    Attributes
    ----------
    least
        How many deliveries they have at least, as far as that was searched last; None
        if nobody knows.
    """

    name = "closed world"

    def __init__(self, original: Original, states: int) -> None:
        self.least: int | None = None
        self._original = original
        self._states = states

    def apply(self, campaign: Campaign) -> None:
        original = self._original
        what, snapshot = original.prop or original.failure, original.start.snapshot
        assert what is not None
        assert snapshot is not None
        runs = ShortRuns(
            closed(original.system, campaign),
            what,
            anywhere=original.start.begins is not None,
        )
        self.least = Fewest(runs, snapshot).search(campaign, self._states)
