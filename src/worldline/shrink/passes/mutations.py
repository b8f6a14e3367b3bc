"""Random changes to a run, small and combined: a way out where no single one helps.

Runs of the same size take each other's place, so this wanders about among them until one
comes up that is smaller.
"""

from __future__ import annotations

import random
from typing import final

from worldline.shrink.campaign import Campaign
from worldline.shrink.matching import ANY_LAST, BY_FINGERPRINT, EXACT, LAST
from worldline.shrink.steps import ShrunkStep

_MATCHINGS = (EXACT, BY_FINGERPRINT, LAST, LAST, ANY_LAST)

_RECHOSEN = 0.4
"""How often an event with choices takes another option, where it is changed at all."""

_MOST_OPTIONS = 4
"""Options that are tried; where there are fewer, the first one stands for the others."""


@final
class Mutations:
    """Leaves out, moves and repeats events at random.

    The random numbers begin anew at each call, and what is no better in the end is given
    up; so to minimise once more changes nothing.

    Parameters
    ----------
    patience
        Candidates without a smaller run among them, after which it ends: so many for
        each event of the run.
    most_steps
        Runs that are longer are left as they are.
    """

    name = "mutations"

    def __init__(self, patience: int = 64, most_steps: int = 100) -> None:
        self._patience = patience
        self._most_steps = most_steps

    def apply(self, campaign: Campaign) -> None:
        first = campaign.best
        if len(first.steps) > self._most_steps:
            return
        rng = random.Random(len(first.steps))
        left = self._patience * len(first.steps)
        while left > 0:
            left -= 1
            wanted = list(campaign.best.steps)
            for _ in range(rng.choice((1, 2, 2, 3, 4))):
                _change(wanted, rng)
            campaign.attempt(wanted, rng.choice(_MATCHINGS), sideways=True)
            if campaign.best.size < first.size:
                first = campaign.best
                left = self._patience * len(first.steps)
        campaign.best = first


def _change(wanted: list[ShrunkStep], rng: random.Random) -> None:
    """Leave out a few events, move or repeat one, or let it take another option."""
    if len(wanted) < 2:
        return
    place = rng.randrange(len(wanted))
    what, step = rng.random(), wanted[place]
    if step.choices and rng.random() < _RECHOSEN:
        options = list(step.choices)
        options[rng.randrange(len(options))] = rng.randrange(_MOST_OPTIONS)
        chosen = ShrunkStep(step.known, tuple(options), step.sending, step.place)
        wanted[place] = chosen
        return
    if what < 0.45:
        some = rng.choice((1, 1, 1, 2, 3, 5, len(wanted) // 8))
        del wanted[place : place + some]
    elif what < 0.85:
        moved = wanted.pop(place)
        near = max(0, place - 12) if rng.random() < 0.7 else 0
        wanted.insert(rng.randint(near, min(len(wanted), place + 4)), moved)
    else:
        wanted.insert(rng.randint(0, len(wanted)), wanted[place])
