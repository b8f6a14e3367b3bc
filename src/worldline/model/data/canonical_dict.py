"""Dicts that iterate in the canonical order of their keys, and what a field stores.

`canonical` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, final

from worldline.model.data.canonical import (
    CanonicalItems,
    CanonicalKeys,
    CanonicalSet,
    in_order,
)
from worldline.model.data.content import DICT
from worldline.model.data.immutable import mutable
from worldline.model.data.settling import (
    AS_THEY_ARE,
    COLLECTIONS,
    SAY_IT,
    Mutable,
    all_settled,
    are_records,
    met,
    register_settler,
    settled,
)
from worldline.model.data.touched_keys import noted
from worldline.model.data.values import (
    ITSELF,
    freeze_mapping,
    register_tag,
    register_type,
    thaw_all,
)

K = TypeVar("K")
V = TypeVar("V")


@final
class CanonicalDict(dict[K, V]):
    """A dict that iterates and prints in canonical order of its keys.

    Attributes
    ----------
    is_plain
        Whether it has never held a value in which something can change: then nothing in
        it has to be settled again, however much there is.
    """

    __slots__ = ("is_plain",)

    is_plain: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> CanonicalDict[K, V]:
        fresh = super().__new__(cls)
        fresh.is_plain = True
        return fresh

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.update(*args, **kwargs)

    def __setitem__(self, key: K, value: V) -> None:
        if type(value) not in ITSELF:
            places = met.places
            value = adopt(value)
            if met.places != places or type(value) in COLLECTIONS:
                self.is_plain = False
        if type(key) not in ITSELF:
            key = _settled_key(key)
        super().__setitem__(key, value)
        if noted:
            for keys in noted.get(id(self), ()):
                keys.note(key)

    def setdefault(self, key: K, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> CanonicalDict[K, V]:  # type: ignore[override]
        self.update(other)
        return self

    def __or__(self, other: Any) -> CanonicalDict[Any, Any]:
        if not isinstance(other, dict):
            return NotImplemented
        merged: CanonicalDict[Any, Any] = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: Any) -> CanonicalDict[Any, Any]:
        if not isinstance(other, dict):
            return NotImplemented
        merged: CanonicalDict[Any, Any] = CanonicalDict(other)
        merged.update(self)
        return merged

    def __iter__(self) -> Iterator[K]:
        return iter(in_order(dict.__iter__(self)))

    def __reversed__(self) -> Iterator[K]:
        return reversed(in_order(dict.__iter__(self)))

    def keys(self) -> CanonicalKeys[K]:  # type: ignore[override]
        """Return the keys: a plain view would iterate by insertion."""
        return CanonicalKeys(self)

    def values(self) -> list[V]:  # type: ignore[override]
        return [self[key] for key in self]

    def items(self) -> CanonicalItems[K, V]:  # type: ignore[override]
        return CanonicalItems(self)

    def popitem(self) -> tuple[K, V]:
        """Remove and return the first item."""
        if not self:
            return super().popitem()
        key = next(iter(self))
        return key, self.pop(key)

    def copy(self) -> CanonicalDict[K, V]:
        return CanonicalDict(self)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in self.items()) + "}"


def _settled_key(key: Any) -> Any:
    places = met.places
    fresh = settled(key)
    if met.places != places:
        hash(key)  # most that can change are refused by Python
        raise mutable(Mutable(met.culprit), "a key of a dict", "it")
    return fresh


def adopt(value: Any) -> Any:
    """Return what a field stores for `value`: a canonical copy of a collection.

    Storing always copies sets, dicts and lists, so that no two fields share one: a
    state is a value, and thawing it must not change what a handler does.
    """
    kind = type(value)
    if kind in ITSELF:
        return value
    if kind is set or kind is CanonicalSet:
        return CanonicalSet(all_settled(value))
    if kind is dict or kind is CanonicalDict:
        return CanonicalDict(value)
    return settled(value.copy() if kind is list else value)


def _settle_dict(value: CanonicalDict[Any, Any]) -> CanonicalDict[Any, Any]:
    # Keys are settled when they are put in. This is done after each event, so most
    # collections, which hold nothing that could change, have to be passed in no time.
    if value.is_plain or AS_THEY_ARE.issuperset(map(type, dict.values(value))):
        return value
    items = list(dict.values(value))
    if _are_settled(items) or are_records(items):
        return value
    for key, item in list(dict.items(value)):
        fresh = settled(item)
        if fresh is not item:
            dict.__setitem__(value, key, fresh)
    return value


def _are_settled(items: list[Any]) -> bool:
    """Say whether all are collections of one class that hold nothing that can change.

    They may be many, and are looked at after each event: by functions of C.
    """
    (kind, *others) = {*map(type, items)}
    if others:
        return False
    if kind is CanonicalDict:
        return all(map(attrgetter("is_plain"), items))
    read = _ITERATORS.get(kind)
    return read is not None and AS_THEY_ARE.issuperset(
        map(type, chain.from_iterable(map(read, items)))
    )


_ITERATORS: dict[type, Callable[[Any], Iterator[Any]]] = {
    list: iter,
    CanonicalSet: set.__iter__,
}
"""What gives the elements of a collection in any order."""


def thaw_pairs(frozen: tuple[Any, ...]) -> dict[Any, Any]:
    """Return the keys and values of a frozen mapping."""
    return dict(zip(thaw_all(frozen[1::2]), thaw_all(frozen[2::2]), strict=True))


def _thaw_dict(frozen: tuple[Any, ...]) -> CanonicalDict[Any, Any]:
    # What was thawed just now is shared with nobody, so nothing has to be adopted.
    fresh: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
    dict.update(fresh, thaw_pairs(frozen))
    fresh.is_plain = ITSELF.issuperset(map(type, dict.values(fresh)))
    return fresh


COLLECTIONS.add(CanonicalDict)
SAY_IT.add(CanonicalDict)
register_type(CanonicalDict, lambda value: freeze_mapping(DICT, dict.items(value)))
register_tag(DICT, _thaw_dict)
register_settler(dict, CanonicalDict)
register_settler(CanonicalDict, _settle_dict)
