"""Leaving out what leads nowhere: from a state to an equal one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from worldline.model.semantics.layout import ColumnKind
from worldline.model.system import System
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.matching import EXACT

_MOST_DETOURS = 64
"""Detours between states in which all but mail is equal that are tried, longest first."""


@final
class Detours:
    """Cuts out what lies between two equal states.

    States that are equal but for what is under way come second: there the rest of the
    run may lack a message.
    """

    name = "equal states"

    def apply(self, campaign: Campaign) -> None:
        system = campaign.runner.world.system
        for columns in (range(system.layout.width), _but_mail(system)):
            while self._cut(campaign, columns):
                pass

    def _cut(self, campaign: Campaign, columns: Sequence[int]) -> bool:
        run = campaign.best
        keys = [
            tuple(state[column] for column in columns)
            for state in campaign.runner.states(run)
        ][:-1]
        lasts = {key: place for place, key in enumerate(keys)}
        detours = sorted((place - lasts[key], place) for place, key in enumerate(keys))
        cuts = (
            (*run.steps[:place], *run.steps[place - length :])
            for length, place in detours[:_MOST_DETOURS]
            if length
        )
        return campaign.first_of(Candidate(cut, EXACT) for cut in cuts) is not None


def _but_mail(system: System) -> list[int]:
    kinds: list[Any] = [column.kind for column in system.layout.columns]
    without = (ColumnKind.INBOX, ColumnKind.BUDGET)
    return [number for number, kind in enumerate(kinds) if kind not in without]
