"""Whether values are the same data: frozen they are, but for times, which are then all one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import chain
from typing import Any

from worldline.model.data.content import DURATION, TIME, Frozen
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF, freeze, thaw


def is_same_data(one: Any, other: Any) -> bool:
    """Say whether two constant values are the same data: 1 is not True."""
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
