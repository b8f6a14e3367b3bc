"""Swarms: every walk has weights of its own.

What is rare on all walks with the same weights is frequent on some of these.

References
----------
Groce, Zhang, Eide, Chen, Regehr, "Swarm testing", ISSTA 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.interner import splitmix
from worldline.engine.schedulers.protocol import Draw, Offer, Traits, below

_FACTORS = (1, 3, 10, 30)
_NODES = 1 << 32
"""Numbers of nodes are hashed above it, so that they are apart from the other two."""


@final
class Swarm:
    """Draws by weight, times a factor drawn for its kind, its node and its handler."""

    name = "swarm"
    remembers = False
    native = (6, 0)

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk: draw what its factors come from."""
        self._salt = draw()

    def appeared(self, offer: Offer) -> None:
        """Take note of nothing."""

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return one of the offers, by weight and factors."""
        weights = [self._weight(offer.traits) for offer in offers]
        place = below(sum(weights), word)
        for offer, weight in zip(offers, weights, strict=True):
            if place < weight:
                return offer
            place -= weight
        raise AssertionError("a place beyond all weights")

    def _weight(self, traits: Traits) -> int:
        weight = traits.weight
        for what in (traits.kind, traits.handler, _NODES + traits.node):
            weight *= _FACTORS[splitmix(self._salt ^ what) % len(_FACTORS)]
        return weight
