"""Options of the gathering of snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from worldline.model.arguments import named
from worldline.model.errors import UsageError

LARGEST = 1 << 20
"""Bytes of a checkpoint, and of a letter."""

MEMORY_S = 30.0
"""Seconds for which a datagram that nobody acknowledges may be under way, and for which
whoever sent or got one is a neighbour."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class GatherOptions:
    """How snapshots are gathered.

    Attributes
    ----------
    interval
        Seconds from one snapshot of a node to the next, if nothing happens.
    pause
        Seconds between two of them at least, whatever happens.
    deadline
        Seconds in which a neighbour has to answer, or it is absent.
    most_neighbours
        How many nodes are asked, the neighbours of neighbours included.
    bandwidth
        Bits per second of what a node asks and answers, on average.
    share
        In place of `bandwidth`: what part of the bits of its messages that may be.
    fields
        The fields, by name, whose changes call for a new snapshot; None for any.
    kept, kept_bytes
        How many checkpoints a node keeps, and bytes of them at most; those of the last
        interval in any case, up to eight times as much.
    """

    interval: float = 10.0
    pause: float = 0.5
    deadline: float = 2.0
    most_neighbours: int = 16
    bandwidth: float = 10_000.0
    share: float | None = None
    fields: frozenset[str] | None = None
    kept: int = 32
    kept_bytes: int = LARGEST

    def __post_init__(self) -> None:
        for name in ("interval", "pause", "deadline", "bandwidth", "share"):
            value = getattr(self, name)
            if value is None and name == "share":
                continue
            if type(value) not in (int, float) or not 0 < value < float("inf"):
                raise UsageError(
                    f"GatherOptions({name}={named(value)}) is not a positive number"
                )
        for name in ("most_neighbours", "kept", "kept_bytes"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise UsageError(
                    f"GatherOptions({name}={named(getattr(self, name))}) is not a number "
                    "of at least 1"
                )
        if self.fields is not None:
            names: Iterable[str] = self.fields
            object.__setattr__(self, "fields", frozenset(names))

    @property
    def stale(self) -> float:
        """Seconds after which a snapshot is used for nothing any more."""
        return 2 * self.interval
