"""The steps of a run that is shrunk, and how much of it there is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias, final

from worldline.model.events import Choices
from worldline.model.kinds import Kind
from worldline.shrink.weights import weight_of
from worldline.worlds.remembered import RememberedEvent

Sending: TypeAlias = tuple[int, int]
"""The place of the step that sent a message, and which of its messages it is.

Before the run nobody sends: then the place is -1."""


@final
class ShrunkStep:
    """One step of a run that was executed.

    Attributes
    ----------
    known
        The event.
    choices
        The options that were taken.
    sending
        Who sent the message that it is about; None if it is about none.
    place
        Its number in the run, from 0.
    """

    __slots__ = ("choices", "known", "place", "sending")

    def __init__(
        self,
        known: RememberedEvent,
        choices: Choices,
        sending: Sending | None,
        place: int,
    ) -> None:
        self.known = known
        self.choices = choices
        self.sending = sending
        self.place = place

    def __repr__(self) -> str:
        return f"{self.place}: {self.known.event!r}"


@final
class Size(NamedTuple):
    """The size of a run; smaller is better, deliveries first.

    Attributes
    ----------
    deliveries
        Deliveries, timers and calls.
    externals
        Starts, calls and faults.
    steps
        All events.
    weight
        Of all options that were taken, and of the arguments of calls; see `weights`.
    """

    deliveries: int
    externals: int
    steps: int
    weight: int = 0

    @property
    def length(self) -> tuple[int, int, int]:
        """All but the weight, which decides between runs that are as long."""
        return self[:3]


def size_of(steps: Iterable[ShrunkStep]) -> Size:
    """Return how large a run is."""
    steps = tuple(steps)
    kinds = [step.known.event.kind for step in steps]
    return Size(
        sum(kind.is_delivery for kind in kinds),
        sum(kind.is_external for kind in kinds),
        len(kinds),
        sum(
            weight_of(step.known.event, step.choices)
            for step, kind in zip(steps, kinds, strict=True)
            if step.choices or kind is Kind.CALL
        ),
    )
