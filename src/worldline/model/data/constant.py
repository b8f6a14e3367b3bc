"""Constant values: the same data for as long as they are the same object."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Any, TypeAlias

from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.values import ITSELF, getter

_Read: TypeAlias = Callable[[Any], Collection[Any]]


def is_constant_value(value: Any) -> bool:
    """Say whether nothing can change a value, and it is given out as it is.

    A time is not: who looks at one outside of handlers is told nothing of it.
    """
    kind = type(value)
    if kind in ITSELF or kind in _ALWAYS:
        return True
    if kind not in _READ:
        _READ[kind] = _learn(kind)
    read = _READ[kind]
    return read is not None and are_constant(read(value))


def are_constant(items: Collection[Any]) -> bool:
    """Say that of each of some values; in a few looks if they are many of few classes."""
    if ITSELF.issuperset(map(type, items)):
        return True  # as of most
    if len(items) > _MANY:
        kinds = set(map(type, items)) - ITSELF - _ALWAYS
        if any(_READ.get(kind, _learn) is None for kind in kinds):
            return False
        items = [item for item in items if type(item) in kinds]
    return all(map(is_constant_value, items))


def register_constant(cls: type) -> None:
    """Say that nothing can change an instance of `cls`."""
    _ALWAYS.add(cls)


def _learn(kind: type) -> _Read | None:
    """Return what reads all that instances of a class hold; None if they can change."""
    if issubclass(kind, enum.Enum):
        _ALWAYS.add(kind)
        return lambda value: ()
    if not dataclasses.is_dataclass(kind):
        return None
    declared = kind.__dataclass_params__  # type: ignore[attr-defined]
    if not (declared.frozen and declared.eq):
        return None  # equal to itself alone, it would tell that it is shared
    return getter(attrgetter, tuple([field.name for field in dataclasses.fields(kind)]))


_MANY = 16
"""Values from which on it is worth while to look at their classes first."""

_ALWAYS: set[type] = {bool, float}
"""Classes all of whose instances are, besides those of `ITSELF`."""

_READ: dict[type, _Read | None] = {
    tuple: tuple,
    CanonicalFrozenset: lambda value: tuple(frozenset.__iter__(value)),
    FrozenMap: lambda value: (*value._items, *value._items.values()),
}
"""What reads all that an instance of a class holds, as far as classes have been met."""
