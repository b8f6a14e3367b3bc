"""Random changes to a run, small and combined: a way out where no single one helps.

Runs of the same size take each other's place, sometimes longer ones, too; so this
wanders about among them until one comes up that is smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import ShrunkRun
from worldline.shrink.matching import ANY_LAST, BY_FINGERPRINT, EXACT, LAST
from worldline.shrink.passes.changes import RandomChanges
from worldline.shrink.steps import ShrunkStep, Size, size_of
from worldline.shrink.wishes import Wanted

_MATCHINGS = (EXACT, BY_FINGERPRINT, LAST, LAST, ANY_LAST)

_DEPARTURES = 4
"""How often it sets out from the smallest run anew before its patience is at an end."""

_PER_LONGER = 30
"""For each so many deliveries of the smallest run, others may have one more."""


@final
class Mutations:
    """Changes a run at random.

    Each time it sets out, it first wanders among runs that may have a few deliveries more
    than the smallest one, then among those that have none more. The random numbers begin
    anew at each call, and what is no better in the end is given up; so to minimise once
    more changes nothing.

    Parameters
    ----------
    patience
        Candidates without a smaller run among them, after which it ends: so many for
        each event of the run.
    most_steps
        Runs that are longer are left as they are.
    """

    name = "mutations"

    def __init__(self, patience: int = 64, most_steps: int = 300) -> None:
        self._patience = patience
        self._most_steps = most_steps

    def apply(self, campaign: Campaign) -> None:
        if len(campaign.best.steps) > self._most_steps:
            return
        changes = RandomChanges(campaign.runner.world, len(campaign.best.steps))
        present, tried = campaign.best, 0
        while tried < self._patience * len(campaign.best.steps):
            apart = self._patience * len(campaign.best.steps) // _DEPARTURES
            if tried % apart == 0:
                present = campaign.best
            roams = tried % apart < apart * 2 // 3
            slack = 1 + campaign.best.size.deliveries // _PER_LONGER if roams else 0
            tried += 1
            wandered = self._wandered(campaign, present, changes, slack)
            if wandered is not None:
                present = wandered
                if present.size < campaign.best.size:
                    campaign.best = present
                    tried = 0

    def _wandered(
        self, campaign: Campaign, present: ShrunkRun, changes: RandomChanges, slack: int
    ) -> ShrunkRun | None:
        """Return another run to go on with, if a change to the present one leads to it."""
        wanted: list[Wanted] = list(present.steps)
        for _ in range(changes.rng.choice((1, 2, 2, 3, 4))):
            changes.change(wanted)
        most = campaign.best.size.deliveries + slack
        matching = changes.rng.choice(_MATCHINGS)
        executed, is_met = campaign.executed_of(wanted, matching, present, most=most)
        if not is_met or _is_same(executed, present.steps):
            return None
        best = campaign.best.size
        largest = Size(most + 1, 0, 0) if slack else best
        if size_of(executed).length > largest.length:
            return None
        return campaign.runner.marked(executed, present)


def _is_same(steps: Sequence[ShrunkStep], others: Sequence[ShrunkStep]) -> bool:
    return len(steps) == len(others) and all(
        one.known is other.known for one, other in zip(steps, others, strict=True)
    )
