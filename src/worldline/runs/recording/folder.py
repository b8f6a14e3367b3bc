"""A recording as a folder: the journals of its nodes, and what it was recorded with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.model.errors import InputError
from worldline.model.printable import one_line
from worldline.model.system import System
from worldline.trace.journal.checkpoints import NodeCheckpoint, unpack_checkpoint
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import (
    MOST_LAMPORT,
    MOST_SENDS,
    MessageFrame,
    NamedFrame,
    places,
)
from worldline.trace.journal.messagepack import unpack
from worldline.trace.journal.reading import (
    Incarnation,
    NodeJournal,
    Turn,
    nodes_of,
    read_node,
)
from worldline.trace.journal.segments import JournalHeader
from worldline.trace.json_checks import Malformed
from worldline.trace.records import Header

_RECORDED = "name the folder of a recording that worldline run has made"


def journals_in(folder: Path) -> dict[str, NodeJournal]:
    """Return the journals in the folder of a recording, by the names of the nodes.

    Raises
    ------
    InputError
        If it is no recording, or journals of several runs.
    """
    try:
        found = {each.node: each for each in map(read_node, nodes_of(folder))}
    except OSError as error:
        raise InputError(
            f"cannot read {folder}: {error.strerror}", remedy=_RECORDED
        ) from None
    if not found:
        raise InputError(f"{folder} has no journals", remedy=_RECORDED)
    return found


def header_of(folder: Path) -> JournalHeader:
    """Return what a recording says of itself: the header of a journal.

    Raises
    ------
    InputError
        If it is no recording, the journals are not of one run, or none has a header.
    """
    first: JournalHeader | None = None
    for name, journal in journals_in(folder).items():
        for header in _headers([journal]):
            if header.node != name:
                raise InputError(
                    f"the journal in {folder} of {one_line(name)} is that of "
                    f"{one_line(header.node)}",
                    remedy="give its folder the name of the node again",
                )
            if first is not None and header.run != first.run:
                raise InputError(
                    f"{folder} has journals of two runs, of {one_line(first.node)} and "
                    f"{one_line(header.node)}",
                    remedy="put the journals of each run into a folder of its own",
                )
            first = first or header
    if first is None:
        raise InputError(f"no journal in {folder} has a header", remedy=_RECORDED)
    return first


def _headers(journals: Iterable[NodeJournal]) -> Iterator[JournalHeader]:
    """Yield the header of each life, but for one that was torn."""
    for journal in journals:
        for life in journal.incarnations:
            if life.header is not None:
                yield life.header


def as_trace_header(header: JournalHeader) -> Header:
    """Return the header of a trace of the same system, as far as journals tell."""
    return Header(
        worldline=header.worldline,
        system=header.system,
        target=header.target,
        parameters=header.parameters,
        source=header.source,
        seed=header.seed,
        engine="recording",
        nodes=(),
        network={},
        faults={},
        options={},
        cuts=(),
        properties=(),
    )


_KEPT_BYTES = 16 << 20
"""Bytes of journals that are read from their files once; decoded they are four times that."""


@final
@dataclass(slots=True)
class _Life:
    """An incarnation, with what decodes it.

    Attributes
    ----------
    is_kept
        Whether what was decoded is kept for the next time. For that alone: what comes from
        it is put into nodes, and is changed there.
    """

    incarnation: Incarnation
    codec: Codec
    partial: bool
    is_kept: bool
    _kept: list[Turn] | None = None

    @property
    def number(self) -> int:
        return self.incarnation.number

    @property
    def torn(self) -> int:
        return self.incarnation.torn

    def turns(self) -> Iterator[Turn]:
        kept, self._kept = self._kept, None
        if kept is not None:
            return iter(kept)
        turns = self.incarnation.turns(self.codec, partial=self.partial)
        return self._keeping(turns) if self.is_kept else turns

    def _keeping(self, turns: Iterator[Turn]) -> Iterator[Turn]:
        kept = []
        for turn in turns:
            kept.append(turn)
            yield turn
        self._kept = kept


def _is_small(journals: Iterable[NodeJournal]) -> bool:
    """Say whether all journals together are small enough to be kept in memory."""
    size = 0
    for each in (f for j in journals for life in j.incarnations for f in life.files):
        try:
            size += each.path.stat().st_size
        except OSError:
            return False  # who reads it says why
        if each.is_packed or size > _KEPT_BYTES:
            return False
    return True


@final
class JournalFolder:
    """The journals of a recorded run, to be run again on a system.

    Parameters
    ----------
    partial
        Whether a damaged journal is taken for what comes before the damage.

    Attributes
    ----------
    header
        What the recording says of itself.
    sources
        The hashes of the source with which nodes ran, as far as they are known.

    Raises
    ------
    InputError
        If it is no recording, or one of a system with other nodes or messages.
    """

    def __init__(self, folder: Path, system: System, *, partial: bool = False) -> None:
        self.header = as_trace_header(header_of(folder))
        self._codec = codec = Codec(system)
        self._found = journals_in(folder)
        self.sources: set[str] = set()
        for header in _headers(self._found.values()):
            if header.source is not None:
                self.sources.add(header.source)
            difference = codec.digest.difference(header.digest)
            if difference is not None:
                raise InputError(
                    f"{folder} was recorded with other nodes or messages at "
                    f"{one_line(header.node)}: {one_line(difference)}",
                    remedy="replay it with the system and parameters that it was "
                    "recorded with; what its observers name is part of it",
                )
        self._names = [node.name for node in system.ids]
        is_kept = _is_small(self._found.values())
        self._lives = {
            name: [
                _Life(life, codec, partial, is_kept) for life in journal.incarnations
            ]
            for name, journal in self._found.items()
        }
        for name in self._found.keys() - set(self._names):
            raise InputError(
                f"{folder} has a journal of {one_line(name)}, which is no node of "
                f"{system.name}",
                remedy="take it out of the folder",
            )

    def lives(self, index: int) -> list[_Life] | None:
        """Return the incarnations of a node; None if it has no journal."""
        return self._lives.get(self._names[index])

    def digest_of(self, part: str, message: Any) -> bytes:
        """Return the digest of a message by which large ones are known."""
        return self._codec.digest_of(part, message)

    def frames(self, packets: bytes) -> Sequence[MessageFrame | NamedFrame]:
        """Return the messages of some packets."""
        read = self._codec.frame
        found: list[MessageFrame | NamedFrame] = []
        try:
            for begin, end in places(packets):
                frame = read(packets[begin:end])
                if not isinstance(frame, MessageFrame | NamedFrame):
                    raise Malformed("", "a frame that is no message")
                found.append(frame)
        except Malformed as error:
            raise _of_another(
                f"packets that are none of this system: {error}"
            ) from None
        return found

    def names(self, packets: bytes) -> Sequence[tuple[int, int, int, int]]:
        """Return the names of the messages of some packets, and decode no more."""
        try:
            return [
                _name_of(unpack(packets[begin:end])) for begin, end in places(packets)
            ]
        except Malformed as error:
            raise _of_another(
                f"packets that are none of this system: {error}"
            ) from None

    def checkpoint(self, state: bytes) -> NodeCheckpoint:
        """Return the state of a node that was written down."""
        try:
            return unpack_checkpoint(state, self._codec)
        except Malformed as error:
            raise _of_another(f"a checkpoint that is none: {error}") from None


def _name_of(spelt: Any) -> tuple[int, int, int, int]:
    """Return the name of the message that a frame is, from what was unpacked of it."""
    if type(spelt) is list and len(spelt) > 4:
        _, sender, incarnation, lamport, place, *_ = spelt
        if (
            type(sender) is type(incarnation) is type(lamport) is type(place) is int
            and 0 <= sender < _SENDERS
            and 0 <= incarnation < _INCARNATIONS
            and 0 <= lamport < MOST_LAMPORT
            and 0 <= place < MOST_SENDS
        ):
            return sender, incarnation, lamport, place
    raise Malformed("", "a frame without the name of a message")


_SENDERS, _INCARNATIONS = 2**31, 2**53
"""Senders and incarnations: more than there can be."""


def _of_another(what: str) -> InputError:
    return InputError(
        f"a journal has {what}",
        remedy="replay it with the source that it was recorded with",
    )
