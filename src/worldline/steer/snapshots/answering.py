"""Answers of a node to requests for its checkpoints, and for those beside it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import final

from worldline.steer.snapshots.accounts import (
    MOST_TOLD_BYTES,
    NO_ACCOUNT,
    Account,
    Accounts,
)
from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.letters import (
    ANEW,
    BESIDE,
    BUT,
    MORE,
    Busy,
    Gone,
    Reply,
    Request,
    SnapshotLetter,
    ToldCheckpoint,
)
from worldline.steer.snapshots.log import (
    CheckpointLog,
    FoundCheckpoint,
    KnownCheckpoint,
)
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.packing import packed

_MOST_GIVEN = 4
"""Answers to one peer that may be under way, of which it may know any when it asks."""

_MOST_PACKED = 8
"""Checkpoints that were compressed last: nodes that know the same one are told the same."""


@final
class Answering:
    """The answers of one node, of an index."""

    def __init__(
        self,
        index: int,
        log: CheckpointLog,
        allowance: LetterAllowance,
        counts: SnapshotCounts,
    ) -> None:
        self._index, self._log = index, log
        self._allowance, self._counts = allowance, counts
        self._given = Accounts(_MOST_GIVEN)
        self._packed = lru_cache(_MOST_PACKED)(packed)

    def refusal(self, request: Request, now: float) -> SnapshotLetter | None:
        """Return the answer of a node that has sent as much as it may; None for none."""
        if not self._allowance.allows_refusal(now):
            return None
        self._counts.busy += 1
        return Busy(request.gather)

    def can_answer(self, request: Request) -> bool:
        """Say whether the checkpoint that is asked for is still kept."""
        return self._own(request.number) is not None

    def without(self, peer: int, request: Request) -> tuple[int, ...]:
        """Return of whom beside the node a peer does not want to know."""
        if request.flags & BUT:
            return request.without
        return self._base(peer, request).without

    def early(self, peer: int, request: Request) -> SnapshotLetter:
        """Return an answer about the node alone, before that about those beside it.

        It can answer.
        """
        found, base = self._own(request.number), self._base(peer, request)
        assert found is not None
        told, _ = self._told(request.number, {self._index: found}, base)
        return Reply(request.gather, MORE | _flags(base), told)

    def answer(
        self, peer: int, request: Request, beside: Mapping[int, FoundCheckpoint]
    ) -> SnapshotLetter:
        """Return the answer to a peer; a checkpoint of that number was taken.

        Parameters
        ----------
        beside
            What is known of those beside the node, if that is asked for.
        """
        found = self._own(request.number)
        if found is None:
            self._counts.gone += 1
            return Gone(request.gather, self._log.number)
        own, base = {self._index: found}, self._base(peer, request)
        if not request.flags & BESIDE:
            told, known = self._told(request.number, own, base)
            self._count(told, known)
            account = self._given.of(peer).and_of(self._index, found.known)
            self._given.know(peer, account)
            return Reply(request.gather, 0, told)
        without = request.without if request.flags & BUT else base.without
        told, known = self._told(request.number, {**own, **beside}, base)
        self._count(told, known)
        self._given.know(peer, base.then(without, known))
        gone = tuple(index for index in base.known if index not in known)
        return Reply(request.gather, _flags(base), told, gone)

    # ------------------------------------------------------------------------ inside

    def _own(self, number: int) -> FoundCheckpoint | None:
        kept = self._log.first_from(number)
        return None if kept is None else kept.found

    def _base(self, peer: int, request: Request) -> Account:
        """Return what a peer knows, if both know that it does."""
        is_beside, me = request.flags & BESIDE, self._index
        for given in self._given.all_of(peer):
            known = given.digest if is_beside else given.digest_at(me)
            if known == request.have:
                return given
        return NO_ACCOUNT

    def _told(
        self, number: int, all_found: Mapping[int, FoundCheckpoint], base: Account
    ) -> tuple[tuple[ToldCheckpoint, ...], dict[int, KnownCheckpoint]]:
        """Return what to tell of checkpoints, and what is known then: what has room."""
        told: list[ToldCheckpoint] = []
        known: dict[int, KnownCheckpoint] = {}
        raw, size, own = 0, 0, b""
        for index, (own_number, one) in all_found.items():
            if known and raw + len(one.body) > MOST_TOLD_BYTES:
                continue
            before, ahead = base.known.get(index), own_number - number
            if before is not None and before.digest == one.digest:
                if ahead:
                    told.append(ToldCheckpoint(index, ahead))
            else:
                other = own if before is None else before.body
                body = self._packed(one.body, other)
                if told and size + len(body) > LARGEST:
                    continue
                size += len(body)
                told.append(ToldCheckpoint(index, ahead, before is not None, body))
            known[index], own, raw = one, own or one.body, raw + len(one.body)
        return tuple(told), known

    def _count(
        self,
        all_told: tuple[ToldCheckpoint, ...],
        known: Mapping[int, KnownCheckpoint],
    ) -> None:
        counts = self._counts
        counts.replies += len(known)
        counts.same += len(known)
        for one in all_told:
            if not one.body:
                continue
            counts.same -= 1
            counts.raw += len(known[one.node].body)
            if one.is_difference:
                counts.differences += 1
                counts.difference_bytes += len(one.body)
            else:
                counts.packed_bytes += len(one.body)


def _flags(base: Account) -> int:
    return 0 if base.known else ANEW
