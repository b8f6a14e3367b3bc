"""Counts of what steering did at a node."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Self, final


@final
@dataclass(slots=True)
class SteeringCounts:
    """What steering did at one node, or at several.

    Attributes
    ----------
    snapshots, skipped
        Those that were gathered, and those of them that were as the last one.
    predictions, states
        What was predicted from the others, and the states that were visited.
    predicted
        Failures in all that was predicted, and met again on known paths.
    unhelpful
        Those for which no filter was found that avoids them.
    elsewhere
        Those on whose path this node does nothing that it could refuse.
    handed, malformed
        Paths that were handed to others, and letters with paths that were none.
    filters, known
        Those that were installed; of them those that a known path put back.
    blocked
        Events that a filter blocked.
    reactions
        Failures that `@wl.on_prediction` handlers were told of.
    checked, refused, doubted
        Events that the immediate check looked at, and those that it undid; of them those
        after which it was only unknown whether a property is true.
    uncaught
        Those that made a property false and could not be refused, as far as the node knows.
    unseen
        Verdicts that nobody could give, as a neighbour was not known well enough.
    stale
        Snapshots that became too old to rest on.
    """

    snapshots: int = 0
    skipped: int = 0
    predictions: int = 0
    states: int = 0
    predicted: int = 0
    unhelpful: int = 0
    elsewhere: int = 0
    handed: int = 0
    malformed: int = 0
    filters: int = 0
    known: int = 0
    blocked: int = 0
    reactions: int = 0
    checked: int = 0
    refused: int = 0
    doubted: int = 0
    uncaught: int = 0
    unseen: int = 0
    stale: int = 0

    def add(self, other: SteeringCounts) -> Self:
        """Add what was counted elsewhere."""
        for one in fields(self):
            total = getattr(self, one.name) + getattr(other, one.name)
            setattr(self, one.name, total)
        return self

    def to_json(self) -> dict[str, int]:
        """Return them as plain JSON data."""
        return asdict(self)

    def __str__(self) -> str:
        known = ", ".join(
            f"{number:,} {name}" for name, number in self.to_json().items() if number
        )
        return f"steering: {known or 'nothing to do'}"
