"""Several ways at once: each goes on from the same run by itself, and the smallest counts.

For what cannot be a batch of candidates since each one is made of what came of the last.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, final

from worldline.engine.bounds import BoundHit, bound_that_ended
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import ShrunkRun
from worldline.shrink.crossing import Crossing
from worldline.shrink.spread import Spread
from worldline.shrink.stages import ShrinkPass
from worldline.shrink.steps import ShrunkStep, size_of


class _Outcome(NamedTuple):
    """What came of one way: a run, or what another process has written of it."""

    run: ShrunkRun | bytes
    schedules: int
    events: int
    bound: str | None


@final
class Several:
    """Applies each of some passes to the best run, in processes of their own.

    Each has its share of the events that are left. All are counted, on one core as on
    several.
    """

    def __init__(self, name: str, passes: Sequence[ShrinkPass]) -> None:
        self.name = name
        self._passes = passes

    def apply(self, campaign: Campaign) -> None:
        campaign.check()
        outcomes: list[_Outcome] = []
        here, first = os.getpid(), campaign.best
        crossing = Crossing(campaign.runner.world, first)
        left = campaign.events_left
        share = None if left is None else max(1, left // len(self._passes))

        def work(number: int) -> _Outcome:
            outcome = _alone(campaign, first, self._passes[number], share)
            if os.getpid() == here or isinstance(outcome.run, bytes):
                return outcome
            return outcome._replace(run=crossing.spell_run(outcome.run))

        def done(number: int, outcome: _Outcome) -> None:
            outcomes.append(outcome)
            if outcome.bound == "interrupted":
                spread.stop()

        spread = Spread(work, campaign.processes, done)
        spread.run(len(self._passes))
        _take_smallest(campaign, outcomes, crossing)


def _alone(
    campaign: Campaign, first: ShrunkRun, applied: ShrinkPass, share: int | None
) -> _Outcome:
    """Apply a pass to a run in a campaign of its own, which counts nothing here."""
    runner = campaign.runner
    before = runner.executed
    most = None if share is None else before + share
    alone = Campaign(runner, first, campaign.meter, most_events=most)
    bound = bound_that_ended(lambda: applied.apply(alone))
    events, runner.executed = runner.executed - before, before
    return _Outcome(alone.best, alone.schedules, events, bound)


def _take_smallest(
    campaign: Campaign, outcomes: Sequence[_Outcome], crossing: Crossing
) -> None:
    """Count what was done; go on with the smallest run, of several the first."""
    smallest: tuple[ShrunkStep, ...] | None = None
    for outcome in outcomes:
        campaign.schedules += outcome.schedules
        campaign.runner.executed += outcome.events
        if isinstance(outcome.run, bytes):
            steps, _ = crossing.read_run(outcome.run)
        else:
            steps = outcome.run.steps
        if smallest is None or size_of(steps) < size_of(smallest):
            smallest = steps
    if smallest is not None and size_of(smallest) < campaign.best.size:
        campaign.best = campaign.runner.marked(smallest, campaign.best)
    for outcome in outcomes:
        if outcome.bound not in (None, "events"):
            raise BoundHit(str(outcome.bound))
    campaign.check()
