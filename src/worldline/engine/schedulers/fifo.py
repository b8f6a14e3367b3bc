"""Messages between two nodes in order, as over a stream.

References
----------
Scott et al., "Minimizing Faulty Executions of Distributed Systems", NSDI 2016, section
4: one queue for each pair, of which only the head is delivered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from worldline.engine.schedulers.protocol import NO_PAIR, Draw, Offer, by_weight


@final
class Fifo:
    """Draws by weight; of the messages from one node to another, only the oldest.

    The oldest is the one that could be delivered first; of those that came in the same
    step, the first in canonical order.
    """

    name = "fifo"
    remembers = True
    native = (2, 0)

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk."""
        self._count = 0

    def appeared(self, offer: Offer) -> None:
        """Note how old it is."""
        offer.rank = self._count
        self._count += 1

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return one of those that nothing older is in the way of, by weight."""
        heads: dict[int, int] = {}
        for offer in offers:
            pair = offer.traits.pair
            if pair != NO_PAIR:
                heads[pair] = min(offer.rank, heads.get(pair, offer.rank))
        return by_weight([o for o in offers if o.rank == _head(o, heads)], word)


def _head(offer: Offer, heads: dict[int, int]) -> int:
    pair = offer.traits.pair
    return offer.rank if pair == NO_PAIR else heads[pair]
