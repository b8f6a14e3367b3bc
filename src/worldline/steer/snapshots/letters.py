"""The letters by which snapshots are gathered, which companions send each other.

Anything else that comes is one error, `Malformed`.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, sections 3.1.2, 3.1.4 and 3.1.5.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from worldline.steer.snapshots.log import DIGEST
from worldline.steer.snapshots.options import LARGEST
from worldline.steer.snapshots.record_bytes import is_number
from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.json_checks import Malformed

_SLACK = 1 << 12
"""Bytes of a letter beside what it carries."""

_MOST_NAMED = 64
"""Neighbours that a letter names."""


class Request(NamedTuple):
    """A question for the first checkpoint with a number or a greater one.

    Attributes
    ----------
    gather
        Which gather of the asking node it belongs to; replies name it.
    number
        That of the checkpoint.
    have
        The hash of the last checkpoint of that node that the asking one has, or nothing.
    flags
        `NEWS` if something has changed at the asking node, and is to be looked at by all;
        `NAMES` if the reply is to name the neighbours of the node.
    life, received
        Up to which message of which life the asking node has received what the other
        sent, and no later than the number says; both 0 if there is nothing new to say.
    """

    gather: int
    number: int
    have: bytes
    flags: int
    life: int = 0
    received: int = 0


NEWS, NAMES = 1, 2


class Reply(NamedTuple):
    """A checkpoint.

    Attributes
    ----------
    is_difference
        Whether it is compressed against the one that the asking node has.
    body
        The bytes, compressed.
    neighbours
        Those of the node, by index.
    """

    gather: int
    number: int
    is_difference: bool
    body: bytes
    neighbours: tuple[int, ...] = ()


class Same(NamedTuple):
    """The checkpoint is the one that the asking node has, but for its number."""

    gather: int
    number: int
    neighbours: tuple[int, ...] = ()


class Gone(NamedTuple):
    """The checkpoint is not kept any more; `number` is that of the newest."""

    gather: int
    number: int


class Busy(NamedTuple):
    """The node has sent as much as it may, for now."""

    gather: int


class Received(NamedTuple):
    """What a node has received, for one to which it has sent nothing since.

    Attributes
    ----------
    number
        That of its last checkpoint: as every message, this is no earlier than that.
    """

    number: int
    life: int
    received: int


class Relay(NamedTuple):
    """A letter for a node with which the sender has no connection."""

    to: int
    letter: bytes


class Relayed(NamedTuple):
    """Such a letter, from whoever passes it on."""

    origin: int
    letter: bytes


SnapshotLetter: TypeAlias = (
    Request | Reply | Same | Gone | Busy | Received | Relay | Relayed
)

_KINDS: tuple[type[SnapshotLetter], ...] = (
    Request,
    Reply,
    Same,
    Gone,
    Busy,
    Received,
    Relay,
    Relayed,
)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}


def write(letter: SnapshotLetter) -> bytes:
    """Return a letter as bytes; what it need not say is left out."""
    kind = type(letter)
    items, least = list(letter), len(kind._fields) - len(kind._field_defaults)
    if tuple(items[least:]) == tuple(kind._field_defaults.values()):
        del items[least:]
    return pack([_NUMBERS[kind], *items])


def read(data: bytes, nodes: int | None = None) -> SnapshotLetter:
    """Return the letter of bytes from outside.

    Parameters
    ----------
    nodes
        How many there are; None if the letter may name any.

    Raises
    ------
    Malformed
        If they are none, or name a node that there is not.
    """
    if len(data) > LARGEST + _SLACK:
        raise Malformed("", "a letter that is too large")
    spelt = unpack(data)
    if type(spelt) is not list or not spelt or type(spelt[0]) is not int:
        raise Malformed("", "no letter")
    number, *items = spelt
    if not 0 <= number < len(_KINDS):
        raise Malformed("", "a letter of an unknown kind")
    kind: Any = _KINDS[number]
    checks = _CHECKS[kind]
    if len(items) == len(checks) - len(kind._field_defaults):
        items += [_plain(value) for value in kind._field_defaults.values()]
    if len(items) != len(checks):
        raise Malformed("", f"a {kind.__name__} of {len(items)} items")
    for check, item in zip(checks, items, strict=True):
        if not check(item):
            raise Malformed("", f"a {kind.__name__} that is none")
    made: SnapshotLetter = kind(*[tuple(i) if type(i) is list else i for i in items])
    if nodes is not None and any(index >= nodes for index in _named(made)):
        raise Malformed("", "a letter that names nobody")
    return made


def _named(letter: SnapshotLetter) -> tuple[int, ...]:
    """Return the indices of the nodes that a letter names."""
    match letter:
        case Reply() | Same():
            return letter.neighbours
        case Relay():
            return (letter.to,)
        case Relayed():
            return (letter.origin,)
        case _:
            return ()


def _plain(value: Any) -> Any:
    return list(value) if type(value) is tuple else value


def _is_digest(value: Any) -> bool:
    return type(value) is bytes and len(value) in (0, DIGEST)


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_bytes(value: Any) -> bool:
    return type(value) is bytes


def _are_numbers(value: Any) -> bool:
    return (
        type(value) is list and len(value) <= _MOST_NAMED and all(map(is_number, value))
    )


_CHECKS: dict[type[SnapshotLetter], tuple[Any, ...]] = {
    Request: (is_number, is_number, _is_digest, *[is_number] * 3),
    Reply: (is_number, is_number, _is_flag, _is_bytes, _are_numbers),
    Same: (is_number, is_number, _are_numbers),
    Gone: (is_number, is_number),
    Busy: (is_number,),
    Received: (is_number, is_number, is_number),
    Relay: (is_number, _is_bytes),
    Relayed: (is_number, _is_bytes),
}
