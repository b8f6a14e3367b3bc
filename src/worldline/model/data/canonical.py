"""Sets that iterate in one canonical order; `canonical_dict` has the dicts.

Two equal plain sets may iterate differently, depending on how they were built and
on the hash seed; a handler that loops over one would then do different things in
equal states. Fields of nodes hold these instead (see `adopt` there), and so does all else
that travels or is kept: messages, payloads, arguments, histories (see `settling`).
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView
from collections.abc import Set as AbstractSet
from operator import is_
from typing import Any, TypeVar, final

from worldline.model.data.content import FROZENSET, SET, order_key
from worldline.model.data.immutable import mutable
from worldline.model.data.settling import (
    AS_THEY_ARE,
    COLLECTIONS,
    Mutable,
    all_settled,
    as_it_is,
    met,
    register_settler,
)
from worldline.model.data.values import (
    ITSELF,
    NATURAL,
    freeze,
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


def _settle_set(value: CanonicalSet[Any]) -> CanonicalSet[Any]:
    if AS_THEY_ARE.issuperset(map(type, set.__iter__(value))):
        return value
    before = list(set.__iter__(value))
    items = all_settled(before)
    if not all(map(is_, items, before)):
        value.clear()
        value.update(items)
    return value


COLLECTIONS.add(CanonicalSet)
register_type(CanonicalSet, lambda value: freeze_set(SET, set.__iter__(value)))
register_type(
    CanonicalFrozenset, lambda value: freeze_set(FROZENSET, frozenset.__iter__(value))
)
register_tag(SET, lambda frozen: CanonicalSet(thaw_all(frozen[1:])))
register_tag(FROZENSET, lambda frozen: CanonicalFrozenset(thaw_all(frozen[1:])))
register_settler(set, lambda value: CanonicalSet(all_settled(value)))
register_settler(frozenset, CanonicalFrozenset)
register_settler(CanonicalSet, _settle_set)
register_settler(CanonicalFrozenset, as_it_is)
