"""Counts of what the gathering of snapshots has done, one set for each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(slots=True)
class SnapshotCounts:
    """What a node has done to gather snapshots and to answer others.

    Attributes
    ----------
    checkpoints, forced, failed
        How many it has taken, and those of them for a number that came from outside; how
        many could not be taken, since the state cannot be spelt or is too large.
    gathers, snapshots
        How many it has begun, and how many have become snapshots.
    sent
        Bytes of its letters, with what a frame adds to them.
    replies, same, differences
        Replies about a checkpoint; those of them that only said it is the same, and those
        that had the difference to the last one that the receiver had.
    raw, packed_bytes, difference_bytes
        Bytes of the checkpoints that it has sent: as they are; compressed, where the
        receiver had none; as differences, where it had one.
    gone, busy
        Replies that it has given to say so.
    absent
        Neighbours that gave no checkpoint in time.
    late, malformed
        Letters that came too late for their gather, and those that were none.
    orphans
        Snapshots that were refused: somebody had received what nobody had sent.
    """

    checkpoints: int = 0
    forced: int = 0
    failed: int = 0
    gathers: int = 0
    snapshots: int = 0
    sent: int = 0
    replies: int = 0
    same: int = 0
    differences: int = 0
    raw: int = 0
    packed_bytes: int = 0
    difference_bytes: int = 0
    gone: int = 0
    busy: int = 0
    absent: int = 0
    late: int = 0
    malformed: int = 0
    orphans: int = 0
