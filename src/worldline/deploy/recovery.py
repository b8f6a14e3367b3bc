"""Recovery: the durable state that earlier lives of a node left in its journal."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.engine.garbage import few_collections
from worldline.model.errors import InputError
from worldline.model.node import NodeType
from worldline.model.printable import one_line
from worldline.trace.journal.checkpoints import unpack_checkpoint
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.damage import PUT_BACK
from worldline.trace.journal.frames import FURTHEST, split
from worldline.trace.journal.framing import is_opened
from worldline.trace.journal.lasting import lasting_paths, lasting_words
from worldline.trace.journal.patches import apply_all
from worldline.trace.journal.reading import (
    Incarnation,
    Turn,
    contents,
    read_node,
)
from worldline.trace.journal.records import (
    CalledRecord,
    CheckpointRecord,
    DeltaRecord,
    ErredRecord,
    FiredRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
)
from worldline.trace.journal.segments import segments
from worldline.trace.journal.tails import TAIL_NAME, SegmentTail, joined, read_tail
from worldline.trace.json_checks import Malformed

_TICKS = (FiredRecord, CalledRecord, ErredRecord, RetriedRecord)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """The state with which a life begins.

    Attributes
    ----------
    incarnation
        Its number, from 1.
    lamport, counter
        The Lamport time of the node's last event, and the sequence number that comes
        next.
    durable
        Durable and ghost fields by path; None in a first life.
    torn
        Bytes that were cut off the end of the journal, since they were no whole block.
    """

    incarnation: int
    lamport: int
    counter: int
    durable: Mapping[str, Any] | None
    torn: int = 0


def restore(folder: Path, codec: Codec, kind: NodeType) -> Restored:
    """Return what a node's journal has left for its next life; cut off a torn end.

    Raises
    ------
    InputError
        If the journal is damaged before its end, or is of a system with other fields.
    """
    torn = _fold_tail(folder)
    restored = _restored(folder, codec, kind, torn)
    _remove_tail(folder)
    return restored


def _restored(folder: Path, codec: Codec, kind: NodeType, torn: int) -> Restored:
    lives = read_node(folder).incarnations
    if not lives:
        return Restored(incarnation=1, lamport=0, counter=0, durable=None, torn=torn)
    lasting = frozenset(lasting_paths(kind))
    _refuse_others(lives, codec, kind)
    for life in reversed(lives):
        # Each segment begins with a start or a checkpoint, so the last one is enough.
        for file in reversed(life.files):
            is_last = file is life.files[-1] and not file.is_packed
            segment = Incarnation(life.number, (file,), may_tear=is_last)
            fold = _Fold(codec, lasting)
            _read(segment, fold, codec)
            torn += segment.torn
            _cut(file.path, segment.torn)
            if fold.has_begun:
                return fold.restored(lives[-1].number + 1, torn)
    number = lives[-1].number + 1
    return Restored(incarnation=number, lamport=0, counter=0, durable=None, torn=torn)


def _fold_tail(folder: Path) -> int:
    """Write what a tail has into its segment; return how many bytes of it are lost.

    It is removed then. A process may end within it at any time: whoever does it again comes to the same. Where
    the header of the segment is damaged, nobody can say what is whole, and the tail stays:
    it is needed once what was there is put back.

    Raises
    ------
    InputError
        If it, or its segment, cannot be read or written.
    """
    tail = read_tail(folder)
    try:
        lost = 0 if tail is None else _write_tail(tail, folder)
    except OSError as error:
        raise _unwritten(folder, error) from None
    if lost is None:
        return 0  # it is counted as that of its segment
    _remove_tail(folder)
    return lost


def _write_tail(tail: SegmentTail, folder: Path) -> int | None:
    for each in filter(tail.is_of, segments(folder)):
        data, _ = contents(each, partial=True)
        if not is_opened(data):
            return None
        whole, lost = joined(data, tail)
        if len(whole) > len(data) and not each.is_packed:
            with each.path.open("ab") as file:
                file.write(whole[len(data) :])
                file.flush()
                os.fsync(file.fileno())
        return lost
    return tail.length


def _remove_tail(folder: Path) -> None:
    try:
        (folder / TAIL_NAME).unlink(missing_ok=True)
    except OSError as error:
        raise _unwritten(folder, error) from None


def _unwritten(folder: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot write what is in {folder / TAIL_NAME} where it belongs: "
        f"{error.strerror or error}",
        remedy="make room in its folder, and check its permissions",
    )


def _read(segment: Incarnation, fold: _Fold, codec: Codec) -> None:
    try:
        with few_collections():
            for turn in segment.turns(codec):
                fold.take(turn)
    except InputError as error:
        if error.remedy != PUT_BACK:
            raise
        # Who begins a node cannot go on behind what is missing, as who replays can.
        raise InputError(
            error.what,
            remedy="put back what was there; in an empty folder the node begins without "
            "what it had kept",
        ) from None


def _refuse_others(lives: Sequence[Incarnation], codec: Codec, kind: NodeType) -> None:
    """Refuse a journal with durable fields that have gone, or hold something else now."""
    header = next((life.header for life in reversed(lives) if life.header), None)
    if header is None:
        return
    now = lasting_words(kind, codec)
    for path, then in header.fields.items():
        if now.get(path) != then:
            there = f"holds {now[path]}" if path in now else "is none any more"
            raise InputError(
                f"the journal of {one_line(header.node)} has the field "
                f"{one_line(path)}, which held {one_line(then)}, and in "
                f"{kind.cls.__name__} it {there}",
                remedy="start with the fields that it had, or with an empty folder",
            )


def _cut(path: Path, torn: int) -> None:
    if torn:
        # What is torn of a tail was never in the file.
        os.truncate(path, max(0, path.stat().st_size - torn))


class _Fold:
    """The durable state of a node, turn by turn."""

    def __init__(self, codec: Codec, lasting: Collection[str]) -> None:
        self._codec = codec
        self._lasting = lasting
        self.has_begun = False
        self.lamport = self.counter = 0
        self.durable: dict[str, Any] = {}

    def take(self, turn: Turn) -> None:
        """Go on with the next turn.

        Raises
        ------
        InputError
            If it holds what is none of the system.
        """
        try:
            self._take(turn)
        except Malformed as error:
            raise InputError(
                f"the journal holds what is none of this system: {error}",
                remedy="start the node with the source that it ran with",
            ) from None

    def _take(self, turn: Turn) -> None:
        # What an event has changed stands behind all events of its turn, and behind a
        # checkpoint between two of them, which has what those before it have changed.
        events = saved = 0
        for record in turn.records:
            kind = type(record)
            if isinstance(record, ReceivedRecord):
                events += self._receive(record.packets)
            elif kind in _TICKS:
                events += 1
                self.lamport += 1
            elif isinstance(record, DeltaRecord):
                if record.event >= saved:
                    apply_all(self.durable, record.durable, record.patches)
                    self.counter = record.counter
            elif isinstance(record, StartedRecord):
                events += 1
                self.has_begun = True
                self.lamport = record.lamport + 1
                self.counter = record.counter
                self.durable = dict(record.durable or {})
            elif isinstance(record, CheckpointRecord):
                self._begin_at(record)
                saved = events

    def _receive(self, packets: bytes) -> int:
        """Receive packets; return how many there are."""
        whole, count = memoryview(packets), 0
        for begin, end in split(packets):
            lamport = self._codec.lamport(whole[begin:end])
            if self.lamport < lamport < FURTHEST:
                self.lamport = lamport
            self.lamport += 1
            count += 1
        return count

    def _begin_at(self, record: CheckpointRecord) -> None:
        saved = unpack_checkpoint(record.state, self._codec)
        self.has_begun = True
        self.lamport, self.counter = saved.lamport, saved.counter
        self.durable.update(
            (path, value)
            for path, value in saved.fields.items()
            if path in self._lasting
        )

    def restored(self, incarnation: int, torn: int) -> Restored:
        """Return what there is for a life with a number."""
        return Restored(
            incarnation=incarnation,
            lamport=self.lamport,
            counter=self.counter,
            durable=self.durable,
            torn=torn,
        )
