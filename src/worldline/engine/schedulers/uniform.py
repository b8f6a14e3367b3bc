"""All events alike, but for faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.interner import splitmix
from worldline.engine.schedulers.protocol import Draw, Offer, below, fault_first


@final
class Uniform:
    """Draws each event that is no fault with the same probability."""

    name = "uniform"
    remembers = False
    native = (1, 0)

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk."""

    def appeared(self, offer: Offer) -> None:
        """Take note of nothing."""

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return one of the offers."""
        rest = fault_first(offers, word)
        if isinstance(rest, Offer):
            return rest
        # Another word: that one has decided about faults.
        return rest[below(len(rest), splitmix(word))]
