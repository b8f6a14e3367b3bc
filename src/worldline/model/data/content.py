"""The content of frozen values: their order, their bytes, their hash.

All three are the same in every process: nothing here looks at addresses, hash seeds
or the order in which anything was built.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from hashlib import blake2b
from operator import attrgetter
from typing import Any, TypeAlias

from worldline.model.data.identity import NodeId

Frozen: TypeAlias = Any
"""A canonical hashable value; see the module's docstring."""


class Tag:
    """The first element of a frozen tuple: which type it stands for."""

    __slots__ = ("name", "rank")

    def __init__(self, name: str, rank: int) -> None:
        self.name = name
        self.rank = rank

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name.upper()  # there is one of each: the constant of this module


BOOL = Tag("bool", 1)
FLOAT = Tag("float", 3)
ENUM = Tag("enum", 6)
TUPLE = Tag("tuple", 8)
LIST = Tag("list", 9)
FROZENSET = Tag("frozenset", 10)
SET = Tag("set", 11)
MAP = Tag("map", 12)
DICT = Tag("dict", 13)
TIME = Tag("time", 14)
DURATION = Tag("duration", 15)
ABSENT = Tag("absent", 17)

UNORDERED: set[Any] = {FROZENSET, SET}
"""Tags of values whose items are kept in canonical order and have no other.

Classes of mailboxes are declared so where they are defined.
"""

FALSE, TRUE = (BOOL, 0), (BOOL, 1)

BELOW_ZERO = (FLOAT, -0.0, "-")
"""The zero with a sign: Python says that it equals 0.0, and a handler can tell them apart."""

_RANK_NONE, _RANK_INT, _RANK_STR, _RANK_BYTES, _RANK_NODE, _RANK_RECORD = (
    0,
    2,
    4,
    5,
    7,
    16,
)


def order_key(frozen: Frozen) -> tuple[Any, ...]:
    """Return a key that orders any two frozen values, the same in every process.

    Types come before values; within a type the natural order holds, so that a set
    of ints iterates in numeric order and one of node ids in declaration order.
    """
    cls = type(frozen)
    if cls is tuple:
        tag, rest = frozen[0], frozen[1:]
        if type(tag) is Tag:
            if tag is BOOL or tag is FLOAT:
                return (tag.rank, *rest)
            if tag is ENUM:
                return (tag.rank, _class_name(rest[0]), _position(*rest))
            return (tag.rank, *map(order_key, rest))
        return (_RANK_RECORD, _class_name(tag), *map(order_key, rest))
    if cls is int:
        return (_RANK_INT, frozen)
    if cls is str:
        return (_RANK_STR, frozen)
    if frozen is None:
        return (_RANK_NONE,)
    if cls is NodeId:
        return (_RANK_NODE, frozen.index)
    if cls is bytes:
        return (_RANK_BYTES, frozen)
    if frozen._order is None:
        frozen._order = order_key(frozen.key)
    order: tuple[Any, ...] = frozen._order
    return order


class Sealed:
    """A value that stands for itself when frozen, and is known by its key.

    Sealed values are few and are met again and again, so their place in the order
    and their content are worked out once.

    Parameters
    ----------
    key
        A frozen value; equal keys mean equal values.
    """

    __slots__ = ("_content", "_hash", "_order", "key")

    def __init__(self, key: Frozen) -> None:
        self.key = key
        self._hash = hash(key)
        self._order: tuple[Any, ...] | None = None
        self._content: bytes | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Sealed) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash


def _position(cls: type[enum.Enum], name: str) -> int:
    return list(cls.__members__).index(name)


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def canonical_bytes(frozen: Frozen) -> bytes:
    """Encode a frozen value so that equal bytes mean equal values, in any process."""
    if type(frozen) is tuple:
        return _of_tuple(frozen)
    return _encoders.get(type(frozen), _of_object)(frozen)


def _of_tuple(frozen: tuple[Any, ...]) -> bytes:
    kind = (frozen[0], len(frozen))
    head = _heads.get(kind)
    if head is None:
        head = _heads[kind] = _head(*kind)
    of = _encoders.get
    return head + b"".join([of(type(i), _of_object)(i) for i in frozen[1:]])


def _of_part(frozen: tuple[Any, ...]) -> bytes:
    """Encode a tuple inside another: few of them make up very many values."""
    part = _parts.get(frozen)
    if part is None:
        if len(_parts) >= _MOST_PARTS:
            _parts.clear()
        part = _parts[frozen] = _of_tuple(frozen)
    return part


_parts: dict[Frozen, bytes] = {}
_MOST_PARTS = 16_384


def _head(tag: Tag | type, size: int) -> bytes:
    if type(tag) is Tag:
        return b"(%d:%d " % (tag.rank, size - 1)
    return b"(r%d %b" % (size - 1, canonical_bytes(tag))


_heads: dict[tuple[Tag | type, int], bytes] = {}
"""How tuples begin, by tag and length."""


def _of_str(frozen: str) -> bytes:
    raw = frozen.encode("utf-8", "surrogatepass")
    return b"s%d:%b" % (len(raw), raw)


def _of_object(frozen: Any) -> bytes:
    """Encode what is `Sealed`, or a class."""
    if isinstance(frozen, type):
        # Only the qualified name: a file module's name depends on its path.
        return b"t%b " % frozen.__qualname__.encode()
    if frozen._content is None:
        frozen._content = canonical_bytes(frozen.key)
    content: bytes = frozen._content
    return content


_LONG = 10**4000
"""Ints from here on are not written in decimal, which Python may refuse."""


def _of_int(frozen: int) -> bytes:
    return b"i%d " % frozen if -_LONG < frozen < _LONG else b"l%x " % frozen


_encoders: dict[type, Callable[[Any], bytes]] = {
    tuple: _of_part,
    int: _of_int,
    str: _of_str,
    type(None): lambda frozen: b"n ",
    NodeId: attrgetter("content"),
    bytes: lambda frozen: b"b%d:%b" % (len(frozen), frozen),
    float: lambda frozen: b"f%b " % repr(frozen).encode(),
}


def fingerprint(frozen: Frozen) -> int:
    """Return the 64-bit content hash of a frozen value, the same in any process."""
    digest = blake2b(canonical_bytes(frozen), digest_size=8).digest()
    return int.from_bytes(digest, "little")
