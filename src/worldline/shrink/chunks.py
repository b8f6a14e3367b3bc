"""Leaving out parts of a run, large ones first (as delta debugging does).

References
----------
Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", TSE 2002. What
differs: parts are left out from the end of the run to its beginning, so that a candidate
has a long beginning in common with the best run, which is not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.matching import Matching
from worldline.shrink.steps import ShrunkStep

Bunch: TypeAlias = tuple[ShrunkStep, ...]
"""Steps that are left out together or not at all, in order."""

Bunches: TypeAlias = Callable[[Sequence[ShrunkStep]], list[Bunch]]
"""Returns what of a run may be left out, ordered by the first step of each."""


def each_step(steps: Sequence[ShrunkStep]) -> list[Bunch]:
    """Return every step for itself."""
    return [(step,) for step in steps]


def without(
    steps: Sequence[ShrunkStep], bunches: Sequence[Bunch]
) -> tuple[ShrunkStep, ...]:
    """Return a run without some of its steps."""
    left_out = {step.place for bunch in bunches for step in bunch}
    return tuple([step for step in steps if step.place not in left_out])


def leave_out(
    campaign: Campaign,
    bunches_of: Bunches,
    matching: Matching,
    *,
    share: int | None = None,
) -> None:
    """Leave out chunks of bunches, from all of them down to single ones.

    Parameters
    ----------
    share
        Chunks are no smaller than this part of all bunches: 16 for a sixteenth.
    """
    size = len(bunches_of(campaign.best.steps))
    least = 1 if share is None else max(1, size // share)
    while size >= least:
        _leave_out_chunks(campaign, bunches_of, matching, size)
        if size == 1:
            return
        size = (min(size, len(bunches_of(campaign.best.steps))) + 1) // 2


def _leave_out_chunks(
    campaign: Campaign, bunches_of: Bunches, matching: Matching, size: int
) -> None:
    bunches = bunches_of(campaign.best.steps)
    end = len(bunches)
    while end > 0:
        ends = range(end, 0, -size)
        chunks = (bunches[max(0, last - size) : last] for last in ends)
        steps = campaign.best.steps
        won = campaign.first_of(
            Candidate(without(steps, chunk), matching) for chunk in chunks
        )
        if won is None:
            return
        bunches = bunches_of(campaign.best.steps)
        end = min(ends[won] - size, len(bunches))
