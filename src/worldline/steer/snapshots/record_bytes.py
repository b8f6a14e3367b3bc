"""The bytes of a checkpoint, and the checkpoint of bytes from outside.

They have no number: a node whose state has not changed has the same bytes again.
"""

from __future__ import annotations

from typing import Any, final

from worldline.model.checkpointing import checkpointing, first_frozen
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError
from worldline.model.message import is_message
from worldline.model.node import NodeType
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.steer.snapshots.channels import MOST_OTHERS
from worldline.steer.snapshots.log import (
    FoundCheckpoint,
    KeptCheckpoint,
    KnownCheckpoint,
)
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.records import (
    ChannelRecord,
    HeardEnd,
    MemberRecord,
    UnreceivedMessage,
)
from worldline.steer.snapshots.tails import MOST_TAIL
from worldline.steer.unchanged import MOST_NUMBER
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import Raw, unpacker
from worldline.trace.journal.values import Values, is_seconds
from worldline.trace.json_checks import Malformed

_parts = unpacker(tuple[Any, Raw, Any, Any, Any, Any, list[Raw]])
"""Returns the parts of a checkpoint, of which its fields and each channel are not looked
into: mostly they are spelt as the last time."""

_ADVICE = (
    "leave out large fields that properties need not read, wl.field(checkpoint=False)",
    "most of them are messages that are under way or wait; send smaller ones, or fewer",
)
"""What to do about fields that are too large, and about messages."""

_CHANNEL = 9


@final
class RecordBytes:
    """The spelling of the checkpoints of one system."""

    def __init__(self, system: System, codec: Codec) -> None:
        self._system, self._codec = system, codec
        self._values = codec.values
        self._messages = Values(codec.vocabulary, constant=True)
        self._read: dict[int, _ReadBefore] = {}
        self._spelt: dict[int, tuple[Frozen, Raw]] = {}

    def kept(self, record: MemberRecord, index: int, time: float) -> KeptCheckpoint:
        """Return a checkpoint of a node with its bytes.

        Raises
        ------
        ModelError
            If it holds what cannot be spelt, or is too large.
        """
        number, body = record.number, self.pack(record, index)
        found = FoundCheckpoint(number, KnownCheckpoint.of(body))
        return KeptCheckpoint(record.under(number, body), found, time)

    def pack(self, record: MemberRecord, index: int) -> bytes:
        """Return the bytes of a checkpoint of a node.

        Raises
        ------
        ModelError
            If it holds what cannot be spelt, or is too large.
        """
        if record.body is not None:
            return record.body
        spell, spelt = self._values.spell, self._spelt.get(index)
        if spelt is None or spelt[0] is not record.local:
            fields = self._fields(self._system.types[index], record.local)
            spelt = record.local, Raw(self._codec.pack(fields))
            self._spelt[index] = spelt
        body = self._codec.pack(
            [
                record.life,
                spelt[1],
                [[t.part, t.name, spell(t.payload), at] for t, at in record.timers],
                list(record.positions),
                record.sequence,
                [self._sent(*one) for one in record.waiting],
                [self._channel(peer, one) for peer, one in record.channels.items()],
            ]
        )
        if len(body) > LARGEST:
            are_messages = 2 * len(bytes(spelt[1])) < len(body)
            raise ModelError(
                f"a checkpoint of {self._system.ids[index]} has {len(body):,} bytes",
                remedy=f"it may have {LARGEST:,}: {_ADVICE[are_messages]}",
            )
        return body

    def unpack(self, body: bytes, index: int, number: int) -> MemberRecord:
        """Return the checkpoint of a node that bytes from outside stand for.

        Raises
        ------
        Malformed
            If they are none.
        """
        read = self._read.get(index)
        if read is None or read.body != body:
            read = self._read[index] = self._unpacked(body, index, read)
        return read.record.under(number, body)

    # ------------------------------------------------------------------------ inside

    def _unpacked(
        self, body: bytes, index: int, before: _ReadBefore | None
    ) -> _ReadBefore:
        life, fields, timers, positions, sequence, waiting, channels = _parts(body)
        if not all(map(is_number, (life, sequence))) or not _are_lists(
            timers, positions, waiting
        ):
            raise Malformed("", "a checkpoint without its parts")
        if not all(map(is_number, positions)):
            raise Malformed("", "a checkpoint without its positions")
        read = _ReadBefore(body, bytes(fields))
        try:
            if before is not None and before.fields == read.fields:
                local = before.record.local
            else:
                local = self._read_fields(index, fields)
            known = {} if before is None else before.channels
            for spelling in map(bytes, channels):
                channel = known.get(spelling)
                if channel is None:
                    channel = self._read_channel(self._codec.unpack(spelling))
                read.channels[spelling] = channel
            read.record = MemberRecord(
                0,
                life,
                local,
                tuple(map(self._timer, timers)),
                tuple(positions),
                sequence,
                tuple(map(self._waiting, waiting)),
                dict(read.channels.values()),
            )
        except ModelError as error:
            raise Malformed("", error.what) from None
        return read

    def _read_fields(self, index: int, spelling: bytes) -> Frozen:
        kind, prototype = self._system.types[index], self._system.prototypes[index]
        return self._local(kind, prototype, self._codec.unpack(spelling))

    def _fields(self, kind: NodeType, frozen: Frozen) -> list[Any]:
        kept_out = checkpointing(kind).kept_out
        spelt = []
        for name, value in zip(kind.identity, frozen[1:], strict=True):
            inner = kind.parts.get(name)
            if inner is not None:
                spelt.append(self._fields(inner, value))
            elif name not in kept_out:
                spelt.append(self._values.spell(thaw(value)))
        return spelt

    def _local(self, kind: NodeType, prototype: Any, spelt: Any) -> Frozen:
        kept_out = checkpointing(kind).kept_out
        if type(spelt) is not list:
            raise Malformed("", "a checkpoint without its fields")
        left, frozen = iter(spelt), []
        for name in kind.identity:
            inner = kind.parts.get(name)
            if inner is None and name in kept_out:
                frozen.append(first_frozen(kind, prototype, name))
                continue
            value = next(left, _MISSING)
            if value is _MISSING:
                raise Malformed("", "a checkpoint without a field")
            if inner is not None:
                frozen.append(self._local(inner, prototype.__dict__[name], value))
            else:
                frozen.append(freeze(self._values.read(value)))
        if next(left, _MISSING) is not _MISSING:
            raise Malformed("", "a checkpoint with another field")
        return (kind.cls, *frozen)

    def _sent(self, src: NodeId, part: str, message: Any) -> list[Any]:
        return [self._system.index[src], part, self._messages.spell(message)]

    def _timer(self, one: Any) -> tuple[PendingTimer, float]:
        if not _are_lists(one) or len(one) != 4 or not is_seconds(one[3]):
            raise Malformed("", "a checkpoint with a timer that is none")
        part, name, payload, after = one
        if type(part) is not str or type(name) is not str:
            raise Malformed("", "a checkpoint with a timer without a name")
        return PendingTimer(part, name, self._values.read(payload)), after

    def _waiting(self, one: Any) -> tuple[NodeId, str, Any]:
        if not _are_lists(one) or len(one) != 3:
            raise Malformed("", "a checkpoint with a message that is none")
        node = self._codec.vocabulary.node(one[0])
        if node is None:
            raise Malformed("", "a checkpoint with a message from nobody")
        return (node, *self._message(one[1], one[2]))

    def _message(self, part: Any, spelt: Any) -> tuple[str, Any]:
        message = self._messages.read(spelt)
        if type(part) is not str or not is_message(message):
            raise Malformed("", "a checkpoint with a message that is none")
        freeze(message)  # and so holds what a message can hold
        return part, message

    def _channel(self, peer: int, one: ChannelRecord) -> list[Any]:
        spell = self._messages.spell
        return [
            peer,
            one.connection,
            one.sent,
            [[each.number, each.part, spell(each.message)] for each in one.tail],
            None if one.heard is None else list(one.heard),
            None if one.closed is None else list(one.closed),
            one.received,
            list(one.others),
            one.life,
        ]

    def _read_channel(self, spelt: Any) -> tuple[int, ChannelRecord]:
        if not _are_lists(spelt) or len(spelt) != _CHANNEL:
            raise Malformed("", "a checkpoint with a channel that is none")
        peer, connection, sent, tail, heard, closed, received, others, life = spelt
        if self._codec.vocabulary.node(peer) is None or not _are_lists(tail, others):
            raise Malformed("", "a checkpoint with a channel to nobody")
        if len(tail) > MOST_TAIL or len(others) > MOST_OTHERS:
            raise Malformed("", "a checkpoint with more of a channel than is kept")
        counts = (connection, sent, received, *others, 0 if life is None else life)
        if not all(map(is_number, counts)):
            raise Malformed("", "a checkpoint with a channel without its counts")
        return peer, ChannelRecord(
            connection,
            sent,
            tuple(map(self._tail, tail)),
            _end(heard),
            _end(closed),
            received,
            tuple(others),
            life,
        )

    def _tail(self, one: Any) -> UnreceivedMessage:
        if not _are_lists(one) or len(one) != 3 or not is_number(one[0]):
            raise Malformed("", "a checkpoint with a message that is none")
        return UnreceivedMessage(one[0], *self._message(one[1], one[2]))


@final
class _ReadBefore:
    """What was read last of the checkpoints of a node: mostly little of it has changed.

    Attributes
    ----------
    body, fields
        The bytes of it all, and of its fields.
    channels
        By the bytes of each, its channels.
    record
        What it says, under whichever number.
    """

    __slots__ = ("body", "channels", "fields", "record")

    record: MemberRecord

    def __init__(self, body: bytes, fields: bytes) -> None:
        self.body, self.fields = body, fields
        self.channels: dict[bytes, tuple[int, ChannelRecord]] = {}


_MISSING: Any = object()


def is_number(value: Any) -> bool:
    """Say whether something from outside counts something."""
    return type(value) is int and 0 <= value < MOST_NUMBER


def _are_lists(*values: Any) -> bool:
    return all(type(one) is list for one in values)


def _end(spelt: Any) -> HeardEnd | None:
    if spelt is None:
        return None
    if not _are_lists(spelt) or len(spelt) != 2 or not is_number(spelt[0]):
        raise Malformed("", "a checkpoint with an end that is none")
    life, connection = spelt
    if connection != -1 and not is_number(connection):
        raise Malformed("", "a checkpoint with an end that is none")
    return HeardEnd(life, connection)
