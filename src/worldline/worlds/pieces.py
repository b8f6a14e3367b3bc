"""Pieces of a value that can change: its collections and mutable records.

Of each the content is kept, not what that may hold in turn, which has a piece of its
own. So it can be put back in place, however the pieces hold each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, final

from worldline.model.data.canonical import CanonicalFrozenset
from worldline.model.data.changing import Content, Sort, sort_of
from worldline.model.data.constant import is_constant_value
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF


@final
class Strange(Exception):
    """A value holds what is no plain data, so nobody knows what can change in it."""


@final
class Piece:
    """A collection or mutable record, and what it held.

    Attributes
    ----------
    content
        What it held, in order.
    is_last
        Whether nothing of that can hold anything.
    """

    __slots__ = ("_sort", "_value", "content", "is_last")

    def __init__(self, value: Any, sort: Sort) -> None:
        self._value, self._sort = value, sort
        self.content = sort.read(value)
        self.is_last = _are_atoms(self.content)

    def is_still(self) -> bool:
        """Say whether it holds the same objects."""
        return self._sort.has(self._value, self.content)

    def renew(self) -> bool:
        """Keep what it holds now; False if a piece inside may have come or gone."""
        was_last = self.is_last
        self.content = self._sort.read(self._value)
        self.is_last = _are_atoms(self.content)
        return was_last and self.is_last

    def put_back(self) -> None:
        """Let it hold what it held."""
        self._sort.write(self._value, self.content)


def pieces_of(value: Any) -> list[Piece]:
    """Return what can change in a value.

    Raises
    ------
    Strange
        If it holds what is no plain data.
    """
    return list(_pieces(value, set()))


def _pieces(value: Any, met: set[int]) -> Iterator[Piece]:
    if is_constant_value(value) or id(value) in met:
        return
    met.add(id(value))
    sort = sort_of(type(value))
    held: Content
    if sort is not None:
        piece = Piece(value, sort)
        yield piece
        if piece.is_last:
            return  # as of most collections, which may be long
        held = piece.content
    else:
        held = tuple(_held_for_good(value))
    for item in held:
        yield from _pieces(item, met)


def _are_atoms(content: Content) -> bool:
    """Say whether nothing in a content can hold anything; collections may be marked by a bool."""
    kinds = {*map(type, content)}
    kinds.discard(bool)
    return ITSELF.issuperset(kinds)


def _held_for_good(value: Any) -> Iterable[Any]:
    """Return what a value holds that always holds the same objects."""
    kind = type(value)
    items = _FIXED.get(kind)
    if items is not None:
        return items(value)
    if dataclasses.is_dataclass(kind):
        return [getattr(value, field.name) for field in dataclasses.fields(kind)]
    raise Strange


_FIXED: dict[type, Callable[[Any], Iterable[Any]]] = {
    tuple: iter,
    frozenset: iter,
    CanonicalFrozenset: frozenset.__iter__,
    FrozenMap: lambda value: chain(value._items, value._items.values()),
    Time: lambda value: (),
    Duration: lambda value: (),
}
