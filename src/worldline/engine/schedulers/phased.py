"""Swarms in phases: the weights of a walk change at a few random steps.

A bug may need one thing at first and another later: that timers fire before any message
comes, and then none for a while; that a node is slow until it is the only one to act.
No weights do for all of a run then; some do for each phase of it.

References
----------
Groce, Zhang, Eide, Chen, Regehr, "Swarm testing", ISSTA 2012: weights of a walk's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.interner import MASK, splitmix
from worldline.engine.schedulers.protocol import Draw, Offer, Traits, below

_FACTORS = (1, 10, 100)


@final
class Phased:
    """Draws by weight, times factors that are drawn anew in each phase of a walk.

    There is one for the kind of an event, one for its handler, and one for both its
    handler and its node.

    Parameters
    ----------
    phases
        How many a walk has; where one ends and the next begins is drawn.
    """

    remembers = False

    def __init__(self, phases: int = 5) -> None:
        self.name = f"phased:{phases}"
        self.native = (7, phases)
        self._phases = phases
        self._stamp = 0

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk: draw what its factors come from, and where phases end."""
        self._salt = draw()
        self._ends = [below(most_steps, draw()) for _ in range(self._phases - 1)]
        self._phase = -1

    def appeared(self, offer: Offer) -> None:
        """Take note of nothing."""

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return one of the offers, by weight and factors."""
        phase = sum(end <= step for end in self._ends)
        if phase != self._phase:
            self._phase = phase
            self._factors_from = splitmix((self._salt + phase) & MASK)
            self._stamp += 1
        total = 0
        for offer in offers:
            if offer.chain != self._stamp:  # worked out in another phase, or never
                offer.chain, offer.rank = self._stamp, self._weight(offer.traits)
            total += offer.rank
        place = below(total, word)
        for offer in offers:
            if place < offer.rank:
                return offer
            place -= offer.rank
        raise AssertionError("a place beyond all weights")

    def _weight(self, traits: Traits) -> int:
        weight = traits.weight
        both = splitmix((traits.handler + traits.node) & MASK)
        for what in (traits.kind, traits.handler, both):
            weight *= _FACTORS[splitmix(self._factors_from ^ what) % len(_FACTORS)]
        return weight
