"""Leaving out what leads nowhere: from a state to an equal one, or to the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.semantics.layout import ColumnKind
from worldline.model.system import System
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.chunks import Bunch, leave_out
from worldline.shrink.matching import EXACT
from worldline.shrink.steps import ShrunkStep

State: TypeAlias = tuple[Frozen, ...]

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


@final
class NoOps:
    """Leaves out events that change no node and send nothing."""

    name = "no-ops"

    def apply(self, campaign: Campaign) -> None:
        leave_out(campaign, _noops_of(campaign), EXACT)


def _noops_of(campaign: Campaign) -> Callable[[Sequence[ShrunkStep]], list[Bunch]]:
    layout = campaign.runner.world.system.layout

    def noops(steps: Sequence[ShrunkStep]) -> list[Bunch]:
        states = campaign.runner.states(campaign.best)
        found: list[Bunch] = []
        for step, before, after in zip(steps, states, states[1:], strict=False):
            index = step.known.index
            inbox = layout.inbox(index) if index >= 0 else -1
            if all(
                one == other or column == inbox
                for column, (one, other) in enumerate(zip(before, after, strict=True))
            ):
                found.append((step,))
        return found

    return noops


def _but_mail(system: System) -> list[int]:
    kinds: list[Any] = [column.kind for column in system.layout.columns]
    without = (ColumnKind.INBOX, ColumnKind.BUDGET)
    return [number for number, kind in enumerate(kinds) if kind not in without]
