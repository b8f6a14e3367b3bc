"""Ears beside a keeper: who else hears what stands beside messages, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from worldline.steer.changes import HeardChanges
from worldline.steer.snapshots.records import MemberRecord
from worldline.trace.journal.frames import Extensions


class Ears(Protocol):
    """Who else hears what stands beside messages, in order to know what others know.

    Attributes
    ----------
    heard
        Of each peer, the life in which it sent what it sent last of all that has come, and
        the numbers beside that.
    records
        The checkpoints of peers that a message may put out of date.
    changes
        What was heard of changes of peers, which others are told.
    has_to_learn
        Whether something of that has come which has to be learned before the next event.
    """

    heard: dict[int, tuple[int, Extensions | None]]
    records: Mapping[int, MemberRecord]
    changes: HeardChanges
    has_to_learn: bool

    def noticed(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message."""
