"""Partial-order sampling: random priorities, drawn again by those who lost a race.

Orders that differ only in events at different nodes are one partial order; each is
walked more evenly than where every step is drawn by itself.

References
----------
Yuan, Yang, Gu, "Partial order aware concurrency sampling", CAV 2018, algorithm 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.schedulers.protocol import AROUND, Draw, Offer, fault_first


@final
class PartialOrder:
    """Lets the event with the highest priority happen.

    Those at the same node raced with it, and get other priorities.
    """

    name = "pos"
    remembers = True
    native = (4, 0)

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk."""
        self._draw = draw

    def appeared(self, offer: Offer) -> None:
        """Give it a priority."""
        offer.rank = self._draw()

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return the one with the highest priority."""
        rest = fault_first(offers, word)
        chosen = rest if isinstance(rest, Offer) else max(rest, key=_rank)
        for offer in offers:
            if offer is not chosen and _race(offer, chosen):
                offer.rank = self._draw()
        return chosen


def _rank(offer: Offer) -> int:
    return offer.rank


def _race(one: Offer, other: Offer) -> bool:
    nodes = one.traits.node, other.traits.node
    return AROUND in nodes or nodes[0] == nodes[1]
