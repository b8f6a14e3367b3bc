"""Reading the journal of one node: its lives, and their turns, one after the other."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, final

from worldline.model.errors import InputError
from worldline.trace.journal.blocks import Block, Blocks
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.damage import damaged
from worldline.trace.journal.framing import LARGEST_BLOCK
from worldline.trace.journal.messagepack import unpack
from worldline.trace.journal.records import GapRecord, JournalRecord, read
from worldline.trace.journal.segments import (
    ABSOLUTE,
    JournalHeader,
    SegmentFile,
    has_journals,
    node_of,
    segments,
)
from worldline.trace.journal.sharing import SHARED, unshare
from worldline.trace.journal.tails import joined, read_tail, stray
from worldline.trace.json_checks import Malformed

_LARGEST_SEGMENT = 2 * LARGEST_BLOCK
"""Bytes of a segment, unpacked: a new one is begun long before."""

_LONGEST_HEAD = 18
"""Bytes of a compressed file in which it says how long it will be."""


class Turn(NamedTuple):
    """The records of one turn.

    Attributes
    ----------
    monotonic_ns, wall_ns
        When it ended, by the clock that never goes back, and by that of the wall.
    """

    monotonic_ns: int
    wall_ns: int
    records: list[JournalRecord]


@final
@dataclass(slots=True)
class Incarnation:
    """One life of a node, as far as its journal goes.

    Attributes
    ----------
    number
        1, 2, ...
    files
        Its segments, in order; the first ones may be gone.
    may_tear
        Whether the end of the last one may be torn: it was being written.
    torn
        Bytes at its end that are no whole block, once its turns have been read.
    """

    number: int
    files: tuple[SegmentFile, ...]
    may_tear: bool = True
    torn: int = 0
    _headers: list[JournalHeader] = field(default_factory=list)

    @property
    def header(self) -> JournalHeader | None:
        """The header of its first segment; None if that was torn."""
        if not self._headers:
            header = self._blocks(self.files[0], partial=True).header
            if header is not None:
                self._headers.append(header)
        return self._headers[0] if self._headers else None

    def turns(self, codec: Codec, *, partial: bool = False) -> Iterator[Turn]:
        """Yield its turns.

        Parameters
        ----------
        partial
            Whether damage is no error, but a gap: up to the next segment.

        Raises
        ------
        InputError
            If a segment is missing or damaged, or holds what the system does not know.
        """
        self.torn = 0
        first: JournalHeader | None = None
        gap, last, size = "", None, 0
        for before, each in zip((None, *self.files), self.files, strict=False):
            if before is not None and each.segment != before.segment + 1:
                gap, before = _missing(each, partial=partial), None
            blocks = self._blocks(each, partial=partial)
            header = blocks.header
            if header is not None:
                first = first or header
                self._check(each, header, first)
                if before is not None and not gap:
                    gap = _shorter(before, size, header, partial=partial)
                if gap and last is not None:
                    yield _gap_behind(last, gap)
                    gap = ""
                before_ns: tuple[int, int] | None = (0, 0)
                if header.version == ABSOLUTE:
                    before_ns = None
                for block in blocks:
                    last = _turn(each.path, block, codec, before_ns)
                    if before_ns is not None:
                        before_ns = last[:2]
                    if gap:  # before the first of all
                        last.records.insert(0, GapRecord(0, gap))
                        gap = ""
                    yield last
            self.torn += blocks.torn
            gap, size = blocks.damage or gap, blocks.size
        if gap and last is not None:
            yield _gap_behind(last, gap)

    def _check(
        self, each: SegmentFile, header: JournalHeader, first: JournalHeader
    ) -> None:
        """Look at the header of a segment: all of a life have to agree."""
        if (header.segment, header.incarnation) != (each.segment, self.number):
            raise InputError(
                f"{each.path} has the name of another segment",
                remedy="give it back its name",
            )
        for what in ("run", "node", "digest"):
            if getattr(header, what) != getattr(first, what):
                raise InputError(
                    f"{each.path} has another {what} than the segments before it",
                    remedy="put back what was there",
                )

    def _blocks(self, each: SegmentFile, *, partial: bool) -> Blocks:
        is_last = each is self.files[-1] and self.may_tear
        folder = each.path.parent
        tail = read_tail(folder)  # before the file
        data, is_whole = contents(each, partial=partial)
        lost = 0
        if tail is not None and tail.is_of(each):
            data, lost = joined(data, tail)
        elif tail is not None and is_last and each == segments(folder)[-1]:
            lost = stray(tail, folder)
        return Blocks(
            each.path,
            data,
            is_last=is_last,
            is_short=not is_whole,
            lost=lost,
            partial=partial,
        )


@final
@dataclass(frozen=True, slots=True)
class NodeJournal:
    """The journal of a node: its lives, in order."""

    node: str
    incarnations: tuple[Incarnation, ...]


def read_node(folder: Path) -> NodeJournal:
    """Return the journal in a folder; nothing of it is read yet.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        files = segments(folder)
    except OSError as error:
        raise InputError(
            f"cannot read {folder}: {error.strerror or error}",
            remedy="name the folder of a recording that worldline run has made",
        ) from None
    lives = groupby(files, key=lambda each: each.incarnation)
    return NodeJournal(
        node_of(folder), tuple(Incarnation(n, tuple(some)) for n, some in lives)
    )


def nodes_of(recording: Path) -> list[Path]:
    """Return the folders of the journals of a recording, by name."""
    return sorted(
        each for each in recording.iterdir() if each.is_dir() and segments(each)
    )


def is_recording(place: Path) -> bool:
    """Say whether a place is the folder of a recording."""
    return has_journals(place)


def _missing(each: SegmentFile, *, partial: bool) -> str:
    """Say that the segment before one is not there."""
    what = f"{each.path.parent} lacks the segment before {each.path.name}"
    if not partial:
        raise damaged(what)
    return what


def _shorter(
    before: SegmentFile, size: int, header: JournalHeader, *, partial: bool
) -> str:
    """Say that a segment has not the size that it had when the next one was begun."""
    if header.before is None or header.before == size:
        return ""
    what = (
        f"{before.path} has {size:,} bytes, and had {header.before:,} when the "
        "next segment was begun"
    )
    if not partial:
        raise damaged(what)
    return what


def _gap_behind(last: Turn, what: str) -> Turn:
    """Return a turn that says that from another one on something is missing."""
    return last._replace(records=[GapRecord(0, what)])


def _turn(
    path: Path, block: Block, codec: Codec, before: tuple[int, int] | None
) -> Turn:
    """Return the turn of a block, whose times go on from those before, if there are any."""
    try:
        spelt = unpack(block.content)
        if type(spelt) is not list or len(spelt) < 3 or type(spelt[2]) is not list:
            raise Malformed("", "no turn")
        monotonic, wall, records, *more = spelt
        if more == [SHARED]:
            unshare(records)
        elif more:
            raise Malformed("", "a turn with more than records")
        if type(monotonic) is not int or type(wall) is not int:
            raise Malformed("", "a turn without its time")
        if before is not None:
            wall += before[1] - before[0]
            monotonic += before[0]
            wall += monotonic
        values = codec.values
        read_all = [read(each, values) for each in records]
        return tuple.__new__(Turn, (monotonic, wall, read_all))
    except (Malformed, RecursionError) as error:
        raise InputError(
            f"{path} has at byte {block.offset} what is no turn of this system: {error}",
            remedy="replay it with the source that it was recorded with",
        ) from None


def contents(each: SegmentFile, *, partial: bool) -> tuple[bytes, bool]:
    """Return the bytes of a segment, unpacked, and whether these are all."""
    try:
        if not stat.S_ISREG(each.path.stat().st_mode):
            raise InputError(
                f"cannot read {each.path}: it is no regular file",
                remedy="put back what was there",
            )
        if each.is_packed:
            return _unpacked(each.path, partial=partial)
        if each.path.stat().st_size <= _LARGEST_SEGMENT:
            return each.path.read_bytes(), True
    except OSError as error:
        packed = each.packed
        if packed.path.exists() and not each.is_packed:  # compressed meanwhile
            return contents(packed, partial=partial)
        raise InputError(
            f"cannot read {each.path}: {error.strerror or error}",
            remedy="check its permissions",
        ) from None
    raise _too_large(each.path)


def _unpacked(path: Path, *, partial: bool) -> tuple[bytes, bool]:
    import zstandard

    data, why = bytearray(), ""
    with path.open("rb") as file:
        unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        try:
            size = zstandard.frame_content_size(file.read(_LONGEST_HEAD))
            file.seek(0)
            with unpacker.stream_reader(file, closefd=False) as stream:
                while len(data) <= _LARGEST_SEGMENT and (some := stream.read(1 << 20)):
                    data += some
        except zstandard.ZstdError as error:
            size, why = -1, str(error)
    if len(data) > _LARGEST_SEGMENT:
        raise _too_large(path)
    if not why and size > len(data):  # who reads a stream is not told that it is torn
        why = f"it is torn, with {len(data):,} of {size:,} bytes"
    if why and not partial:
        raise damaged(f"cannot unpack {path}: {why}")
    return bytes(data), not why


def _too_large(path: Path) -> InputError:
    return InputError(
        f"{path} has more than {_LARGEST_SEGMENT >> 20} MiB",
        remedy="no journal of Worldline's has; it is none",
    )
