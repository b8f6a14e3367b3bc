"""Segments: the files of a journal, and the blocks in them.

``RECORDING/<node>/<incarnation>-<segment>.wlj``: magic, then blocks (`framing`). The first
block is the header, as JSON; each other one is MessagePack, one for each turn: ``[ns, ns,
records]``, with a 2 behind them where some bytes stand for others (`sharing`). The times are by
how much the monotonic clock has gone on since the turn before, and by how much the wall clock has
moved against it; before the first turn of a segment both are 0. A closed segment may be
compressed, as ``.wlj.zst``. A block that was torn at the very end, or is damaged there, ends the
journal; damage before it is an error (`damage`). Blocks at the end of the segment that is written may
stand in a file beside it (`tails`).

Before version 3 a block was the same wherever it stood, and no segment said how long the one
before it was; in version 1 times are what the two clocks showed.
"""

# ruff: noqa: RUF009 -- `checked` is a field specifier, not a default

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, final
from urllib.parse import quote, unquote

from worldline.model.errors import InputError
from worldline.trace.journal.framing import MAGIC, frame_block
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

VERSION = 4
"""Written now: in it the change of a list may keep its end."""

BOUND = 3
"""The version from which blocks are bound to their places, and segments to the one before."""

ABSOLUTE = 1
"""The version in which a turn has its times as they were."""

SUFFIX, PACKED = ".wlj", ".wlj.zst"

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
    before
        Bytes that the segment before it has, unpacked; None if it is the first of its life.
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
    before: int | None = checked(optional(whole(0)), later=True)


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


def opening(header: JournalHeader) -> bytes:
    """Return the first bytes of a segment."""
    content = json.dumps(asdict(header), separators=(",", ":")).encode()
    return MAGIC + frame_block(content)


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
        if type(version) is int and ABSOLUTE <= version <= VERSION:
            return load(JournalHeader, said)
    except (ValueError, KeyError, RecursionError, Malformed) as error:
        raise InputError(
            f"{path} has a header that is none: {error}",
            remedy="name the folder of a recording that worldline run has made",
        ) from None
    raise InputError(
        f"{path} is a journal of version {version!r}; known are {ABSOLUTE} to {VERSION}",
        remedy="read it with the worldline that recorded it",
    )
