"""Taking simpler options: of drawn arguments, and of all other choices.

All of this is legal under the workload as it is declared: the same calls, of which each
run may draw any option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.shrink.campaign import Campaign
from worldline.shrink.matching import EXACT, LAST
from worldline.shrink.steps import ShrunkStep
from worldline.shrink.weights import draws_of, option_weight

ChoicePlace: TypeAlias = tuple[int, int]
"""The place of a step, and which of its choices it is."""

_MOST_IN_TURN = 16
"""Options that are tried one by one; of more, some in between are left out."""


@final
class SimplerOptions:
    """Takes an option that weighs less: at all steps with the same one, then at each.

    Calls that drew the same value may need to go on doing so.
    """

    name = "options"

    def apply(self, campaign: Campaign) -> None:
        for groups_of in (_by_value, _singly):
            number = len(groups_of(campaign.best.steps))
            while number > 0:
                groups = groups_of(campaign.best.steps)
                number = min(number, len(groups)) - 1
                if number >= 0 and _lighten(campaign, groups[number]):
                    number += 1


Groups: TypeAlias = Callable[[tuple[ShrunkStep, ...]], list[list[ChoicePlace]]]


def _singly(steps: tuple[ShrunkStep, ...]) -> list[list[ChoicePlace]]:
    return [
        [(step.place, position)]
        for step in steps
        for position in range(len(step.choices))
        if _lighter(step, position)
    ]


def _by_value(steps: tuple[ShrunkStep, ...]) -> list[list[ChoicePlace]]:
    """Return the drawn arguments that are alike, where there are several."""
    alike: dict[Frozen, list[ChoicePlace]] = {}
    for step in steps:
        for position, options in enumerate(draws_of(step.known.event)):
            if position < len(step.choices) and _lighter(step, position):
                drawn = freeze(options), step.choices[position]
                alike.setdefault(drawn, []).append((step.place, position))
    return [group for group in alike.values() if len(group) > 1]


def _lighten(campaign: Campaign, group: list[ChoicePlace]) -> bool:
    """Try what weighs less than the option that a group took."""
    steps = campaign.best.steps
    place, position = group[0]
    for option in _spread(_lighter(steps[place], position)):
        wanted = list(steps)
        for place, position in group:
            step = wanted[place]
            options = list(step.choices)
            options[position] = option
            wanted[place] = ShrunkStep(step.known, tuple(options), step.sending, place)
        if any(campaign.attempt(wanted, matching) for matching in (EXACT, LAST)):
            return True
    return False


def _lighter(step: ShrunkStep, position: int) -> list[int]:
    """Return the options of a choice that weigh less than the one taken, lightest first."""
    choice, draws = step.choices[position], draws_of(step.known.event)
    if position >= len(draws):
        return list(range(choice))
    options: Any = draws[position]
    weights = [option_weight(options, option) for option in range(len(options))]
    return sorted(
        (o for o, weight in enumerate(weights) if weight < weights[choice]),
        key=weights.__getitem__,
    )


def _spread(options: list[int]) -> Iterator[int]:
    """Yield the first options, then ever later ones of the rest, then the last.

    The last two: next to a number is the same one below 0.
    """
    yield from options[:_MOST_IN_TURN]
    left = len(options)
    while left > _MOST_IN_TURN:
        yield options[len(options) - left // 2 - 1]
        left //= 2
    yield from options[max(_MOST_IN_TURN, len(options) - 2) :]
