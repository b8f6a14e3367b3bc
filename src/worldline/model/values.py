"""Plain data: freeze to a canonical hashable value, thaw to a fresh one.

A *frozen* value is a hashable stand-in for plain data in which equal data are
equal, different types differ (``1`` is not ``True``), sets and dicts are in
canonical order, and nothing depends on the hash seed. Scalars stand for
themselves; everything else is a tuple whose first element is its tag.

Start with `freeze` and `thaw`; `content` orders and hashes what they give.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from worldline.model.content import (
    BOOL,
    DICT,
    DURATION,
    ENUM,
    FALSE,
    FLOAT,
    FROZENSET,
    LIST,
    SET,
    TIME,
    TRUE,
    TUPLE,
    Frozen,
    Tag,
    order_key,
)
from worldline.model.errors import ModelError
from worldline.model.identity import NodeId
from worldline.model.time import EPOCH, Duration, Time

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
