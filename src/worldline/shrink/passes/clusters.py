"""Leaving out what happened at one value of a clock, such as all of a term.

A clock is any whole number in a field: of nodes, of messages. It need
not be declared: each is tried.

References
----------
Scott et al. (DEMi), NSDI 2016, section 3.4: clusters by logical clocks, which the user
names there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.shrink.campaign import Campaign
from worldline.shrink.chunks import Bunch, Bunches, leave_out
from worldline.shrink.matching import ANY_LAST, EXACT, LAST
from worldline.shrink.steps import ShrunkStep

StepClock: TypeAlias = Callable[[ShrunkStep], int | None]
"""Returns the time of a step; None if it has none."""

_MOST_VALUES = 64
"""A field with more values than this is no clock of which one value matters."""


@final
class Clusters:
    """Leaves out the events of some values of a clock, for each field that may be one."""

    name = "clusters"

    def apply(self, campaign: Campaign) -> None:
        system = campaign.runner.world.system
        nodes = {name for kind in system.types for name in kind.identity}
        payloads = (step.known.event.payload for step in campaign.best.steps)
        messages = {
            name
            for payload in payloads
            for name in getattr(payload, "__worldline_message__", ())
        }
        for name in sorted(nodes):
            self._leave_out(campaign, _by_state(campaign, name))
        for name in sorted(messages):
            self._leave_out(campaign, _by_message(name))

    def _leave_out(self, campaign: Campaign, bunches: Bunches) -> None:
        for matching in (EXACT, LAST, ANY_LAST):
            if 1 < len(bunches(campaign.best.steps)) <= _MOST_VALUES:
                leave_out(campaign, bunches, matching)


def _by_message(name: str) -> Bunches:
    def bunches(steps: Sequence[ShrunkStep]) -> list[Bunch]:
        return _together(
            steps, lambda step: _whole(getattr(step.known.event.payload, name, None))
        )

    return bunches


def _by_state(campaign: Campaign, name: str) -> Bunches:
    """Group events by what a field of their node holds after them."""
    system = campaign.runner.world.system

    def bunches(steps: Sequence[ShrunkStep]) -> list[Bunch]:
        left = campaign.runner.locals_left(campaign.best)

        def clock(step: ShrunkStep) -> int | None:
            index = step.known.index
            if index < 0 or name not in system.types[index].identity:
                return None
            place = 1 + system.types[index].identity.index(name)
            local: Any = left[step.place]
            return _whole(local[place])

        return _together(steps, clock)

    return bunches


def _whole(value: Frozen) -> int | None:
    return value if type(value) is int else None


def _together(steps: Sequence[ShrunkStep], clock: StepClock) -> list[Bunch]:
    bunches: dict[int, list[ShrunkStep]] = {}
    for step in steps:
        time = clock(step)
        if time is not None:
            bunches.setdefault(time, []).append(step)
    return [tuple(bunches[time]) for time in sorted(bunches)]
