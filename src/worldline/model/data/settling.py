"""Making every collection inside a value canonical, as far as anyone can reach it.

What passes from one handler to another, or is kept, is *settled*: it holds no plain set,
frozenset or dict, whose order of iteration would depend on the hash seed or on how it
was built. Thawed values are settled from the start. So this is for values that handlers
make and that are then used as they are: as messages, payloads and arguments, and as
fields of the live nodes of the direct world.

`canonical` and `canonical_dict` have the collections, and say here what becomes of plain ones.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from operator import attrgetter, is_
from types import FrameType
from typing import Any

from worldline.model.data.values import ITSELF, getter, write_fields

Settler = Callable[[Any], Any]


class Mutable(Exception):
    """A value that is kept or travels holds something that can change.

    Attributes
    ----------
    culprit
        What that is.
    """

    def __init__(self, culprit: Any) -> None:
        super().__init__(culprit)
        self.culprit = culprit


class _Met:
    """What was met on the way through values that can change where nobody looks.

    Attributes
    ----------
    places
        One for each mutable record, and two for each collection that a list, a tuple or a
        record holds: with two or more, something may stand in two places. A collection in a
        field or a dict was copied when it was stored.
    culprit
        The last that was met.
    """

    __slots__ = ("culprit", "places")

    def __init__(self) -> None:
        self.places = 0
        self.culprit: Any = None


met = _Met()


def settled(value: Any) -> Any:
    """Return `value` with every set, frozenset and dict in it canonical.

    What cannot change is made anew where it must be; lists, canonical collections and
    mutable dataclasses are changed in place. Nothing else about the value changes.
    """
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    settle = _settlers.get(kind)
    if settle is None:
        is_record = dataclasses.is_dataclass(kind) and kind not in ITSELF
        settle = _settle_record if is_record else as_it_is
        register_settler(kind, settle)
    try:
        return settle(value)
    except RecursionError:
        # It holds itself, or is nested without end: freezing it will tell. All is given up
        # that was begun, or what holds itself in two places would take for ever.
        if _is_inside(sys._getframe(1)):
            raise
        return value


def _is_inside(frame: FrameType | None) -> bool:
    """Say whether who asks, by its frame, does so to settle what holds it."""
    for _ in range(_NEAR):
        if frame is None:
            return False
        if frame.f_code is settled.__code__:
            return True
        frame = frame.f_back
    return False


def all_settled(values: Iterable[Any]) -> list[Any]:
    """Return values, each of them settled."""
    items = list(values)
    if AS_THEY_ARE.issuperset(map(type, items)) or are_records(items):
        return items
    if not COLLECTIONS.isdisjoint(map(type, items)):
        _note_collections(items)
        if _are_lists(items):
            return items
    return list(map(settled, items))


def settled_for_good(value: Any) -> Any:
    """Return `value` settled, if nothing in it can change.

    Raises
    ------
    Mutable
        If something can.
    """
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if kind in COLLECTIONS:
        raise Mutable(value)
    places = met.places
    fresh = settled(value)
    if met.places != places:
        raise Mutable(met.culprit)
    return fresh


def settle_each(values: dict[str, Any]) -> None:
    """Settle in place the fields of a live object, as a handler has left them."""
    # After each event and for each message, so most values are looked at in place; a
    # loop of Python's takes half the time of a set that is asked for all at once.
    settlers = _settlers
    try:
        for name, value in values.items():
            kind = type(value)
            if kind not in AS_THEY_ARE:
                if kind in SAY_IT and value.is_plain:
                    continue
                settle = settlers.get(kind)
                fresh = settled(value) if settle is None else settle(value)
                if fresh is not value:
                    values[name] = fresh
    except RecursionError:
        values.update({name: settled(value) for name, value in values.items()})


def register_settler(cls: type, settle: Settler) -> None:
    """Say what settles the instances of `cls`."""
    _settlers[cls] = settle
    (AS_THEY_ARE.add if settle is as_it_is else AS_THEY_ARE.discard)(cls)


def as_it_is(value: Any) -> Any:
    """Settle a value of a class whose instances are settled when they are made."""
    return value


def settle_live(value: Any) -> Any:
    """Settle a live object, such as a part of a node, in place."""
    settle_each(value.__dict__)
    return value


def are_records(items: list[Any]) -> bool:
    """Say whether all are tuples or records of one class, and hold what is settled.

    They may hold others of one class in turn, or nothing in the place of some. A list of
    entries may be long, and is looked at after each event: by functions of C.
    """
    changing: list[Any] = []
    for _ in range(_FLAT):
        found = {*map(type, items)}
        kinds = found - AS_THEY_ARE
        if len(kinds) != 1:
            break
        (kind,) = kinds
        read: Any = iter if kind is tuple else _readers.get(kind)
        if read is None:
            return False
        if len(found) > 1:
            items = [item for item in items if type(item) is kind]
        if kind in _mutable:
            changing += items
        items = list(chain.from_iterable(map(read, items)))
    else:
        return False  # perhaps one holds itself
    if kinds:
        return False
    if changing:
        met.places += len(changing)
        met.culprit = changing[-1]
    return True


def _are_lists(items: list[Any]) -> bool:
    """Say whether all are lists, and hold what is settled."""
    return {list}.issuperset(map(type, items)) and AS_THEY_ARE.issuperset(
        map(type, chain.from_iterable(items))
    )


def _note_collections(items: Iterable[Any]) -> None:
    for item in items:
        if type(item) in COLLECTIONS:
            met.places += 2
            met.culprit = item


def _settle_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if AS_THEY_ARE.issuperset(map(type, value)):
        return value
    items = all_settled(value)
    return value if all(map(is_, items, value)) else tuple(items)


def _settle_list(value: list[Any]) -> list[Any]:
    items = all_settled(value)
    if not all(map(is_, items, value)):
        value[:] = items
    return value


def _settle_record(value: Any) -> Any:
    """Settle an instance of a dataclass; of one that is frozen, perhaps make another."""
    kind = type(value)
    names = _names.get(kind)
    if names is None:
        names = _names_of(kind)
    before = [getattr(value, name) for name in names]
    is_frozen = kind not in _mutable
    if not is_frozen:
        met.places += 1
        met.culprit = value
    if AS_THEY_ARE.issuperset(map(type, before)):
        return value
    fields = all_settled(before)
    if all(map(is_, fields, before)):
        return value
    return write_fields(object.__new__(kind) if is_frozen else value, names, fields)


def _names_of(kind: Any) -> tuple[str, ...]:
    names = tuple([field.name for field in dataclasses.fields(kind)])
    if not kind.__dataclass_params__.frozen:
        _mutable.add(kind)
    _readers[kind] = getter(attrgetter, names)
    _names[kind] = names
    return names


_NEAR = 8
"""Calls between one that settles what holds something and the one that settles that."""

_FLAT = 8
"""Records inside each other, of which that many are looked at together."""

_names: dict[type, tuple[str, ...]] = {}
"""The fields of the dataclasses that were met so far."""

_readers: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
"""What reads all fields of an instance of one."""

_mutable: set[type] = set()
"""Those that are not frozen."""

COLLECTIONS: set[type] = {list, set, dict}
"""Classes of collections that can change."""

AS_THEY_ARE: set[type] = {bool, float, *ITSELF}
"""Classes of which no instance has to be settled, as far as they have been met."""

SAY_IT: set[type] = set()
"""Classes of collections that say by `is_plain` that nothing in them has to be settled."""

_settlers: dict[type, Settler] = {tuple: _settle_tuple, list: _settle_list}
