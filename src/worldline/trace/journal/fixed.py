"""Values that are fixed: the same data for as long as they are the same object."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from operator import attrgetter
from typing import Any

from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.changing import sort_of
from worldline.model.data.content import DURATION, TIME, Frozen
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF, freeze, getter, thaw
from worldline.model.message import is_message_class

_ALWAYS: set[type] = {bool, float}
"""Classes of which every instance is, besides those of `ITSELF`, as far as they were met."""

_HELD: dict[type, Callable[[Any], Collection[Any]]] = {
    tuple: tuple,
    frozenset: tuple,
    CanonicalFrozenset: lambda value: tuple(frozenset.__iter__(value)),
    FrozenMap: lambda value: tuple(chain(value._items, value._items.values())),
}
"""Of classes of which an instance is if all is that it holds: what that is."""


def are_fixed(items: Collection[Any]) -> bool:
    """Say whether nothing in some values can change."""
    kinds = set(map(type, items)) - ITSELF - _ALWAYS
    if not all(kind in _HELD or _is_met(kind) for kind in kinds):
        return False
    kinds -= _ALWAYS
    return not kinds or all(
        are_fixed(_HELD[kind](item)) for item in items if (kind := type(item)) in kinds
    )


def are_same(one: Any, other: Any) -> bool:
    """Say whether two values that are fixed are the same data: 1 is not True."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    return bool(one == other if kind in ITSELF else identity(one) == identity(other))


def are_found_again(keys: Iterable[Any]) -> bool:
    """Say whether keys are equal to those that are read again, as some are to no other."""
    return all(type(key) in ITSELF or thaw(freeze(key)) == key for key in keys)


def identity(value: Any) -> Any:
    """Return what stands for a value as it is now: frozen, but with times told apart."""
    frozen = freeze(value)
    return (frozen, *_seconds(value)) if _has_times(frozen) else frozen


def _has_times(frozen: Frozen) -> bool:
    """Say whether a time is anywhere in a frozen value, mostly by functions of C."""
    level = [frozen] if type(frozen) is tuple else []
    while level:
        items = list(chain.from_iterable(level))
        if TIME in items or DURATION in items:
            return True
        level = [item for item in items if type(item) is tuple]
    return False


def _seconds(value: Any) -> list[float]:
    """Return those of all times in a value, in canonical order: frozen, all are one."""
    kind = type(value)
    if kind is Time or kind is Duration:
        return [value.seconds]
    held: Iterable[Any] = ()
    if isinstance(value, dict | FrozenMap):
        held = value.values()
    elif isinstance(value, tuple | list | frozenset | set):
        held = value
    elif dataclasses.is_dataclass(kind):
        held = [getattr(value, field.name) for field in dataclasses.fields(kind)]
    items = [item for item in held if type(item) not in ITSELF]
    return list(chain.from_iterable(map(_seconds, items)))


def _is_met(kind: type) -> bool:
    """Take a class into those that are known; False if its instances can change."""
    if is_message_class(kind) or issubclass(kind, enum.Enum):
        _ALWAYS.add(kind)
    elif dataclasses.is_dataclass(kind) and sort_of(kind) is None:
        names = tuple([field.name for field in dataclasses.fields(kind)])
        _HELD[kind] = getter(attrgetter, names)
    else:
        return False
    return True
