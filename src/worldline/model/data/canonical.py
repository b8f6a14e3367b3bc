"""Sets and dicts that iterate in one canonical order.

Two equal plain sets may iterate differently, depending on how they were built and
on the hash seed; a handler that loops over one would then do different things in
equal states. Fields of nodes hold these instead (see `adopt`), and so does all else
that travels or is kept: messages, payloads, arguments, histories (see `settling`).
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView
from collections.abc import Set as AbstractSet
from itertools import chain
from operator import attrgetter, is_
from typing import Any, TypeVar, final

from worldline.model.data.content import DICT, FROZENSET, SET, order_key
from worldline.model.data.immutable import mutable
from worldline.model.data.settling import (
    AS_THEY_ARE,
    COLLECTIONS,
    Mutable,
    all_settled,
    are_records,
    as_it_is,
    met,
    register_settler,
    settled,
)
from worldline.model.data.values import (
    ITSELF,
    NATURAL,
    freeze,
    freeze_mapping,
    freeze_set,
    register_tag,
    register_type,
    sort,
    thaw_all,
)

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


def in_order(values: Iterable[T]) -> list[T]:
    """Return `values` as a list in canonical order: by type, then naturally."""
    items = list(values)
    if len(items) < 2:
        return items
    kinds = set(map(type, items))
    if len(kinds) == 1 and kinds <= NATURAL:
        items.sort()
        return items
    if kinds <= ITSELF:
        return sort(items)
    return sorted(items, key=lambda value: order_key(freeze(value)))


@final
class CanonicalFrozenset(frozenset[T]):
    """A frozenset that iterates and prints in canonical order; equal to plain ones."""

    __slots__ = ("_ordered",)

    def __new__(cls, values: Iterable[T] = ()) -> CanonicalFrozenset[T]:
        places = met.places
        fresh = super().__new__(cls, all_settled(values))
        if met.places != places:
            raise mutable(Mutable(met.culprit), "a frozenset", "it")
        fresh._ordered = None
        return fresh

    _ordered: list[T] | None
    """The elements in order, once somebody has asked: frozensets are shared by many."""

    def __iter__(self) -> Iterator[T]:
        if self._ordered is None:
            self._ordered = in_order(frozenset.__iter__(self))
        return iter(self._ordered)

    def __repr__(self) -> str:
        if not self:
            return "frozenset()"
        return "frozenset({" + ", ".join(map(repr, self)) + "})"

    def __reduce__(self) -> tuple[Any, ...]:
        return CanonicalFrozenset, (list(self),)

    def copy(self) -> CanonicalFrozenset[T]:
        return self

    def union(self, *others: Iterable[Any]) -> CanonicalFrozenset[Any]:
        return CanonicalFrozenset(frozenset.union(self, *others))

    def intersection(self, *others: Iterable[Any]) -> CanonicalFrozenset[T]:
        return CanonicalFrozenset(frozenset.intersection(self, *others))

    def difference(self, *others: Iterable[Any]) -> CanonicalFrozenset[T]:
        return CanonicalFrozenset(frozenset.difference(self, *others))

    def symmetric_difference(self, other: Iterable[Any]) -> CanonicalFrozenset[Any]:
        return CanonicalFrozenset(frozenset.symmetric_difference(self, other))

    def __or__(self, other: Any) -> Any:
        return self.union(other) if isinstance(other, AbstractSet) else NotImplemented

    def __and__(self, other: Any) -> Any:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return self.intersection(other)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return self.difference(other)

    def __xor__(self, other: Any) -> Any:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return self.symmetric_difference(other)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(other, AbstractSet):
            return NotImplemented
        return CanonicalFrozenset(frozenset(other).difference(self))


@final
class CanonicalSet(set[T]):
    """A set that iterates, pops and prints in canonical order."""

    __slots__ = ()

    def __iter__(self) -> Iterator[T]:
        return iter(in_order(set.__iter__(self)))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if self else "set()"

    def pop(self) -> T:
        """Remove and return the first element."""
        if not self:
            return super().pop()
        first = next(iter(self))
        self.remove(first)
        return first

    def copy(self) -> CanonicalSet[T]:
        return CanonicalSet(self)

    def union(self, *others: Iterable[Any]) -> CanonicalSet[Any]:
        return CanonicalSet(set.union(self, *others))

    def intersection(self, *others: Iterable[Any]) -> CanonicalSet[T]:
        return CanonicalSet(set.intersection(self, *others))

    def difference(self, *others: Iterable[Any]) -> CanonicalSet[T]:
        return CanonicalSet(set.difference(self, *others))

    def symmetric_difference(self, other: Iterable[Any]) -> CanonicalSet[Any]:
        return CanonicalSet(set.symmetric_difference(self, other))

    def __or__(self, other: AbstractSet[Any]) -> CanonicalSet[Any]:
        return self.union(other)

    def __and__(self, other: AbstractSet[Any]) -> CanonicalSet[T]:
        return self.intersection(other)

    def __sub__(self, other: AbstractSet[Any]) -> CanonicalSet[T]:
        return self.difference(other)

    def __xor__(self, other: AbstractSet[Any]) -> CanonicalSet[Any]:
        return self.symmetric_difference(other)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __rsub__(self, other: AbstractSet[T]) -> CanonicalSet[T]:
        return CanonicalSet(set(other).difference(self))


@final
class CanonicalKeys(KeysView[K]):
    """The keys of a mapping, in canonical order; its operators give canonical sets."""

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return CanonicalSet(it)

    def __repr__(self) -> str:
        return f"dict_keys({list(self)!r})"


@final
class CanonicalItems(ItemsView[K, V]):
    """The items of a mapping, in canonical order; its operators give canonical sets."""

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> Any:
        return CanonicalSet(it)

    def __repr__(self) -> str:
        return f"dict_items({list(self)!r})"


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
        super().__setitem__(key if type(key) in ITSELF else _settled_key(key), value)

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


def _settle_set(value: CanonicalSet[Any]) -> CanonicalSet[Any]:
    if AS_THEY_ARE.issuperset(map(type, set.__iter__(value))):
        return value
    before = list(set.__iter__(value))
    items = all_settled(before)
    if not all(map(is_, items, before)):
        value.clear()
        value.update(items)
    return value


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


COLLECTIONS.update((CanonicalSet, CanonicalDict))
register_type(CanonicalSet, lambda value: freeze_set(SET, set.__iter__(value)))
register_type(
    CanonicalFrozenset, lambda value: freeze_set(FROZENSET, frozenset.__iter__(value))
)
register_type(CanonicalDict, lambda value: freeze_mapping(DICT, dict.items(value)))
register_tag(SET, lambda frozen: CanonicalSet(thaw_all(frozen[1:])))
register_tag(FROZENSET, lambda frozen: CanonicalFrozenset(thaw_all(frozen[1:])))
register_tag(DICT, _thaw_dict)
register_settler(set, lambda value: CanonicalSet(all_settled(value)))
register_settler(dict, CanonicalDict)
register_settler(frozenset, CanonicalFrozenset)
register_settler(CanonicalSet, _settle_set)
register_settler(CanonicalDict, _settle_dict)
register_settler(CanonicalFrozenset, as_it_is)
