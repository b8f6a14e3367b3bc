"""Values that nodes hold, copied for who reads them, and kept to see whether they change.

A handler changes collections in place. So of a collection its items are kept, by identity:
while they are the very same objects, and none of them can change, it is the same. An item
that can change is kept in the same way. Only of what is no collection the frozen value is
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import is_
from typing import Any, final

from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.constant import are_constant, is_constant_value
from worldline.model.data.content import Frozen
from worldline.model.data.values import ITSELF, freeze, thaw
from worldline.model.errors import ModelError
from worldline.worlds.flat_copies import TOLD_APART

_DEEPEST = 16
"""Collections inside collections that are kept as such; what is deeper is frozen."""


def fresh(value: Any, depth: int = 0) -> Any:
    """Return a copy of a field's value; whoever changes it changes no node.

    Parameters
    ----------
    depth
        In how many collections it is.
    """
    kind = type(value)
    if kind in ITSELF or is_constant_value(value):
        return value
    copied = _COPIES.get(kind)
    if copied is not None and depth < _DEEPEST:
        items = list(_ITEMS[kind](value))
        if are_constant(items):
            return copied(value)
        if _may_hold_others(kind, items):
            # Far faster than by the frozen value, for which sets are put in order.
            return _of_items(kind, [fresh(item, depth + 1) for item in items])
    return thaw(freeze(value))


def is_same(value: Any, other: Any) -> bool:
    """Say whether two values that cannot change are the same; False if that takes long."""
    if value is other:
        return True
    kind = type(value)
    if kind is not type(other):
        return False
    if kind in ITSELF or kind is bool:
        return bool(value == other)
    if kind is float:
        return bool(value and value == other)  # no zero: the two are equal
    if kind is tuple:
        return len(value) == len(other) and all(map(is_, value, other))
    if kind is CanonicalFrozenset:
        return value == other and TOLD_APART.issuperset(
            map(type, chain(frozenset.__iter__(value), frozenset.__iter__(other)))
        )
    return False


def keep(value: Any) -> Kept | None:
    """Return the value of a field, or of a history, as it is now; None if it is constant."""
    return None if is_constant_value(value) else Kept(value)


@final
class Kept:
    """A value that can change, as it was at one time.

    Attributes
    ----------
    seen
        A copy, for whoever reads it.
    """

    __slots__ = ("_frozen", "_inner", "_items", "_kind", "seen")

    def __init__(self, value: Any, depth: int = 0) -> None:
        self._kind = kind = type(value)
        self._items: list[Any] | None = None
        self._inner: list[Kept | None] | None = None
        self._frozen: Frozen = None
        self.seen: Any
        items_of = _ITEMS.get(kind)
        if items_of is not None and depth < _DEEPEST:
            self._items = items = list(items_of(value))
            if are_constant(items):
                self.seen = _COPIES[kind](value)
                return
            if _may_hold_others(kind, items):
                self._keep_inside(items, depth + 1)
                return
            self._items = None
        self._frozen = freeze(value)
        self.seen = thaw(self._frozen)

    def _keep_inside(self, items: list[Any], depth: int) -> None:
        self._inner = inner = [
            None if is_constant_value(item) else Kept(item, depth) for item in items
        ]
        seen = [
            item if kept is None else kept.seen
            for item, kept in zip(items, inner, strict=True)
        ]
        self.seen = _of_items(self._kind, seen)

    def is_still(self, value: Any) -> bool:
        """Say whether a value is the one that was kept; False if that is hard to say."""
        kind, kept = type(value), self._items
        if kind is not self._kind:
            return False
        if kept is None:
            return self._is_frozen(value)
        size = len(value)
        if len(kept) != (2 * size if kind is CanonicalDict else size):
            return False
        items = _ITEMS[kind](value)
        if self._inner is None:
            return all(map(is_, kept, items))
        return all(
            item is before if inner is None else inner.is_still(item)
            for before, inner, item in zip(kept, self._inner, items, strict=True)
        )

    def is_intact(self) -> bool:
        """Say whether nobody has changed the copy."""
        if self._kind is CanonicalSet:
            return bool(set(set.__iter__(self.seen)) == set(self._items or ()))
        if self._items is None or self._inner is None:
            return self.is_still(self.seen)
        seen = list(_ITEMS[self._kind](self.seen))
        return len(seen) == len(self._items) and all(
            item is before
            if inner is None
            else item is inner.seen and inner.is_intact()
            for before, inner, item in zip(self._items, self._inner, seen, strict=True)
        )

    def _is_frozen(self, value: Any) -> bool:
        try:
            return bool(freeze(value) == self._frozen)
        except ModelError:
            return False  # whoever reads it will be told


def _may_hold_others(kind: type, items: Sequence[Any]) -> bool:
    """Say whether all that can change in a collection may be kept by itself."""
    if kind is CanonicalSet:
        return False
    if kind is CanonicalDict:
        return all(map(is_constant_value, items[: len(items) // 2]))
    # A list that holds sets is refused when it is frozen.
    return not any(isinstance(item, set | dict) for item in items)


def _of_items(kind: type, items: list[Any]) -> Any:
    """Return a collection that holds what `_ITEMS` would say of it."""
    if kind is not CanonicalDict:
        return kind(items)
    made: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
    half = len(items) // 2
    dict.update(made, zip(items[:half], items[half:], strict=True))
    made.is_plain = False
    return made


def _copied_dict(value: CanonicalDict[Any, Any]) -> CanonicalDict[Any, Any]:
    made: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
    # As a plain dict does it: nobody asks for the canonical order here.
    dict.update(made, dict.items(value))
    return made


def _copied_set(value: CanonicalSet[Any]) -> CanonicalSet[Any]:
    made: CanonicalSet[Any] = CanonicalSet.__new__(CanonicalSet)
    set.update(made, value)  # which does not iterate as a canonical set does
    return made


_ITEMS: dict[type, Callable[[Any], Iterable[Any]]] = {
    tuple: iter,
    list: iter,
    CanonicalSet: set.__iter__,
    CanonicalDict: lambda value: chain(dict.keys(value), dict.values(value)),
}
"""What a collection holds, in the order in which Python has it."""

_COPIES: dict[type, Callable[[Any], Any]] = {
    tuple: tuple,
    list: list.copy,
    CanonicalSet: _copied_set,
    CanonicalDict: _copied_dict,
}
"""What copies a collection."""
