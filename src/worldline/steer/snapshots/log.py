"""The checkpoints that a node keeps, to answer a request for one of a given time."""

from __future__ import annotations

import hashlib
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, final

from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import MemberRecord

_MOST = 8
"""How many times the quota the checkpoints of the last interval may take."""

_EACH_LIFE, _MOST_LIVES = 1 << 12, 1 << 15
"""By how much greater numbers begin for each life before, and for how many of these."""

DIGEST = 8
"""Bytes of the hash of a checkpoint."""


def digest_of(body: bytes) -> bytes:
    """Return the hash by which the bytes of a checkpoint are known."""
    return hashlib.blake2b(body, digest_size=DIGEST).digest()


class KnownCheckpoint(NamedTuple):
    """A checkpoint as bytes, and the hash of these; the number is in neither."""

    body: bytes
    digest: bytes

    @classmethod
    def of(cls, body: bytes) -> KnownCheckpoint:
        """Return that of bytes."""
        return cls(body, digest_of(body))


class FoundCheckpoint(NamedTuple):
    """A checkpoint, and its number."""

    number: int
    known: KnownCheckpoint


@final
@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """A checkpoint that is kept.

    Attributes
    ----------
    record, found
        What it says, and as bytes.
    time
        When it was taken.
    """

    record: MemberRecord
    found: FoundCheckpoint
    time: float

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.found.known.body)


@final
class CheckpointLog:
    """The checkpoints of a node, the oldest first.

    Parameters
    ----------
    life
        The one in which its process began. After another process has died its numbers are
        greater than those from before: by small ones it would ask for checkpoints that
        others took while it lived before, and which say what is so no more.

    Attributes
    ----------
    number
        The greatest of their numbers, which messages carry.
    """

    def __init__(self, options: GatherOptions, life: int = 1) -> None:
        self.number = _EACH_LIFE * min(life - 1, _MOST_LIVES)
        self._options = options
        self._kept: deque[KeptCheckpoint] = deque()
        self._bytes = 0
        self._gone = -1

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def last(self) -> KeptCheckpoint | None:
        """The newest; None before the first."""
        return self._kept[-1] if self._kept else None

    def keep(self, one: KeptCheckpoint) -> None:
        """Keep another, with the number of the last one or a greater one."""
        assert one.record.number >= self.number
        self.number = one.record.number
        self._kept.append(one)
        self._bytes += one.size
        while len(self._kept) > 1 and self._is_above_quota(one.time):
            first = self._kept.popleft()
            self._bytes -= first.size
            self._gone = first.record.number

    def skip(self, number: int) -> None:
        """Take note that there is no checkpoint of a number, nor of those before it."""
        self.number = max(self.number, number)
        self._gone, self._bytes = self.number, 0
        self._kept.clear()

    def first_from(self, number: int) -> KeptCheckpoint | None:
        """Return the first with a number or a greater one; None if it may be gone.

        There is one, unless it is gone: whoever asks takes one before.
        """
        if number <= self._gone:
            return None
        found = None
        for one in reversed(self._kept):  # mostly the last one is asked for
            if one.record.number < number:
                break
            found = one
        return found

    def _is_above_quota(self, now: float) -> bool:
        options, count, size = self._options, len(self._kept), self._bytes
        if count <= options.kept and size <= options.kept_bytes:
            return False
        if count > _MOST * options.kept or size > _MOST * options.kept_bytes:
            return True
        return self._kept[0].time < now - options.interval
