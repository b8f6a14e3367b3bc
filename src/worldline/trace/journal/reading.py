"""Reading the journal of one node: its lives, and their turns, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, final

from worldline.model.errors import InputError
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import unpack
from worldline.trace.journal.records import JournalRecord, read
from worldline.trace.journal.segments import (
    LARGEST_BLOCK,
    Block,
    Blocks,
    JournalHeader,
    SegmentFile,
    node_of,
    parse_header,
    segments,
)
from worldline.trace.json_checks import Malformed

_LARGEST_SEGMENT = 2 * LARGEST_BLOCK
"""Bytes of a segment, unpacked: a new one is begun long before."""


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
    torn
        Bytes at its end that are no whole block, once its turns have been read.
    """

    number: int
    files: tuple[SegmentFile, ...]
    torn: int = 0
    _headers: list[JournalHeader] = field(default_factory=list)

    @property
    def header(self) -> JournalHeader | None:
        """The header of its first segment; None if that was torn."""
        if not self._headers:
            self._headers += [head for head, _ in self._opened(self.files[0], True)]
        return self._headers[0] if self._headers else None

    def turns(self, codec: Codec, *, partial: bool = False) -> Iterator[Turn]:
        """Yield its turns.

        Parameters
        ----------
        partial
            Whether damage ends it, and is no error.

        Raises
        ------
        InputError
            If a segment is missing or damaged, or holds what the system does not know.
        """
        self.torn = 0
        for before, each in zip((None, *self.files), self.files, strict=False):
            if before is not None and each.segment != before.segment + 1:
                raise InputError(
                    f"{each.path.parent} lacks the segment before {each.path.name}",
                    remedy="put it back, or remove those before it",
                )
            for header, blocks in self._opened(each, partial):
                if header.segment != each.segment or header.incarnation != self.number:
                    raise InputError(
                        f"{each.path} has the name of another segment",
                        remedy="give it back its name",
                    )
                for block in blocks:
                    yield _turn(each.path, block, codec)
                self.torn += blocks.torn

    def _opened(
        self, each: SegmentFile, partial: bool
    ) -> Iterator[tuple[JournalHeader, Blocks]]:
        """Yield a segment, its header read; nothing if that is torn."""
        is_last = each is self.files[-1]
        data = _contents(each)
        blocks = Blocks(each.path, data, is_last=is_last, partial=partial)
        first = next(iter(blocks), None)
        if first is None:
            self.torn = blocks.torn
            return
        yield parse_header(each.path, first.content), blocks


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
    return place.is_dir() and bool(nodes_of(place))


def _turn(path: Path, block: Block, codec: Codec) -> Turn:
    try:
        spelt = unpack(block.content)
        if type(spelt) is not list or len(spelt) != 3 or type(spelt[2]) is not list:
            raise Malformed("", "no turn")
        monotonic, wall, records = spelt
        if type(monotonic) is not int or type(wall) is not int:
            raise Malformed("", "a turn without its time")
        return Turn(monotonic, wall, [read(each, codec.values) for each in records])
    except (Malformed, RecursionError) as error:
        raise InputError(
            f"{path} has at byte {block.offset} what is no turn of this system: {error}",
            remedy="replay it with the source that it was recorded with",
        ) from None


def _contents(each: SegmentFile) -> bytes:
    """Return the bytes of a segment, unpacked."""
    import zstandard

    try:
        if not each.is_packed:
            size = each.path.stat().st_size
            if size <= _LARGEST_SEGMENT:
                return each.path.read_bytes()
        else:
            with each.path.open("rb") as file:
                unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 27)
                with unpacker.stream_reader(file, read_across_frames=True) as stream:
                    data = stream.read(_LARGEST_SEGMENT + 1)
            if len(data) <= _LARGEST_SEGMENT:
                return data
    except (OSError, zstandard.ZstdError) as error:
        raise InputError(
            f"cannot read {each.path}: {error}",
            remedy="check its permissions; what is damaged cannot be mended",
        ) from None
    raise InputError(
        f"{each.path} has more than {_LARGEST_SEGMENT >> 20} MiB",
        remedy="no journal of Worldline's has; it is none",
    )
