"""The journals of a run, as who runs them again sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from worldline.trace.journal.checkpoints import NodeCheckpoint
from worldline.trace.journal.frames import MessageFrame, NamedFrame
from worldline.trace.journal.reading import Turn

Frames = Callable[[bytes], Sequence[MessageFrame | NamedFrame]]
"""Decodes packets, one after the other, into the frames of messages."""


Names = Callable[[bytes], Iterable[tuple[int, int, int, int]]]
"""Returns of each message in some packets the sender, its incarnation, the Lamport time of
the event that sent it, and the place among the sends of that."""


class Life(Protocol):
    """One incarnation of a node, as its journal has it."""

    @property
    def number(self) -> int:
        """Which: 1, 2, ..."""

    @property
    def torn(self) -> int:
        """Bytes behind the last whole block, once the turns have been read."""

    def turns(self) -> Iterator[Turn]:
        """Yield the turns."""


class Journals(Protocol):
    """The journals of a run."""

    def lives(self, index: int) -> Iterable[Life] | None:
        """Return the incarnations of a node, by its index; None if it has no journal."""

    def frames(self, packets: bytes) -> Sequence[MessageFrame | NamedFrame]:
        """Return the messages of some packets."""

    def digest_of(self, part: str, message: Any) -> bytes:
        """Return the digest of a message by which large ones are known."""

    def names(self, packets: bytes) -> Iterable[tuple[int, int, int, int]]:
        """Return the names of the messages of some packets, and decode no more."""

    def checkpoint(self, state: bytes) -> NodeCheckpoint:
        """Return the state of a node that was written down."""
