"""Snapshots of fields, by which it is found out after each event whether they have changed.

A list, set or dict that holds nothing that can change is the same if it holds the same
objects in the same order: to look at that takes a hundredth of the time of freezing it,
and tells what has come and what has gone. Where objects are others, they are compared: what
has changed is the same wherever it is looked at. All else is frozen.

Large fields are looked at by functions of C, as far as they are as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress, count, filterfalse, islice, repeat
from operator import is_, is_not
from typing import Any, final

from worldline.model.data.canonical import CanonicalDict, CanonicalSet
from worldline.model.data.constant import are_constant, is_constant_value
from worldline.model.data.content import Frozen
from worldline.model.data.values import ITSELF
from worldline.trace.journal.patches import FieldPatch
from worldline.trace.journal.same_data import are_found_again, identity, is_same_data

_MISSING: Any = object()


def snapshot(value: Any) -> Any:
    """Return what stands for a value as it is now: a `Snapshot`, or itself."""
    return value if type(value) in ITSELF else FieldSnapshot(value)


@final
class FieldSnapshot:
    """What a value was that may change.

    Parameters
    ----------
    is_constant
        Whether what the value holds is known to be nothing that can change.
    """

    __slots__ = ("_frozen", "_items", "_keys", "_kind", "_object")

    def __init__(self, value: Any, *, is_constant: bool = False) -> None:
        self._kind = kind = type(value)
        # What cannot change is the same as long as it is the same object.
        self._object = (
            value if not is_constant and is_constant_value(value) else _MISSING
        )
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
        if self._items is None or not (is_constant or are_constant(self._items)):
            self._keys, self._items = [], None
            self._frozen = identity(value)

    def is_of(self, value: Any) -> bool:
        """Say whether a value is as this one was."""
        if value is self._object:
            return True
        if type(value) is not self._kind:
            return False
        before = self._items
        if before is None:
            return bool(identity(value) == self._frozen)
        if len(value) != len(before):
            return False
        if self._kind is list:
            return _are_same(value, before)
        if self._kind is CanonicalSet:
            if all(map(is_, set.__iter__(value), before)):
                return True
            return bool(value == set(before)) and _holds_these(value, before)
        keys, values = dict.keys(value), dict.values(value)
        if all(map(is_, keys, self._keys)):
            return _are_same(values, before)
        pairs = dict(zip(self._keys, before, strict=True))
        return (
            keys == pairs.keys()
            and _are_same(values, list(map(pairs.get, keys)))
            and _holds_these(value, self._keys)
        )

    def patch(self, path: str, value: Any) -> FieldPatch | None:
        """Return how a field has changed; None if it is to be written as a whole."""
        before = self._items
        if before is None or type(value) is not self._kind:
            return None
        kept: int | None = None
        gone: tuple[Any, ...] = ()
        if self._kind is list:
            most = min(len(before), len(value))
            kept = next(_changed_at(value, before), most)
            added = tuple(value[kept:])
        elif self._kind is CanonicalDict and self._begins(value):
            at = _changed_at(dict.values(value), before)
            came = islice(dict.items(value), len(before), None)
            keys = [self._keys[place] for place in at]
            added = (*((key, value[key]) for key in keys), *came)
        elif not _holds_these(value, self._keys or before):
            return None
        elif self._kind is CanonicalSet:
            gone = tuple(filterfalse(value.__contains__, before))
            added = tuple(
                filterfalse(set(before).__contains__, set.__iter__(value)),
            )
        else:
            gone = tuple(filterfalse(value.__contains__, self._keys))
            pairs = dict(zip(self._keys, before, strict=True))
            were = list(map(pairs.get, dict.keys(value), repeat(_MISSING)))
            places = set(_changed_at(dict.values(value), were))
            is_changed = map(places.__contains__, range(len(were)))
            added = tuple(compress(dict.items(value), is_changed))
        is_large = 2 * (len(gone) + len(added)) > len(value)
        if is_large or not are_constant(added):
            return None
        if kept is None:
            keys = list(dict(added) if self._kind is CanonicalDict else added)
            if not are_found_again((*gone, *keys)):
                return None
        return FieldPatch(path, kept, gone, added)

    def _begins(self, value: CanonicalDict[Any, Any]) -> bool:
        """Say whether a dict has all the keys that there were, and others behind them."""
        keys = self._keys
        return len(value) >= len(keys) and all(map(is_, keys, dict.keys(value)))


def _changed_at(now: Iterable[Any], before: list[Any]) -> Iterator[int]:
    """Yield the places at which there is other data, as far as both go."""
    items = now if type(now) is list else list(now)
    differing = compress(count(), map(is_not, items, before))
    return (at for at in differing if not is_same_data(items[at], before[at]))


def _are_same(now: Iterable[Any], before: list[Any]) -> bool:
    is_still = all(map(is_, now, before))  # as most are, which takes half of the time
    return is_still or next(_changed_at(now, before), None) is None


def _holds_these(value: Any, before: list[Any]) -> bool:
    """Say whether elements or keys that are equal to some before are these: 1 is not True."""
    known = dict(zip(before, before, strict=True))
    is_dict = type(value) is CanonicalDict
    items = list(dict.keys(value) if is_dict else set.__iter__(value))
    return _are_same(items, list(map(known.get, items, items)))
