"""Segments: the files of a journal, and the blocks in them.

``RECORDING/<node>/<incarnation>-<segment>.wlj``: magic, then blocks, each with its length
and CRC-32 before it. The first block is the header, as JSON; each other one is
MessagePack, one for each turn: ``[ns, ns, records]``, with a 2 behind them where some bytes
stand for others (`sharing`). The times are by how much the monotonic clock has gone on since
the turn before, and by how much the wall clock has moved against it; before the first turn of
a segment both are 0. In version 1 they are what the two clocks showed. A closed
segment may be compressed, as ``.wlj.zst``. A block that was torn at the very end, or is
damaged there, ends the journal; damage before it is an error.
"""

# ruff: noqa: RUF009 -- `checked` is a field specifier, not a default

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, final
from urllib.parse import quote, unquote

from worldline.model.errors import InputError
from worldline.trace.json_checks import Malformed
from worldline.trace.schema import (
    checked,
    load,
    many,
    mapping,
    optional,
    text,
    whole,
)

MAGIC = b"\x89WLJ\r\n\x1a\n"
VERSION = 2
"""Written now."""

ABSOLUTE = 1
"""The version in which a turn has its times as they were."""

SUFFIX, PACKED = ".wlj", ".wlj.zst"

LARGEST_BLOCK = 64 << 20
"""Bytes of a block: a turn is ended before it has more."""

_HEAD = 8
_HEADS = struct.Struct(">II")
_head_at, _pack_head = _HEADS.unpack_from, _HEADS.pack
_SCANNED = 256 << 20
"""Bytes that are looked through for a whole block behind a damaged one."""

_TURN = b"\x93"
"""The first byte of a block's content behind the header: a list of three."""

_TRIES = 1 << 20
"""Places where one may begin, of which so many are looked at."""

_NAME = re.compile(r"(\d{1,12})-(\d{1,12})\.wlj(\.zst)?")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader:
    """The first block of each segment: whose it is, and what it was recorded with.

    Attributes
    ----------
    version
        Of the format.
    worldline
        The version that wrote it.
    system, target, parameters
        As in the header of a trace.
    digest
        The lines of the `Digest`.
    fields
        What each durable and ghost field of the node holds, in the words of its plan, by
        path.
    node, incarnation, segment
        Whose it is; which life, from 1; which of its files, from 0.
    run
        The same in all journals of a recording.
    seed
        Of the run.
    source
        A hash of the source of the system, as in the header of a trace.
    """

    version: int = checked(whole(0))
    worldline: str = checked(text)
    system: str = checked(text)
    target: str | None = checked(optional(text))
    parameters: dict[str, str] = checked(mapping(text))
    digest: tuple[str, ...] = checked(many(text))
    fields: dict[str, str] = checked(mapping(text))
    node: str = checked(text)
    incarnation: int = checked(whole(1))
    segment: int = checked(whole(0))
    run: str = checked(text)
    seed: int = checked(whole(-(2**40)))
    source: str | None = checked(optional(text), later=True)


class SegmentFile(NamedTuple):
    """A file of a journal, by what its name says."""

    incarnation: int
    segment: int
    path: Path

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed."""
        return self.path.name.endswith(PACKED)

    @property
    def packed(self) -> SegmentFile:
        """What it is once it is compressed."""
        name = self.path.name.removesuffix(PACKED).removesuffix(SUFFIX)
        return self._replace(path=self.path.with_name(f"{name}{PACKED}"))


def folder_of(recording: Path, node: str) -> Path:
    """Return the folder of a node's journal in a recording."""
    name = quote(node, safe="")
    return recording / (name.replace(".", "%2E") if not name.strip(".") else name)


def node_of(folder: Path) -> str:
    """Return the name of the node whose folder it is."""
    return unquote(folder.name)


def segments(folder: Path) -> list[SegmentFile]:
    """Return the files of a node's journal, in order.

    Of one that stands there twice, since it was being compressed, the original counts.
    """
    found: dict[tuple[int, int], SegmentFile] = {}
    for path in sorted(folder.iterdir()):
        matched = _NAME.fullmatch(path.name)
        if matched is not None:
            key = int(matched[1]), int(matched[2])
            if key not in found or found[key].is_packed:
                found[key] = SegmentFile(*key, path)
    return [found[key] for key in sorted(found)]


def has_journals(place: Path) -> bool:
    """Say whether a place is a folder with journals in it."""
    try:
        return any(each.is_dir() and segments(each) for each in place.iterdir())
    except OSError:
        return False


def nodes_in(recording: Path) -> list[str]:
    """Return the names of the nodes that have a journal in a recording."""
    return sorted(
        node_of(each)
        for each in recording.iterdir()
        if each.is_dir() and segments(each)
    )


def frame_block(content: bytes) -> bytes:
    """Return a block's content with its length and its CRC-32 before it."""
    return _pack_head(len(content), zlib.crc32(content)) + content


def opening(header: JournalHeader) -> bytes:
    """Return the first bytes of a segment."""
    content = json.dumps(asdict(header), separators=(",", ":")).encode()
    return MAGIC + frame_block(content)


class Block(NamedTuple):
    """The content of a block, and the offset in the file at which the block begins."""

    offset: int
    content: bytes


class Blocks:
    """The blocks of one segment, the header first.

    Parameters
    ----------
    data
        The segment, unpacked.
    is_last
        Whether it is the last of its incarnation, so that its end may be torn.
    is_short
        Whether more should follow, which could not be read.
    partial
        Whether damage before the end ends it, too, as if it were the end.

    Attributes
    ----------
    torn
        Bytes at the end that are no whole block, once all before have been yielded.
    damage
        What is damaged before the end, in words; empty if nothing is.
    """

    def __init__(
        self,
        path: Path,
        data: bytes,
        *,
        is_last: bool,
        is_short: bool = False,
        partial: bool,
    ) -> None:
        self._path = path
        self._data = data
        self._is_short = is_short
        self._may_tear = is_last and not is_short
        self._partial = partial
        self.torn = 0
        self.damage = ""
        self._rest = self._whole()

    def __iter__(self) -> Iterator[Block]:
        """Go on with the block behind the last one."""
        return self._rest

    def _whole(self) -> Iterator[Block]:
        data, at = self._data, len(MAGIC)
        if data[: len(MAGIC)] != MAGIC:
            if self._may_tear and MAGIC.startswith(data):
                self.torn = len(data)
                return
            self._break_off(f"{self._path} is no journal")
            return
        while at < len(data):
            content = _block(data, at)
            if content is None:
                self._end(at)
                return
            yield Block(at, content)
            at += _HEAD + len(content)
        if self._is_short:
            self._end(at)

    def _end(self, at: int) -> None:
        if self._may_tear and not _has_block_after(self._data, at):
            self.torn = len(self._data) - at
            return
        why = "goes on behind it" if self._may_tear else "is not the end of the journal"
        self._break_off(f"{self._path} is damaged at byte {at}, and {why}")

    def _break_off(self, what: str) -> None:
        """Take note of damage that is not at the end."""
        if not self._partial:
            raise InputError(what, remedy="--partial reads up to there")
        self.damage = what


def _block(data: bytes, at: int) -> bytes | None:
    """Return the content of the block at an offset; None if there is no whole one."""
    begin = at + _HEAD
    if begin > len(data):
        return None
    length, checksum = _head_at(data, at)
    end = begin + length
    if length > LARGEST_BLOCK or end > len(data) or not length:
        return None
    content = data[begin:end]
    return content if zlib.crc32(content) == checksum else None


def _has_block_after(data: bytes, at: int) -> bool:
    """Say whether a whole block begins somewhere behind an offset."""
    looked = tries = 0
    found = data.find(_TURN, at + 1 + _HEAD)
    while found >= 0:
        offset = found - _HEAD
        length = int.from_bytes(data[offset : offset + 4], "big")
        if length and found + length <= len(data):
            looked += length
            if looked > _SCANNED:
                return True  # nobody writes such a file by chance
            if _block(data, offset) is not None:
                return True
        tries += 1
        if tries > _TRIES:
            return True
        found = data.find(_TURN, found + 1)
    return False


def parse_header(path: Path, content: bytes) -> JournalHeader:
    """Return the header that the first block of a segment is.

    Raises
    ------
    InputError
        If it is none, or of a version that is not known.
    """
    try:
        said: Any = json.loads(content)
        version = said["version"] if isinstance(said, dict) else None
        if version in (ABSOLUTE, VERSION):
            return load(JournalHeader, said)
    except (ValueError, KeyError, RecursionError, Malformed) as error:
        raise InputError(
            f"{path} has a header that is none: {error}",
            remedy="name the folder of a recording that worldline run has made",
        ) from None
    raise InputError(
        f"{path} is a journal of version {version!r}; known are {ABSOLUTE} and {VERSION}",
        remedy="read it with the worldline that recorded it",
    )
