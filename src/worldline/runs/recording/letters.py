"""The messages of a recorded run that are under way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from worldline.model.message import Envelope
from worldline.runs.recording.survey import SendName


@final
class Letter:
    """A message that was sent and will be received.

    Attributes
    ----------
    index
        That of the node for which it is.
    envelope
        What it says, and from whom it is.
    left
        How often it will still be received.
    is_doubled
        Whether it is under way that often, or still once.
    """

    __slots__ = ("envelope", "index", "is_doubled", "left")

    def __init__(self, index: int, envelope: Envelope, left: int) -> None:
        self.index = index
        self.envelope = envelope
        self.left = left
        self.is_doubled = left == 1


@final
class Letters(dict[SendName, Letter]):
    """All of them, by name."""

    def of(self, sender: int) -> Iterator[Envelope]:
        """Yield those of a node, by its index."""
        for name, letter in self.items():
            if name[0] == sender:
                yield letter.envelope

    def envelopes(self) -> Iterator[tuple[int, Envelope]]:
        """Yield each that is under way, with the index of the node for which it is."""
        for letter in self.values():
            for _ in range(letter.left if letter.is_doubled else 1):
                yield letter.index, letter.envelope
