"""The interface of schedulers: what one is told of events, and what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias, final

Draw: TypeAlias = Callable[[], int]
"""Returns the next random word of a walk, of 64 bits."""

AROUND = -1
"""The node of an event that happens at none: of a partition."""

NO_PAIR = -1
"""The pair of an event that is no delivery between two nodes."""


class Traits(NamedTuple):
    """The properties of an event that schedulers may know.

    Attributes
    ----------
    weight
        How likely it is where weights decide; one without weight never happens.
    fault
        Whether it is a fault. How often these happen is always up to the weights: no
        other order among events says how rare they are.
    node
        The number of the node at which it happens, or `AROUND`.
    pair
        Of a delivery, the number of its sender, receiver and network together; else
        `NO_PAIR`.
    kind, handler
        The number of its kind, and a hash of its kind, part and name: swarms have
        factors for them.
    """

    weight: int
    fault: bool = False
    node: int = AROUND
    pair: int = NO_PAIR
    kind: int = 0
    handler: int = 0


@final
class Offer:
    """An event, from when it can happen until it does or no longer can.

    Attributes
    ----------
    traits
        What is known of the event.
    is_again
        Whether it happened just now, and can once more.
    rank, chain
        For the scheduler to use; 0 and -1 at first.
    """

    __slots__ = ("chain", "is_again", "rank", "traits")

    def __init__(self, traits: Traits, *, is_again: bool = False) -> None:
        self.traits = traits
        self.is_again = is_again
        self.rank = 0
        self.chain = -1


class Scheduler(Protocol):
    """A scheduler: decides which event happens next, on one walk at a time.

    Attributes
    ----------
    name
        What users call it, its parameter included: ``pct:3``.
    remembers
        Whether what it chooses depends on the steps before: only then are there calls
        of `appeared`, and a walk is followed from its beginning on.
    native
        The number of its twin in the kernel, and its parameter; None if it has none.
    """

    @property
    def name(self) -> str: ...
    @property
    def remembers(self) -> bool: ...
    @property
    def native(self) -> tuple[int, int] | None: ...

    def begin(self, draw: Draw, most_steps: int) -> None:
        """Begin a walk of `most_steps` steps at most."""

    def appeared(self, offer: Offer) -> None:
        """Take note of an event that can happen now."""

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        """Return what happens next; all offers have a weight, in sum below 2**63."""


def below(limit: int, word: int) -> int:
    """Return a number below a limit, from a random word."""
    return word * limit >> 64


def by_weight(offers: Sequence[Offer], word: int) -> Offer:
    """Return one of some offers, by their weights."""
    place = below(sum(offer.traits.weight for offer in offers), word)
    for offer in offers:
        if place < offer.traits.weight:
            return offer
        place -= offer.traits.weight
    raise AssertionError("a place beyond all weights")


def fault_first(offers: Sequence[Offer], word: int) -> Offer | list[Offer]:
    """Return the fault that happens now, by weight, or else all that are no faults."""
    place = below(sum(offer.traits.weight for offer in offers), word)
    for offer in offers:
        if offer.traits.fault:
            if place < offer.traits.weight:
                return offer
            place -= offer.traits.weight
    return [offer for offer in offers if not offer.traits.fault]
