"""Plain data: freeze to a canonical hashable value, thaw to a fresh one.

A *frozen* value is a hashable stand-in for plain data in which equal data are
equal, different types differ (``1`` is not ``True``), sets and dicts are in
canonical order, and nothing depends on the hash seed. Scalars stand for
themselves; everything else is a tuple whose first element is its tag.

Start with `freeze`, `thaw`, `order_key` and `fingerprint`.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias

from worldline.model.errors import ModelError
from worldline.model.identity import NodeId
from worldline.model.time import EPOCH, Duration, Time

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

FALSE, TRUE = (BOOL, 0), (BOOL, 1)
_RANK_NONE, _RANK_INT, _RANK_STR, _RANK_BYTES, _RANK_NODE, _RANK_RECORD = (
    0,
    2,
    4,
    5,
    7,
    16,
)

_freezers: dict[type, Callable[[Any], Frozen]] = {}
_thawers: dict[object, Callable[[tuple[Any, ...]], Any]] = {}


class Unfreezable(ModelError):
    """A value that is not plain data."""

    def __init__(self, value: object, path: str = "") -> None:
        place = f"{path} holds" if path else "got"
        super().__init__(
            f"{place} {value!r} of type {type(value).__name__}, "
            "which cannot be part of a state or a message",
            remedy=(
                "use int, str, bytes, bool, None, float, an enum, NodeId, tuple, "
                "list, dict, set, frozenset or a dataclass of those"
            ),
        )
        self.value = value
        self.path = path


def freeze(value: Any) -> Frozen:
    """Return the canonical hashable value that stands for `value`.

    Raises
    ------
    Unfreezable
        If it holds anything but plain data, or a NaN.
    """
    freezer = _freezers.get(type(value))
    if freezer is None:
        freezer = _adopt_type(value)
    return freezer(value)


def thaw(frozen: Frozen) -> Any:
    """Return a fresh value equal to the one that was frozen.

    Sets and dicts come back as canonical ones (see `canonical`); times come back as the epoch.
    """
    if type(frozen) is tuple:
        return _thawers[frozen[0]](frozen)
    return frozen


def register_type(cls: type, freezer: Callable[[Any], Frozen]) -> None:
    """Teach `freeze` the instances of `cls`."""
    _freezers[cls] = freezer


def register_tag(tag: object, thawer: Callable[[tuple[Any, ...]], Any]) -> None:
    """Teach `thaw` the tuples that begin with `tag`: a `Tag` or a record's class."""
    _thawers[tag] = thawer


def _itself(value: Any) -> Frozen:
    return value


def _adopt_type(value: Any) -> Callable[[Any], Frozen]:
    """Register the type of `value` at its first use, if it is plain data."""
    cls = type(value)
    if isinstance(value, enum.Enum):
        _freezers[cls] = lambda member: (ENUM, cls, member.name)
    elif dataclasses.is_dataclass(cls):
        _register_dataclass(cls)
    else:
        for base in (set, frozenset, dict, tuple, list):
            if isinstance(value, base) and cls.__module__ != "builtins":
                raise Unfreezable(value)
        raise Unfreezable(value)
    return _freezers[cls]


def _register_dataclass(cls: type) -> None:
    names = tuple(f.name for f in dataclasses.fields(cls))

    def freezer(value: Any) -> Frozen:
        return (cls, *[freeze_field(cls, value, name) for name in names])

    def thawer(frozen: tuple[Any, ...]) -> Any:
        fresh: Any = object.__new__(cls)
        for name, item in zip(names, frozen[1:], strict=True):
            object.__setattr__(fresh, name, thaw(item))
        return fresh

    register_type(cls, freezer)
    register_tag(cls, thawer)


def freeze_field(cls: type, value: Any, name: str) -> Frozen:
    """Freeze one field; an error names the class and the path to the culprit."""
    item = getattr(value, name)
    try:
        return freeze(item)
    except Unfreezable as error:
        path = f"{cls.__name__}.{name}"
        inner = error.path.partition(".")[2] if error.path else ""
        raise Unfreezable(error.value, f"{path}.{inner}" if inner else path) from None


def _freeze_float(value: float) -> Frozen:
    if math.isnan(value):
        raise Unfreezable(value)
    return (FLOAT, value + 0.0)


def freeze_set(tag: Tag, values: Iterable[Any]) -> Frozen:
    """Freeze the elements of a set, in canonical order, behind `tag`."""
    return (tag, *sorted(map(freeze, values), key=order_key))


def _freeze_list(value: list[Any]) -> Frozen:
    for item in value:
        if isinstance(item, set | dict):
            raise ModelError(
                f"a list holds the {type(item).__name__} {item!r}, "
                "whose order of iteration Worldline could not keep canonical",
                remedy="use a dict of sets, or put frozensets or tuples in the list",
            )
    return (LIST, *map(freeze, value))


def freeze_mapping(tag: Tag, value: Mapping[Any, Any]) -> Frozen:
    """Freeze the items of a mapping, in canonical order of keys, behind `tag`."""
    pairs = sorted(
        ((freeze(key), freeze(item)) for key, item in value.items()),
        key=lambda pair: order_key(pair[0]),
    )
    return (tag, *[part for pair in pairs for part in pair])


_freezers.update(
    {
        type(None): _itself,
        int: _itself,
        str: _itself,
        bytes: _itself,
        NodeId: _itself,
        bool: lambda value: TRUE if value else FALSE,
        float: _freeze_float,
        tuple: lambda value: (TUPLE, *map(freeze, value)),
        list: _freeze_list,
        frozenset: lambda value: freeze_set(FROZENSET, value),
        set: lambda value: freeze_set(SET, value),
        dict: lambda value: freeze_mapping(DICT, value),
        Time: lambda value: (TIME,),
        Duration: lambda value: (DURATION,),
    }
)
_thawers.update(
    {
        BOOL: lambda frozen: frozen[1] == 1,
        FLOAT: lambda frozen: frozen[1],
        ENUM: lambda frozen: frozen[1][frozen[2]],
        TUPLE: lambda frozen: tuple(map(thaw, frozen[1:])),
        LIST: lambda frozen: list(map(thaw, frozen[1:])),
        FROZENSET: lambda frozen: frozenset(map(thaw, frozen[1:])),
        TIME: lambda frozen: EPOCH,
        DURATION: lambda frozen: Duration(),
    }
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
                return (tag.rank, rest[0])
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
    key: tuple[Any, ...] = order_key(frozen.key)
    return key


def _position(cls: type[enum.Enum], name: str) -> int:
    return list(cls.__members__).index(name)


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def canonical_bytes(frozen: Frozen) -> bytes:
    """Encode a frozen value so that equal bytes mean equal values, in any process."""
    out: list[bytes] = []
    _encode(frozen, out.append)
    return b"".join(out)


def _encode(frozen: Frozen, put: Callable[[bytes], None]) -> None:
    cls = type(frozen)
    if cls is tuple:
        tag = frozen[0]
        if type(tag) is Tag:
            put(b"(%d:%d " % (tag.rank, len(frozen)))
        else:
            # Only the qualified name: a file module's name depends on its path.
            put(b"(r%s:%d " % (tag.__qualname__.encode(), len(frozen)))
        for item in frozen[1:]:
            if type(item) is type:
                put(item.__qualname__.encode() + b" ")
            elif type(item) is float:
                put(repr(item).encode() + b" ")
            elif isinstance(item, enum.EnumMeta):
                put(item.__qualname__.encode() + b" ")
            else:
                _encode(item, put)
    elif cls is int:
        put(b"i%d " % frozen)
    elif cls is str:
        raw = frozen.encode("utf-8", "surrogatepass")
        put(b"s%d:" % len(raw) + raw)
    elif frozen is None:
        put(b"n ")
    elif cls is NodeId:
        put(b"@%s " % frozen.name.encode())
    elif cls is bytes:
        put(b"b%d:" % len(frozen) + frozen)
    else:
        _encode(frozen.key, put)


def fingerprint(frozen: Frozen) -> int:
    """Return the 64-bit content hash of a frozen value, the same in any process."""
    digest = blake2b(canonical_bytes(frozen), digest_size=8).digest()
    return int.from_bytes(digest, "little")
