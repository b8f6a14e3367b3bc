"""Delay-bounded scheduling: the oldest event first, but for a few delays.

References
----------
Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", POPL 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.schedulers.protocol import Draw, Offer, below, fault_first


@final
class DelayBounded:
    """Lets the event happen that can for the longest time.

    Parameters
    ----------
    delays
        How often on a walk, at random steps, that event has to wait as if it were new.
    """

    remembers = True

    def __init__(self, delays: int = 5) -> None:
        self.name = f"delay:{delays}"
        self.native = (5, delays)
        self._delays = delays

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk: draw at which steps something is delayed."""
        self._count = 0
        self._points = [below(most_steps, draw()) for _ in range(self._delays)]

    def appeared(self, offer: Offer) -> None:
        """Note how old it is."""
        offer.rank = self._next()

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return the oldest."""
        rest = fault_first(offers, word)
        if isinstance(rest, Offer):
            return rest
        for _ in range(self._points.count(step)):
            min(rest, key=_rank).rank = self._next()
        return min(rest, key=_rank)

    def _next(self) -> int:
        self._count += 1
        return self._count


def _rank(offer: Offer) -> int:
    return offer.rank
