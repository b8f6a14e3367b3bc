"""Stages: passes that are about as dear, and when each has its turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from worldline.engine.garbage import few_collections
from worldline.shrink.campaign import Campaign
from worldline.shrink.progress import PassReport

_MADE = 2_000_000
"""Objects that are made between two collections of garbage: about 200 MB."""


class ShrinkPass(Protocol):
    """Proposes candidates of one sort.

    Attributes
    ----------
    name
        In reports.
    """

    @property
    def name(self) -> str: ...

    def apply(self, campaign: Campaign) -> None:
        """Propose candidates until none of them is smaller."""


Stages: TypeAlias = Sequence[Sequence[ShrinkPass]]
"""Passes, the cheap ones first."""


def shrink(campaign: Campaign, stages: Stages) -> None:
    """Apply passes until none makes the run smaller.

    After each success of a dear stage the cheaper ones have their turn again.

    Raises
    ------
    BoundHit
        If a limit is reached; the best run so far is the campaign's.
    """
    number = 0
    with few_collections(_MADE):  # what is remembered grows, and holds no cycles
        while number < len(stages):
            size = campaign.best.size
            for each in stages[number]:
                if _is_smaller_after(campaign, each) and number:
                    break
            number = 0 if campaign.best.size < size else number + 1


def _is_smaller_after(campaign: Campaign, applied: ShrinkPass) -> bool:
    """Apply a pass and report on it; say whether the best run is smaller then."""
    size, schedules = campaign.best.size, campaign.schedules
    executed, began = campaign.runner.executed, campaign.meter.seconds
    try:
        applied.apply(campaign)
    finally:
        campaign.reports.append(
            PassReport(
                applied.name,
                campaign.best.size.externals,
                campaign.best.size.deliveries,
                campaign.schedules - schedules,
                campaign.runner.executed - executed,
                campaign.meter.seconds - began,
            )
        )
    return campaign.best.size < size
