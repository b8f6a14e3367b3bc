"""Pieces of a value that can change: its collections and mutable records.

Of each the content is kept, not what that may hold in turn, which has a piece of its
own. So it can be put back in place, however the pieces hold each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import is_
from typing import Any, TypeAlias, final

from worldline.model.data.canonical import (
    CanonicalDict,
    CanonicalFrozenset,
    CanonicalSet,
    FrozenMap,
)
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF
from worldline.worlds.kept import is_constant_value

Content: TypeAlias = tuple[Any, ...]
"""What a piece holds, in the order in which Python has it."""


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

    def __init__(self, value: Any, sort: _Sort) -> None:
        self._value, self._sort = value, sort
        self.content = sort[0](value)
        self.is_last = _are_atoms(self.content)

    def is_still(self) -> bool:
        """Say whether it holds the same objects."""
        return self._sort[2](self._value, self.content)

    def renew(self) -> bool:
        """Keep what it holds now; False if a piece inside may have come or gone."""
        was_last = self.is_last
        self.content = self._sort[0](self._value)
        self.is_last = _are_atoms(self.content)
        return was_last and self.is_last

    def put_back(self) -> None:
        """Let it hold what it held."""
        self._sort[1](self._value, self.content)


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
    sort = _sort_of(type(value))
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


# ------------------------------------------------------------------- sorts of pieces

_Sort: TypeAlias = tuple[
    Callable[[Any], Content],
    Callable[[Any, Content], None],
    Callable[[Any, Content], bool],
]
"""What reads the content, what writes it, and what says whether it is the same."""


def _sort_of(kind: type) -> _Sort | None:
    known = _SORTS.get(kind)
    if known is None and dataclasses.is_dataclass(kind):
        declared = kind.__dataclass_params__  # type: ignore[attr-defined]
        if not declared.frozen:
            known = _SORTS[kind] = _record(kind)
    return known


def _record(kind: type) -> _Sort:
    """Return the sort of a mutable dataclass, a node among them."""
    names = tuple(field.name for field in dataclasses.fields(kind))
    if kind.__dictoffset__ == 0:

        def read(value: Any) -> Content:
            return tuple(getattr(value, name) for name in names)

        def write(value: Any, content: Content) -> None:
            for name, item in zip(names, content, strict=True):
                object.__setattr__(value, name, item)

        return read, write, lambda value, content: _are_same(read(value), content)
    return _read_fields, _write_fields, _has_fields


def _are_same(now: Content, before: Content) -> bool:
    return len(now) == len(before) and all(map(is_, now, before))


def _has_fields(value: Any, content: Content) -> bool:
    return _are_same(_read_fields(value), content)


def _read_fields(value: Any) -> Content:
    return (*value.__dict__, *value.__dict__.values())


def _write_fields(value: Any, content: Content) -> None:
    _write_pairs(value.__dict__, content)


def _write_pairs(fields: dict[str, Any], content: Content) -> None:
    half = len(content) // 2
    fields.clear()
    dict.update(fields, zip(content[:half], content[half:], strict=True))


def _read_dict(value: dict[Any, Any]) -> Content:
    return (*dict.keys(value), *dict.values(value))


def _has_pairs(value: dict[Any, Any], content: Content) -> bool:
    held = chain(dict.keys(value), dict.values(value))
    return 2 * len(value) == len(content) and all(map(is_, held, content))


def _has_marked_pairs(value: CanonicalDict[Any, Any], content: Content) -> bool:
    held = chain(dict.keys(value), dict.values(value), (value.is_plain,))
    return 2 * len(value) + 1 == len(content) and all(map(is_, held, content))


def _read_canonical_dict(value: CanonicalDict[Any, Any]) -> Content:
    return (*_read_dict(value), value.is_plain)


def _write_canonical_dict(value: CanonicalDict[Any, Any], content: Content) -> None:
    _write_pairs(value, content[:-1])
    value.is_plain = content[-1]


def _read_set(value: set[Any]) -> Content:
    return tuple(set.__iter__(value))


def _has_items(value: set[Any], content: Content) -> bool:
    if len(value) != len(content):
        return False  # as of most that have changed
    # It may hold the same in another order, once something came and went.
    return all(map(is_, set.__iter__(value), content)) or (
        {*map(id, set.__iter__(value))} == {*map(id, content)}
    )


def _write_set(value: set[Any], content: Content) -> None:
    value.clear()
    value.update(content)


def _has_list(value: list[Any], content: Content) -> bool:
    return len(value) == len(content) and all(map(is_, value, content))


def _write_list(value: list[Any], content: Content) -> None:
    value[:] = content


_SORTS: dict[type, _Sort] = {
    set: (_read_set, _write_set, _has_items),
    CanonicalSet: (_read_set, _write_set, _has_items),
    dict: (_read_dict, _write_pairs, _has_pairs),
    CanonicalDict: (_read_canonical_dict, _write_canonical_dict, _has_marked_pairs),
    list: (tuple, _write_list, _has_list),
}

_FIXED: dict[type, Callable[[Any], Iterable[Any]]] = {
    tuple: iter,
    frozenset: iter,
    CanonicalFrozenset: frozenset.__iter__,
    FrozenMap: lambda value: chain(value._items, value._items.values()),
    Time: lambda value: (),
    Duration: lambda value: (),
}
