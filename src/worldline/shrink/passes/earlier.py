"""Moving events to an earlier place, after which others may not be needed."""

from __future__ import annotations

from typing import final

from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.matching import EXACT, LAST


@final
class Earlier:
    """Moves one event to each earlier place, of runs that are short enough."""

    name = "earlier"
    most_steps = 60

    def apply(self, campaign: Campaign) -> None:
        if len(campaign.best.steps) > self.most_steps:
            return
        for matching in (EXACT, LAST):
            later = len(campaign.best.steps) - 1
            while later > 0:
                steps = campaign.best.steps
                later = min(later, len(steps) - 1)
                moved, rest = steps[later], steps[later + 1 :]
                moves = (
                    (*steps[:place], moved, *steps[place:later], *rest)
                    for place in range(later)
                )
                if campaign.first_of(Candidate(m, matching) for m in moves) is None:
                    later -= 1
