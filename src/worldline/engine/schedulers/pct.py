"""Probabilistic concurrency testing, over chains of events.

A bug of depth d, for which d events have to happen in an order, is found on a walk with
a probability of at least ``1 / (n * k**(d - 1))``: of n chains and k steps.

References
----------
Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
guarantees of finding bugs", ASPLOS 2010, section 2: priorities and change points.
Ozkan, Majumdar, Niksic, Befrouei, Weissenbacher, "Randomized testing of distributed
systems with probabilistic guarantees", OOPSLA 2018: chains in the place of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.schedulers.protocol import Draw, Offer, below, fault_first

_HIGH = 1 << 63
"""Priorities of chains are above, those after change points below."""

_NONE = -1


@final
class Pct:
    """Lets the chain with the highest priority go on, but at d - 1 random steps.

    A chain begins with an event that can happen at first. The first event, in canonical
    order, that comes to be possible when one happens goes on with the chain of that; the
    others, and an event that can happen again, begin chains of their own.

    Parameters
    ----------
    depth
        How many events have to be in an order: d.
    """

    remembers = True

    def __init__(self, depth: int = 3) -> None:
        self.name = f"pct:{depth}"
        self.native = (3, depth)
        self._depth = depth

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk: draw at which steps priorities change."""
        self._draw = draw
        self._priorities: list[int] = []
        self._open = _NONE
        self._points = [below(most_steps, draw()) for _ in range(self._depth - 1)]

    def appeared(self, offer: Offer) -> None:
        """Put it on a chain."""
        if self._open != _NONE and not offer.is_again and not offer.traits.fault:
            offer.chain, self._open = self._open, _NONE
            return
        offer.chain = len(self._priorities)
        self._priorities.append(self._draw() | _HIGH)

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return the next event of the chain with the highest priority."""
        self._open = _NONE
        rest = fault_first(offers, word)
        if isinstance(rest, Offer):
            return rest
        chosen = max(rest, key=self._priority)
        for number, point in enumerate(self._points):
            if point == step:
                self._priorities[chosen.chain] = number
                chosen = max(rest, key=self._priority)
        self._open = chosen.chain
        return chosen

    def _priority(self, offer: Offer) -> int:
        return self._priorities[offer.chain]
