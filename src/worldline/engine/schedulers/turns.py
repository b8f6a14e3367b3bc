"""One walk as its scheduler sees it: what has become possible, and what happens next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar, final

from worldline.engine.interner import GOLDEN, MASK, splitmix
from worldline.engine.schedulers.protocol import Offer, Scheduler, Traits

K = TypeVar("K", bound=Hashable)

WORDS = 2
"""Random words of one step: for its event, and for the outcome of that."""

_APART = 0x5C4ED01E5
"""Makes the random words of schedulers others than those of the steps."""

_MOST_KNOWN = 100_000
"""Events whose traits are kept: walks that meet ever new ones are to need no memory."""


def random_at(seed: int, walk: int, counter: int) -> int:
    """Return a 64-bit random number that depends on nothing but its place."""
    start = splitmix((seed + GOLDEN * (walk + 1)) & MASK)
    return splitmix((start + GOLDEN * (counter + 1)) & MASK)


@final
class SchedulerSession(Generic[K]):
    """A scheduler and what it has been told, walk by walk.

    Parameters
    ----------
    traits
        What it is told of an event.
    seed, most_steps
        As in `WalkOptions`.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        traits: Callable[[K], Traits],
        *,
        seed: int,
        most_steps: int,
    ) -> None:
        self._scheduler = scheduler
        self._traits = traits
        self._seed = seed
        self._most_steps = most_steps
        self._known: dict[K, Offer] = {}
        self._offers: dict[K, Offer] = {}
        self._last: K | None = None
        self._walk = self._drawn = 0

    @property
    def needs_the_beginning(self) -> bool:
        """Whether a walk can be followed from its first step only."""
        return self._scheduler.remembers

    def begin(self, walk: int) -> None:
        """Begin a walk."""
        self._walk, self._drawn = walk, 0
        self._offers, self._last = {}, None
        self._scheduler.begin(self._draw, self._most_steps)

    def weight(self, event: K) -> int:
        """Return the weight of an event."""
        return self._plain(event).traits.weight

    def choose(self, enabled: Sequence[K], step: int) -> K | None:
        """Return which of the enabled events happens; None if there is none.

        Parameters
        ----------
        enabled
            In canonical order, each with a weight.
        """
        if not enabled:
            return None
        word = random_at(self._seed, self._walk, step * WORDS)
        if not self._scheduler.remembers:
            plain = [self._plain(event) for event in enabled]
            return enabled[plain.index(self._scheduler.choose(plain, step, word))]
        offers = [self._offer(event) for event in enabled]
        chosen = self._scheduler.choose(offers, step, word)
        self._last = enabled[offers.index(chosen)]
        self._offers = dict(zip(enabled, offers, strict=True))
        return self._last

    def _offer(self, event: K) -> Offer:
        """Return what the scheduler knows of an event, which may have appeared now."""
        is_again = event == self._last
        offer = None if is_again else self._offers.get(event)
        if offer is None:
            offer = Offer(self._plain(event).traits, is_again=is_again)
            self._scheduler.appeared(offer)
        return offer

    def _plain(self, event: K) -> Offer:
        """Return an offer of which nobody remembers anything."""
        offer = self._known.get(event)
        if offer is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            offer = self._known[event] = Offer(self._traits(event))
        return offer

    def _draw(self) -> int:
        self._drawn += 1
        return random_at(self._seed ^ _APART, self._walk, self._drawn)
