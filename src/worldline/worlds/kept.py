"""Values that nodes hold, copied for who reads them, and kept to see whether they change.

A handler changes collections in place. So of a collection its items are kept, by identity:
while they are the very same objects, and none of them can change, it is the same. Only
where an item can change is all of it frozen, and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Any, final

from worldline.model.data.canonical import (
    CanonicalDict,
    CanonicalFrozenset,
    CanonicalSet,
)
from worldline.model.data.content import Frozen
from worldline.model.data.values import ITSELF, freeze, is_constant, thaw
from worldline.model.errors import ModelError


def fresh(value: Any) -> Any:
    """Return a copy of a field's value; whoever changes it changes no node."""
    kind = type(value)
    if kind in ITSELF or kind is bool:
        return value
    items = _ITEMS.get(kind)
    if items is not None and _are_atoms(items(value)):
        copy = _COPIES.get(kind)
        return value if copy is None else copy(value)
    return thaw(freeze(value))


@final
class Kept:
    """The value of a field, or of a history, as it was at one time."""

    __slots__ = ("_frozen", "_items", "_value")

    def __init__(self, value: Any) -> None:
        self._value = value
        self._items: list[Any] | None = None
        self._frozen: Frozen = None
        kind = type(value)
        if kind in ITSELF or kind is bool:
            return
        items = _ITEMS.get(kind)
        if items is not None:
            self._items = present = items(value)
            if _are_atoms(present):
                return
        self._frozen = frozen = freeze(value)
        if self._items is not None and not all(map(is_constant, frozen[1:])):
            self._items = None

    def is_still(self, value: Any) -> bool:
        """Say whether a value is the one that was kept; False if that is hard to say."""
        kind = type(value)
        if kind is not type(self._value):
            return False
        if self._items is not None:
            if value is self._value and kind not in _COPIES:
                return True
            present = _ITEMS[kind](value)
            same = len(present) == len(self._items)
            return same and all(map(is_, present, self._items))
        if self._frozen is None:
            return bool(value == self._value)
        if value is self._value and is_constant(self._frozen):
            return True
        try:
            return bool(freeze(value) == self._frozen)
        except ModelError:
            return False  # whoever reads it will be told


def _are_atoms(items: Iterable[Any]) -> bool:
    kinds = set(map(type, items))
    kinds.discard(bool)
    return kinds <= ITSELF


def _copied_dict(value: CanonicalDict[Any, Any]) -> CanonicalDict[Any, Any]:
    made: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
    # As a plain dict does it: nobody asks for the canonical order here.
    dict.update(made, dict.items(value))
    return made


_ITEMS: dict[type, Callable[[Any], list[Any]]] = {
    tuple: list,
    list: list.copy,
    CanonicalSet: lambda value: list(set.__iter__(value)),
    CanonicalFrozenset: lambda value: list(frozenset.__iter__(value)),
    CanonicalDict: lambda value: [*dict.keys(value), *dict.values(value)],
}
"""What a collection holds, in the order in which Python has it."""

_COPIES: dict[type, Callable[[Any], Any]] = {
    list: list.copy,
    CanonicalSet: CanonicalSet,
    CanonicalDict: _copied_dict,
}
"""What copies a collection that can change."""
