"""Making every collection inside a value canonical, as far as anyone can reach it.

What passes from one handler to another, or is kept, is *settled*: it holds no plain set,
frozenset or dict, whose order of iteration would depend on the hash seed or on how it
was built. Thawed values are settled from the start. So this is for values that handlers
make and that are then used as they are: as messages, payloads and arguments, and as
fields of the live nodes of the direct world.

`canonical` has the collections, and says here what becomes of plain ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import is_
from typing import Any

from worldline.model.data.values import ITSELF

Settler = Callable[[Any], Any]


def settled(value: Any) -> Any:
    """Return `value` with every set, frozenset and dict in it canonical.

    What cannot change is made anew where it must be; lists, canonical collections and
    mutable dataclasses are changed in place. Nothing else about the value changes.
    """
    kind = type(value)
    if kind in ITSELF:
        return value
    settle = _settlers.get(kind)
    if settle is None:
        settle = _settle_record if dataclasses.is_dataclass(kind) else as_it_is
        _settlers[kind] = settle
    try:
        return settle(value)
    except RecursionError:
        # It holds itself, or is nested without end: freezing it will tell.
        return value


def all_settled(values: Iterable[Any]) -> list[Any]:
    """Return values, each of them settled."""
    items = list(values)
    return items if ITSELF.issuperset(map(type, items)) else list(map(settled, items))


def settle_fields(values: dict[str, Any]) -> None:
    """Settle in place the fields of a live object, as a handler has left them."""
    # After each event and for each message, so most values are looked at in place; a
    # loop of Python's takes half the time of a set that is asked for all at once.
    for name, value in values.items():
        kind = type(value)
        if kind not in ITSELF and kind not in _AS_THEY_ARE:
            fresh = settled(value)
            if fresh is not value:
                values[name] = fresh


def register_settler(cls: type, settle: Settler) -> None:
    """Say what settles the instances of `cls`."""
    _settlers[cls] = settle
    (_AS_THEY_ARE.add if settle is as_it_is else _AS_THEY_ARE.discard)(cls)


def as_it_is(value: Any) -> Any:
    """Settle a value of a class whose instances are settled when they are made."""
    return value


def settle_live(value: Any) -> Any:
    """Settle a live object, such as a part of a node, in place."""
    settle_fields(value.__dict__)
    return value


def _settle_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    items = all_settled(value)
    return value if all(map(is_, items, value)) else tuple(items)


def _settle_list(value: list[Any]) -> list[Any]:
    items = all_settled(value)
    if not all(map(is_, items, value)):
        value[:] = items
    return value


def _settle_record(value: Any) -> Any:
    """Settle an instance of a dataclass; of one that is frozen, perhaps make another."""
    before = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    fields = dict(before)
    settle_fields(fields)
    if all(map(is_, fields.values(), before.values())):
        return value
    fresh = value
    if value.__dataclass_params__.frozen:
        fresh = object.__new__(type(value))
    for name, item in fields.items():
        object.__setattr__(fresh, name, item)
    return fresh


_AS_THEY_ARE: set[type] = {bool, float}
"""Classes of which no instance has to be settled, beside those of `ITSELF`."""

_settlers: dict[type, Settler] = {tuple: _settle_tuple, list: _settle_list}
