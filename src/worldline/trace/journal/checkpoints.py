"""Checkpoints: the whole state of one node at a moment between two of its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from worldline.trace.journal.codec import Codec
from worldline.trace.journal.values import is_seconds
from worldline.trace.json_checks import Malformed


class SavedTimer(NamedTuple):
    """A timer that is pending, and the seconds until it fires."""

    part: str
    name: str
    payload: Any
    left: float


class SavedConnection(NamedTuple):
    """What a node knows of its connection with a peer.

    Attributes
    ----------
    peer
        Its index.
    is_open
        Whether there is one.
    sent, received
        Messages, since the node's start.
    """

    peer: int
    is_open: bool
    sent: int
    received: int


class NodeCheckpoint(NamedTuple):
    """The state of a node.

    Attributes
    ----------
    incarnation, lamport, counter
        Which life; the time of its last event; the sequence number that comes next.
    fields
        All of them, ignored ones too, by path: ``field`` or ``part.field``.
    timers
        Those that are pending.
    positions
        How far each of its scripts is.
    waiting
        Packets of the messages whose guards are false, the oldest first.
    connections
        Those that it has had.
    """

    incarnation: int
    lamport: int
    counter: int
    fields: Mapping[str, Any]
    timers: tuple[SavedTimer, ...]
    positions: tuple[int, ...]
    waiting: bytes
    connections: tuple[SavedConnection, ...]


def pack_checkpoint(checkpoint: NodeCheckpoint, codec: Codec) -> bytes:
    """Return a checkpoint as bytes."""
    spell = codec.values.spell
    _, _, _, fields, timers, positions, waiting, connections = checkpoint
    return codec.pack(
        [
            *checkpoint[:3],
            [[path, spell(value)] for path, value in fields.items()],
            [[part, name, spell(load), left] for part, name, load, left in timers],
            list(positions),
            waiting,
            [list(connection) for connection in connections],
        ]
    )


def unpack_checkpoint(data: bytes, codec: Codec) -> NodeCheckpoint:
    """Return the checkpoint that bytes stand for.

    Raises
    ------
    Malformed
        If they are none.
    """
    spelt = codec.unpack(data)
    if type(spelt) is not list or len(spelt) != 8:
        raise Malformed("", "no checkpoint")
    incarnation, lamport, counter = counts = spelt[:3]
    fields, timers, positions, waiting, connections = spelt[3:]
    lists = (fields, timers, positions, connections)
    if not all(map(_is_count, counts)) or not all(type(one) is list for one in lists):
        raise Malformed("", "a checkpoint without its parts")
    if type(waiting) is not bytes or not all(map(_is_count, positions)):
        raise Malformed("", "a checkpoint without its positions")
    return NodeCheckpoint(
        incarnation,
        lamport,
        counter,
        dict(_field(pair, codec) for pair in fields),
        tuple(_timer(one, codec) for one in timers),
        tuple(positions),
        waiting,
        tuple(map(_connection, connections)),
    )


def _field(pair: Any, codec: Codec) -> tuple[str, Any]:
    if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
        raise Malformed("", "a checkpoint with a field that is none")
    return pair[0], codec.values.read(pair[1])


def _timer(one: Any, codec: Codec) -> SavedTimer:
    if type(one) is not list or len(one) != 4 or not is_seconds(one[3]):
        raise Malformed("", "a checkpoint with a timer that is none")
    part, name, payload, left = one
    if type(part) is not str or type(name) is not str:
        raise Malformed("", "a checkpoint with a timer without a name")
    return SavedTimer(part, name, codec.values.read(payload), left)


def _connection(one: Any) -> SavedConnection:
    if type(one) is not list or len(one) != 4 or type(one[1]) is not bool:
        raise Malformed("", "a checkpoint with a connection that is none")
    if not all(map(_is_count, (one[0], *one[2:]))):
        raise Malformed("", "a checkpoint with a connection without its counts")
    return SavedConnection(*one)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53
