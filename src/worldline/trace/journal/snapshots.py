"""Snapshots of fields, by which it is found out after each event whether they have changed.

A list, set or dict that holds nothing that can change is the same if it holds the same
objects in the same order: to look at that takes a hundredth of the time of freezing it,
and tells what has come and what has gone. Where objects are others, they are compared: what
has changed is the same wherever it is looked at. All else is frozen.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any, final

from worldline.model.data.canonical import CanonicalDict, CanonicalSet
from worldline.model.data.content import Frozen
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF, freeze
from worldline.model.message import is_message
from worldline.trace.journal.patches import FieldPatch

_MISSING: Any = object()


def snapshot(value: Any) -> Any:
    """Return what stands for a value as it is now: a `Snapshot`, or itself."""
    return value if type(value) in ITSELF else FieldSnapshot(value)


@final
class FieldSnapshot:
    """What a value was that may change."""

    __slots__ = ("_frozen", "_items", "_keys", "_kind", "_object")

    def __init__(self, value: Any) -> None:
        self._kind = kind = type(value)
        # What cannot change is the same as long as it is the same object.
        self._object = value if _are_fixed((value,)) else _MISSING
        self._keys: list[Any] = []
        self._items: list[Any] | None = None
        self._frozen: Frozen = None
        if kind is CanonicalDict:
            self._keys = list(dict.keys(value))
            self._items = list(dict.values(value))
        elif kind is CanonicalSet:
            self._items = list(set.__iter__(value))
        elif kind is list:
            self._items = list(value)
        if self._items is None or not _are_fixed(self._items):
            self._keys, self._items = [], None
            self._frozen = _identity(value)

    def is_of(self, value: Any) -> bool:
        """Say whether a value is as this one was."""
        if value is self._object:
            return True
        if type(value) is not self._kind:
            return False
        if self._items is None:
            return bool(_identity(value) == self._frozen)
        if len(value) != len(self._items):
            return False
        if self._kind is CanonicalDict:
            return self._is_of_dict(value)
        items = set.__iter__(value) if self._kind is CanonicalSet else value
        if all(map(is_, items, self._items)):
            return True
        if self._kind is CanonicalSet:
            was = set(self._items)
            return value == was and _are_same(self._items, value)
        return all(map(are_same, value, self._items))

    def _is_of_dict(self, value: Any) -> bool:
        assert self._items is not None
        if all(map(is_, dict.values(value), self._items)) and all(
            map(is_, dict.keys(value), self._keys)
        ):
            return True
        pairs = dict(zip(self._keys, self._items, strict=True))
        return (
            all(are_same(pairs.get(key, _MISSING), v) for key, v in dict.items(value))
            and dict.keys(value) == pairs.keys()
            and _are_same(self._keys, value)
        )

    def patch(self, path: str, value: Any) -> FieldPatch | None:
        """Return how a field has changed; None if it is to be written as a whole."""
        before = self._items
        if before is None or type(value) is not self._kind:
            return None
        if self._kind is list:
            kept = 0
            for one, other in zip(before, value, strict=False):
                if not are_same(one, other):
                    break
                kept += 1
            added = tuple(value[kept:])
            patch = FieldPatch(path, kept, (), added)
        elif not _are_same(self._keys or before, value):
            return None
        elif self._kind is CanonicalSet:
            was = set(before)
            added = tuple(item for item in set.__iter__(value) if item not in was)
            gone = tuple(item for item in before if item not in value)
            patch = FieldPatch(path, None, gone, added)
        else:
            pairs = dict(zip(self._keys, before, strict=True))
            gone = tuple(key for key in self._keys if key not in value)
            added = tuple(
                (key, item)
                for key, item in dict.items(value)
                if not are_same(pairs.get(key, _MISSING), item)
            )
            patch = FieldPatch(path, None, gone, added)
        is_large = 2 * (len(patch.gone) + len(added)) > len(value)
        return None if is_large or not _are_fixed(added) else patch


def _are_fixed(items: Iterable[Any]) -> bool:
    """Say whether nothing in some values can change."""
    kinds = set(map(type, items))
    if kinds <= ITSELF:
        return True
    return all(
        type(item) in ITSELF
        or is_message(item)
        or (isinstance(item, tuple | frozenset) and _are_fixed(item))
        for item in items
    )


def are_same(one: Any, other: Any) -> bool:
    """Say whether two values that cannot change are the same data: 1 is not True."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    return bool(one == other if kind in ITSELF else freeze(one) == freeze(other))


def _are_same(before: Iterable[Any], now: Any) -> bool:
    """Say whether elements or keys that are equal to some before are these: 1 is not True."""
    known = {item: item for item in before}
    items = dict.keys(now) if type(now) is CanonicalDict else set.__iter__(now)
    pairs = ((known.get(item, item), item) for item in items)
    return all(are_same(was, item) for was, item in pairs)


def _identity(value: Any) -> Any:
    kind = type(value)
    return (kind, value.seconds) if kind in (Time, Duration) else freeze(value)
