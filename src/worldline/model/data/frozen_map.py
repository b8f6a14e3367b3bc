"""An immutable mapping, which iterates in canonical order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar, final

from worldline.model.data.canonical import CanonicalItems, CanonicalKeys, in_order
from worldline.model.data.canonical_dict import thaw_pairs
from worldline.model.data.content import MAP
from worldline.model.data.immutable import immutable
from worldline.model.data.settling import as_it_is, register_settler
from worldline.model.data.values import freeze_mapping, register_tag, register_type

K = TypeVar("K")
V = TypeVar("V")


@final
class FrozenMap(Mapping[K, V]):
    """An immutable mapping, for the fields of messages.

    Examples
    --------
    >>> FrozenMap({"b": 2, "a": 1})
    FrozenMap({'a': 1, 'b': 2})
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        self._items: dict[K, V] = {
            immutable(key, "a FrozenMap", "it"): immutable(value, "a FrozenMap", "it")
            for key, value in dict(items).items()
        }

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(in_order(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def keys(self) -> CanonicalKeys[K]:
        return CanonicalKeys(self)

    def items(self) -> CanonicalItems[K, V]:
        return CanonicalItems(self)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        inside = ", ".join(f"{key!r}: {self[key]!r}" for key in self)
        return f"FrozenMap({{{inside}}})"


register_type(FrozenMap, lambda value: freeze_mapping(MAP, value._items.items()))
register_tag(MAP, lambda frozen: FrozenMap(thaw_pairs(frozen)))
register_settler(FrozenMap, as_it_is)
