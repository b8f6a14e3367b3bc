"""The searches of a minimisation, as many as its effort says."""

from __future__ import annotations

from typing import final

from worldline.minimizing.exhaustive import ShorterEnd, ShortRuns
from worldline.minimizing.fewest import Fewest, closed
from worldline.minimizing.options import Effort
from worldline.minimizing.original import Original
from worldline.model.system import System
from worldline.shrink.campaign import Campaign
from worldline.shrink.passes.backtracks import Backtracks
from worldline.shrink.stages import ShrinkPass

_FURTHER = 20
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
        Passes that need a search.
    further
        Passes that come last, since with high effort they may take minutes.
    """

    def __init__(self, original: Original, states: int, *, effort: Effort) -> None:
        self._original = original
        self._states = states
        self._runs: ShortRuns | None = None
        self._closed: ClosedWorld | None = None
        self.stages: list[tuple[ShrinkPass, ...]] = []
        self.further: list[tuple[ShrinkPass, ...]] = []
        is_high = effort == "high"
        if (original.prop or original.failure) is None or original.system.open_workload:
            self._states = 0
        else:
            self.stages.append((ShorterEnd(self._runs_of),))
        if original.start.absent:
            self._states = 0  # a smaller run may need what an absent node does
        if is_high:
            self._states *= _FURTHER
        if self._states:
            # Where runs are short, this finds in no time what others may never meet.
            self._closed = ClosedWorld(original, self._states)
            self.further.append((self._closed,))
        if is_high:
            self.further.append((Backtracks(_BACKTRACKED),))

    def least(self, campaign: Campaign) -> int | None:
        """Return how many deliveries every violating run has; None if unknown.

        A smaller run that is met becomes the best one.
        """
        snapshot = self._original.start.snapshot
        if not self._states or snapshot is None:
            return None
        if self._closed is not None and self._closed.is_everything:
            return self._closed.least
        return Fewest(self._runs_of(campaign), snapshot).search(campaign, self._states)

    def is_closed_world(self, campaign: Campaign) -> bool:
        """Say whether no run with the same calls is known to have fewer deliveries."""
        least = None if self._closed is None else self._closed.least
        return least is not None and least >= campaign.best.size.deliveries

    def _runs_of(self, campaign: Campaign) -> ShortRuns:
        """Return who searches the runs of the system that a campaign has now."""
        system = campaign.runner.world.system
        if self._runs is None or self._runs.world.system is not system:
            self._runs = searching(self._original, system)
        return self._runs


def searching(original: Original, system: System) -> ShortRuns:
    """Return who searches the runs of a system for what an original run violates."""
    what = original.prop or original.failure
    assert what is not None
    return ShortRuns(
        system,
        what,
        anywhere=original.start.is_anywhere,
        partial=bool(original.start.absent),
    )


@final
class ClosedWorld:
    """Searches the runs with no other calls than the best one.

    Attributes
    ----------
    least
        How many deliveries they have at least, as far as that was searched last; None
        if nobody knows.
    is_everything
        Whether there are no other runs: the best one makes all calls of scripts.
    """

    name = "closed world"

    def __init__(self, original: Original, states: int) -> None:
        self.least: int | None = None
        self.is_everything = False
        self._original = original
        self._states = states

    def apply(self, campaign: Campaign) -> None:
        snapshot = self._original.start.snapshot
        assert snapshot is not None
        whole = campaign.runner.world.system
        system = closed(whole, campaign)
        self.is_everything = system.scripts == whole.scripts
        runs = searching(self._original, system)
        self.least = Fewest(runs, snapshot).search(campaign, self._states)
