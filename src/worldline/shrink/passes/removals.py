"""Leaving out events: external ones, others, all, each under some way to match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.model.kinds import Kind
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.chunks import Bunch, Bunches, each_step, leave_out, without
from worldline.shrink.matching import EXACT, LADDER, Matching
from worldline.shrink.steps import ShrunkStep

DUALS = {Kind.RESTART: Kind.CRASH, Kind.HEAL: Kind.PARTITION}
"""What undoes what: the two are left out together first."""

_LADDER_SHARE = 16


def externals(steps: Sequence[ShrunkStep]) -> list[Bunch]:
    """Return what the environment injects; a crash with its restart, and so on."""
    bunches: list[list[ShrunkStep]] = []
    opened: dict[tuple[Kind, int], list[ShrunkStep]] = {}
    for step in steps:
        kind, index = step.known.event.kind, step.known.index
        if not kind.is_external:
            continue
        begun = opened.pop((DUALS[kind], index), None) if kind in DUALS else None
        if begun is not None:
            begun.append(step)
            continue
        bunches.append([step])
        if kind in DUALS.values():
            opened[kind, index] = bunches[-1]
    return [tuple(bunch) for bunch in bunches]


def single_externals(steps: Sequence[ShrunkStep]) -> list[Bunch]:
    """Return what the environment injects, each event for itself."""
    return [(step,) for step in steps if step.known.event.kind.is_external]


def internals(steps: Sequence[ShrunkStep]) -> list[Bunch]:
    """Return what the system does by itself."""
    return [(step,) for step in steps if not step.known.event.kind.is_external]


@final
class Removal:
    """Leaves out chunks of some of the events, down to single ones."""

    def __init__(self, name: str, bunches: Bunches, matching: Matching) -> None:
        self.name = name
        self._bunches = bunches
        self._matching = matching

    def apply(self, campaign: Campaign) -> None:
        leave_out(campaign, self._bunches, self._matching)


@final
class Ladder:
    """Leaves out chunks of all events, on each rung of the ladder of matching.

    The smallest chunks are a sixteenth of the run: of the rest, smaller ones on every
    rung take long and are worth nothing.
    """

    name = "ladder"

    def apply(self, campaign: Campaign) -> None:
        for matching in LADDER:
            leave_out(campaign, each_step, matching, share=_LADDER_SHARE)


@final
class PairRemoval:
    """Leaves out two events at once, of runs that are short enough."""

    name = "pairs"
    most_steps = 80

    def __init__(self, matching: Matching = EXACT) -> None:
        self._matching = matching

    def apply(self, campaign: Campaign) -> None:
        if len(campaign.best.steps) > self.most_steps:
            return
        last = len(campaign.best.steps) - 1
        while last > 0:
            steps = campaign.best.steps
            last = min(last, len(steps) - 1)
            rests = (
                without(steps, [(steps[first],), (steps[last],)])
                for first in reversed(range(last))
            )
            if campaign.first_of(Candidate(r, self._matching) for r in rests) is None:
                last -= 1
