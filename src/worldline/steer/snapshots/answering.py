"""Answers of a node to requests for its checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.gathering import KnownBodies
from worldline.steer.snapshots.letters import (
    NAMES,
    Busy,
    Gone,
    Reply,
    Request,
    Same,
    SnapshotLetter,
)
from worldline.steer.snapshots.log import CheckpointLog, digest_of
from worldline.steer.snapshots.packing import packed


@final
class Answering:
    """The answers of one node.

    Parameters
    ----------
    neighbours
        Returns the indices of the node's neighbours.
    """

    def __init__(
        self,
        log: CheckpointLog,
        allowance: LetterAllowance,
        counts: SnapshotCounts,
        neighbours: Callable[[], tuple[int, ...]],
    ) -> None:
        self._log, self._allowance, self._counts = log, allowance, counts
        self._neighbours = neighbours
        self._given = KnownBodies()

    def refusal(self, request: Request, now: float) -> SnapshotLetter | None:
        """Return the answer of a node that has sent as much as it may; None for none."""
        if not self._allowance.allows_refusal(now):
            return None
        self._counts.busy += 1
        return Busy(request.gather)

    def answer(self, peer: int, request: Request) -> SnapshotLetter:
        """Return the answer to a peer; a checkpoint of that number was taken."""
        counts, kept = self._counts, self._log.first_from(request.number)
        if kept is None:
            counts.gone += 1
            return Gone(request.gather, self._log.number)
        number = kept.record.number
        names = self._neighbours() if request.flags & NAMES else ()
        counts.replies += 1
        if kept.digest == request.have:
            counts.same += 1
            return Same(request.gather, number, names)
        base = self._given.of(peer)
        if not base or digest_of(base) != request.have:
            base = b""
        body = packed(kept.body, base)
        self._given.know(peer, kept.body)
        counts.raw += len(kept.body)
        if base:
            counts.differences += 1
            counts.difference_bytes += len(body)
        else:
            counts.packed_bytes += len(body)
        return Reply(request.gather, number, bool(base), body, names)
