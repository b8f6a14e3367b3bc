"""Sets and dicts that iterate in one canonical order, and an immutable mapping.

Two equal plain sets may iterate differently, depending on how they were built and
on the hash seed; a handler that loops over one would then do different things in
equal states. Fields of nodes hold these instead (see `adopt`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar, final

from worldline.model.content import DICT, MAP, SET, order_key
from worldline.model.values import (
    ITSELF,
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
    found = list(values)
    if len(found) < 2:
        return found
    if set(map(type, found)) <= ITSELF:
        return sort(found)
    return sorted(found, key=lambda value: order_key(freeze(value)))


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

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __rsub__(self, other: AbstractSet[T]) -> CanonicalSet[T]:
        return CanonicalSet(set(other).difference(self))


@final
class CanonicalDict(dict[K, V]):
    """A dict that iterates and prints in canonical order of its keys."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.update(*args, **kwargs)

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, adopt(value))

    def setdefault(self, key: K, default: Any = None) -> Any:
        return super().setdefault(key, adopt(default))

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> CanonicalDict[K, V]:  # type: ignore[override]
        self.update(other)
        return self

    def __or__(self, other: Any) -> CanonicalDict[Any, Any]:
        merged: CanonicalDict[Any, Any] = self.copy()
        merged.update(other)
        return merged

    def __iter__(self) -> Iterator[K]:
        return iter(in_order(dict.__iter__(self)))

    def keys(self) -> list[K]:  # type: ignore[override]
        """Return the keys as a list: a plain view would iterate by insertion."""
        return list(self)

    def values(self) -> list[V]:  # type: ignore[override]
        return [self[key] for key in self]

    def items(self) -> list[tuple[K, V]]:  # type: ignore[override]
        return [(key, self[key]) for key in self]

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


@final
class FrozenMap(Mapping[K, V]):
    """An immutable mapping, for the fields of messages.

    Examples
    --------
    >>> FrozenMap({"b": 2, "a": 1})
    FrozenMap({'a': 1, 'b': 2})
    """

    __slots__ = ("_items",)

    def __init__(self, items: Any = ()) -> None:
        self._items: dict[K, V] = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(in_order(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{key!r}: {self[key]!r}" for key in self)
        return f"FrozenMap({{{inside}}})"


def adopt(value: Any) -> Any:
    """Return what a field stores for `value`: a canonical copy of a collection.

    Storing always copies sets, dicts and lists, so that no two fields share one: a
    state is a value, and thawing it must not change what a handler does.
    """
    kind = type(value)
    if kind is set or kind is CanonicalSet:
        return CanonicalSet(value)
    if kind is dict or kind is CanonicalDict:
        return CanonicalDict(value)
    return value.copy() if kind is list else value


def _thaw_pairs(frozen: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(thaw_all(frozen[1::2]), thaw_all(frozen[2::2]), strict=True))


def _thaw_dict(frozen: tuple[Any, ...]) -> CanonicalDict[Any, Any]:
    # What was thawed just now is shared with nobody, so nothing has to be adopted.
    fresh: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
    dict.update(fresh, _thaw_pairs(frozen))
    return fresh


register_type(CanonicalSet, lambda value: freeze_set(SET, set.__iter__(value)))
register_type(CanonicalDict, lambda value: freeze_mapping(DICT, dict.items(value)))
register_type(FrozenMap, lambda value: freeze_mapping(MAP, value._items.items()))
register_tag(SET, lambda frozen: CanonicalSet(thaw_all(frozen[1:])))
register_tag(DICT, _thaw_dict)
register_tag(MAP, lambda frozen: FrozenMap(_thaw_pairs(frozen)))
