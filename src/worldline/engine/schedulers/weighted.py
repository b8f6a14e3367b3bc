"""Weights alone: each step is drawn by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.schedulers.protocol import Draw, Offer, by_weight


@final
class Weighted:
    """Draws each event by its weight."""

    name = "weighted"
    remembers = False
    native = (0, 0)

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk."""

    def appeared(self, offer: Offer) -> None:
        """Take note of nothing."""

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return one of the offers, by weight."""
        return by_weight(offers, word)
