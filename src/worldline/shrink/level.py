"""The level of the smallest run: the events that it cannot lose."""

from __future__ import annotations

import itertools

from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.chunks import without
from worldline.shrink.matching import EXACT, Matching, Rung
from worldline.shrink.passes.removals import PairRemoval

AS_THEY_ARE = Matching("as they are", (Rung.CONTENT,), flushes=False)
"""All other events happen as they did, or not at all."""

ONE_MINIMAL, PAIR_MINIMAL = "1-minimal", "pair-minimal"
CLOSED_WORLD = "closed-world"


def level_of(campaign: Campaign) -> list[str]:
    """Return the levels that the best run has reached, the weakest first.

    What the passes have tried already is not run again.

    Raises
    ------
    BoundHit
        If a limit is reached before it is known.
    """
    steps = campaign.best.steps
    singles = (
        Candidate(without(steps, [(s,)]), matching)
        for s in steps
        for matching in (EXACT, AS_THEY_ARE)
    )
    if campaign.first_of(singles) is not None:
        return []
    if len(steps) > PairRemoval.most_steps:
        return [ONE_MINIMAL]
    pairs = itertools.combinations(steps, 2)
    doubles = (Candidate(without(steps, [(a,), (b,)]), EXACT) for a, b in pairs)
    if campaign.first_of(doubles) is not None:
        return []
    return [ONE_MINIMAL, PAIR_MINIMAL]
