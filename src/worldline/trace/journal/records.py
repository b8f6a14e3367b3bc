"""The records of a journal: what cannot be worked out again when a run is replayed.

A *block* holds the records of one turn. Some of them are *events* of the node: a start, a
timer that fired, a call, an error, a message that is tried again, and each message that
was received. These are numbered from 0 within their block; all other records tell about
one of them, by that number, or about the node. What the node sent and how its fields
changed follows from its handlers and is not written down, nor are Lamport times, which
follow from those of the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from worldline.trace.journal.alike import ALIKE, packets_of
from worldline.trace.journal.messagepack import pack
from worldline.trace.journal.patches import FieldPatch, ListPatch, MembersPatch
from worldline.trace.journal.values import Values, is_seconds
from worldline.trace.json_checks import Malformed


class StartedRecord(NamedTuple):
    """A life of the node begins; an event.

    Attributes
    ----------
    incarnation, lamport, counter
        Which life; the Lamport time before it, and the sequence counter.
    durable
        The durable and ghost fields as they were loaded, by path; None in a first life.
    clock
        What the node's clock showed, in seconds.
    """

    incarnation: int
    lamport: int
    counter: int
    durable: Mapping[str, Any] | None
    clock: float


class ReceivedRecord(NamedTuple):
    """Packets with messages, as they came in: an event for each."""

    packets: bytes


class FiredRecord(NamedTuple):
    """A timer fired; an event."""

    part: str
    name: str
    payload: Any


class CalledRecord(NamedTuple):
    """An application made a call; an event."""

    name: str
    arguments: tuple[Any, ...]


class ErredRecord(NamedTuple):
    """A connection failed; an event.

    Attributes
    ----------
    peer
        The index of the node at its other end.
    kind
        ``lost`` or ``unreachable``.
    reason
        In words.
    """

    peer: int
    kind: str
    reason: str


class RetriedRecord(NamedTuple):
    """A message that waited for its guard arrives again; an event.

    Attributes
    ----------
    which
        Its place among the messages that wait, the oldest first, from 0.
    """

    which: int


class AnswersRecord(NamedTuple):
    """The answers that the handler of an event got.

    Attributes
    ----------
    event
        The event's number in its block.
    choices
        The options that it took, in order, comparisons of times among them.
    clock
        What its clock showed, in seconds, if it looked.
    refused
        Which of its sends, from 0, found a full buffer.
    """

    event: int
    choices: tuple[int, ...]
    clock: float | None
    refused: tuple[int, ...]


class FateRecord(NamedTuple):
    """What became of an event whose handler did not simply run.

    Attributes
    ----------
    what
        ``unhandled``, ``waits`` (it is tried again later), ``blocked`` (a companion kept
        it from happening) or ``undone`` (a companion took it back, or its node did).
    how
        For the last two, what happened in its place: see `Instead`, or `ENDED`.
    """

    event: int
    what: str
    how: str


class DeltaRecord(NamedTuple):
    """The durable and ghost fields that an event changed, and the sequence counter.

    Attributes
    ----------
    durable, patches
        Those that are written as a whole, by path; and how others have changed.
    """

    event: int
    durable: Mapping[str, Any]
    counter: int
    patches: tuple[FieldPatch, ...] = ()


class FailedRecord(NamedTuple):
    """A handler failed, and with it the node; see `Failure`."""

    event: int
    kind: str
    name: str
    where: str
    message: str


class CheckpointRecord(NamedTuple):
    """All of a node's state, as `checkpoints` spells it."""

    state: bytes


class StoppedRecord(NamedTuple):
    """The node stopped as it should."""

    reason: str


class GapRecord(NamedTuple):
    """Something is missing here, since it could not be written; a checkpoint follows."""

    events: int
    reason: str


JournalRecord = (
    StartedRecord
    | ReceivedRecord
    | FiredRecord
    | CalledRecord
    | ErredRecord
    | RetriedRecord
    | AnswersRecord
    | FateRecord
    | DeltaRecord
    | FailedRecord
    | CheckpointRecord
    | StoppedRecord
    | GapRecord
)

_KINDS: tuple[type[Any], ...] = (
    StartedRecord,
    ReceivedRecord,
    FiredRecord,
    CalledRecord,
    ErredRecord,
    RetriedRecord,
    AnswersRecord,
    FateRecord,
    DeltaRecord,
    FailedRecord,
    CheckpointRecord,
    StoppedRecord,
    GapRecord,
)
_NUMBER = {kind: number for number, kind in enumerate(_KINDS)}

RECEIVED, CALLED, DELTA = (
    _NUMBER[kind] for kind in (ReceivedRecord, CalledRecord, DeltaRecord)
)
"""What some records begin with when they are spelt."""

_PLAIN = frozenset(_KINDS) - {StartedRecord, FiredRecord, CalledRecord, DeltaRecord}
"""Kinds of records whose fields stand for themselves."""

_ticks: dict[FiredRecord, bytes] = {}
"""Turns of one timer without a payload, as they are packed: as many as systems have timers."""

ENDED = "ended"
"""What happened in the place of an event of which something could not be carried, be it a
message that is too large: its node ended."""

FATES = ("unhandled", "waits", "blocked", "undone")
ERRORS = ("lost", "unreachable")

_MOST = 2**53


def spell(record: JournalRecord, values: Values) -> list[Any]:
    """Return what stands for a record."""
    kind = type(record)
    if isinstance(record, DeltaRecord):
        event, durable, counter, patches = record
        parts = [_spell_patch(one, values) for one in patches] if patches else []
        return [DELTA, event, _spell_fields(durable, values), counter, parts]
    spelt: list[Any] = [_NUMBER[kind], *record]
    if kind in _PLAIN:
        return spelt
    if kind is StartedRecord:
        at = 1 + kind._fields.index("durable")
        spelt[at] = _spell_fields(spelt[at], values)
    elif kind is FiredRecord:
        spelt[3] = values.spell(spelt[3])
    elif kind is CalledRecord:
        spelt[2] = [values.spell(value) for value in spelt[2]]
    return spelt


def packed_records(records: Sequence[JournalRecord], values: Values) -> bytes:
    """Return the bytes of the records of a turn, each as `spell` has it."""
    if len(records) == 1:
        record = records[0]
        if type(record) is FiredRecord and record[2] is None:
            known = _ticks.get(record)
            if known is None:
                known = _ticks[record] = pack([spell(record, values)])
            return known
    return pack([spell(record, values) for record in records])


def _spell_fields(durable: Mapping[str, Any] | None, values: Values) -> Any:
    if durable is None:
        return None
    return [[path, values.spell(value)] for path, value in durable.items()]


def _spell_patch(patch: FieldPatch, values: Values) -> list[Any]:
    if isinstance(patch, ListPatch):
        path, kept, end, added = patch
        return [path, kept, values.spell((end,) if end else ()), values.spell(added)]
    return [patch.path, None, values.spell(patch.gone), values.spell(patch.added)]


def read(spelt: Any, values: Values) -> JournalRecord:
    """Return the record that something from a file stands for.

    Raises
    ------
    Malformed
        If it stands for none.
    """
    if type(spelt) is not list or not spelt or type(spelt[0]) is not int:
        raise Malformed("", "no record")
    if spelt[0] == 1 and len(spelt) == 2 and type(spelt[1]) is bytes:
        return tuple.__new__(ReceivedRecord, (spelt[1],))  # most are, so quickly
    number, *content = spelt
    if number == ALIKE:
        return ReceivedRecord(packets_of(spelt))
    if not 0 <= number < len(_KINDS):
        raise Malformed("", "a record of an unknown kind")
    kind = _KINDS[number]
    checks = _CHECKS[number]
    if len(content) != len(checks):
        raise Malformed("", f"a record {kind.__name__} with {len(content)} entries")
    read = [check(item, values) for check, item in zip(checks, content, strict=True)]
    made: JournalRecord = kind(*read)
    return made


def _count(item: Any, values: Values) -> int:
    if type(item) is not int or not 0 <= item < _MOST:
        raise Malformed("", "a record with no number where one is due")
    return item


def _text(item: Any, values: Values) -> str:
    if type(item) is not str:
        raise Malformed("", "a record with no text where one is due")
    return item


def _raw(item: Any, values: Values) -> bytes:
    if type(item) is not bytes:
        raise Malformed("", "a record with no bytes where they are due")
    return item


def _seconds(item: Any, values: Values) -> float:
    if not is_seconds(item):
        raise Malformed("", "a record with no seconds where they are due")
    return float(item)


def _maybe_seconds(item: Any, values: Values) -> float | None:
    return None if item is None else _seconds(item, values)


def _counts(item: Any, values: Values) -> tuple[int, ...]:
    return tuple(_count(each, values) for each in _list(item))


def _value(item: Any, values: Values) -> Any:
    return values.read(item)


def _values_of(item: Any, values: Values) -> tuple[Any, ...]:
    return tuple(map(values.read, _list(item)))


def _fields(item: Any, values: Values) -> dict[str, Any]:
    pairs = [_list(pair) for pair in _list(item)]
    if not all(len(pair) == 2 and type(pair[0]) is str for pair in pairs):
        raise Malformed("", "a record with no fields where they are due")
    return {path: values.read(value) for path, value in pairs}


def _maybe_fields(item: Any, values: Values) -> dict[str, Any] | None:
    return None if item is None else _fields(item, values)


def _patches(item: Any, values: Values) -> tuple[FieldPatch, ...]:
    return tuple(_patch(_list(one), values) for one in _list(item))


def _patch(spelt: list[Any], values: Values) -> FieldPatch:
    if len(spelt) != 4 or type(spelt[0]) is not str:
        raise Malformed("", "a change without its field")
    path, kept, *parts = spelt
    gone, added = map(values.read, parts)
    if type(gone) is not tuple or type(added) is not tuple:
        raise Malformed("", "a change that says not what has come and gone")
    if kept is None:
        return MembersPatch(path, gone, added)
    end = _count(gone[0], values) if gone else 0
    return ListPatch(path, _count(kept, values), end, added)


def _among(words: tuple[str, ...]) -> Callable[[Any, Values], str]:
    def check(item: Any, values: Values) -> str:
        if type(item) is not str or item not in words:
            raise Malformed("", f"a record with none of {', '.join(words)}")
        return item

    return check


def _list(item: Any) -> list[Any]:
    if type(item) is not list:
        raise Malformed("", "a record with no list where one is due")
    return item


_CHECKS: tuple[tuple[Callable[[Any, Values], Any], ...], ...] = (
    (_count, _count, _count, _maybe_fields, _seconds),
    (_raw,),
    (_text, _text, _value),
    (_text, _values_of),
    (_count, _among(ERRORS), _text),
    (_count,),
    (_count, _counts, _maybe_seconds, _counts),
    (_count, _among(FATES), _text),
    (_count, _fields, _count, _patches),
    (_count, _text, _text, _text, _text),
    (_raw,),
    (_text,),
    (_count, _text),
)
