"""Whether values are the same data: frozen they are, but for what is then all one.

That are times, and the two zeros among floats: a state has one of them, and what a node keeps
for its next life is as it was.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

from worldline.model.data.content import DURATION, FLOAT, TIME, Frozen
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF, freeze, thaw


def is_same_data(one: Any, other: Any) -> bool:
    """Say whether two constant values are the same data: 1 is not True."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in ITSELF:
        return bool(one == other)
    if kind is float:
        return bool(one == other) and math.copysign(1, one) == math.copysign(1, other)
    return bool(identity(one) == identity(other))


def are_found_again(keys: Iterable[Any]) -> bool:
    """Say whether keys are equal to those that are read again, as some are to no other."""
    return all(type(key) in ITSELF or thaw(freeze(key)) == key for key in keys)


def identity(value: Any) -> Any:
    """Return what stands for a value as it is now: frozen, with times and zeros told apart."""
    frozen = freeze(value)
    return (frozen, *_lost(value)) if _loses_any(frozen) else frozen


def _loses_any(frozen: Frozen) -> bool:
    """Say whether a time or a zero may be in a frozen value, mostly by functions of C."""
    level = [frozen] if type(frozen) is tuple else []
    while level:
        items = list(chain.from_iterable(level))
        if TIME in items or DURATION in items:
            return True
        if FLOAT in items and 0.0 in items:
            return True
        level = [item for item in items if type(item) is tuple]
    return False


def _lost(value: Any) -> list[float]:
    """Return the seconds of all times in a value, and the signs of zeros, in canonical order."""
    kind = type(value)
    if kind is Time or kind is Duration:
        return [value.seconds]
    if kind is float:
        return [] if value else [math.copysign(1, value)]
    held: Iterable[Any] = ()
    if isinstance(value, dict | FrozenMap):
        held = value.values()
    elif isinstance(value, tuple | list | frozenset | set):
        held = value
    elif dataclasses.is_dataclass(kind):
        held = [getattr(value, field.name) for field in dataclasses.fields(kind)]
    items = [item for item in held if type(item) not in ITSELF]
    return list(chain.from_iterable(map(_lost, items)))
