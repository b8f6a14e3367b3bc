"""The messages of a recorded run that are under way."""

from __future__ import annotations

from collections import Counter
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
    is_connected
        Whether it is under way on a connection, and lost with it.
    left
        How often it will still be received.
    is_doubled
        Whether it is under way that often, or still once.
    """

    __slots__ = ("envelope", "index", "is_connected", "is_doubled", "left")

    def __init__(
        self, index: int, envelope: Envelope, left: int, *, is_connected: bool
    ) -> None:
        self.index = index
        self.envelope = envelope
        self.left = left
        self.is_connected = is_connected
        self.is_doubled = left == 1


@final
class Letters(dict[SendName, Letter]):
    """All of them, by name.

    Attributes
    ----------
    sent
        How many of each node are under way on connections, by its index.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent: Counter[int] = Counter()

    def put(self, name: SendName, letter: Letter) -> None:
        """Add a letter."""
        self[name] = letter
        self.sent[name[0]] += letter.is_connected

    def take(self, name: SendName) -> None:
        """Remove a letter that was received for the last time."""
        self.sent[name[0]] -= self.pop(name).is_connected

    def envelopes(self) -> Iterator[tuple[int, Envelope]]:
        """Yield each that is under way, with the index of the node for which it is."""
        for letter in self.values():
            for _ in range(letter.left if letter.is_doubled else 1):
                yield letter.index, letter.envelope
