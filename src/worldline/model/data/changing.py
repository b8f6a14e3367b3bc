"""What can change in place: collections and mutable records, and how they are read and written.

Of each, the *content* is what it holds, in the order in which Python has it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from itertools import chain
from operator import is_
from typing import Any, NamedTuple, TypeAlias

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.values import write_fields

Content: TypeAlias = tuple[Any, ...]
"""What something holds, in the order in which Python has it."""


class Sort(NamedTuple):
    """What makes one that is empty, reads the content, writes it, and knows it again."""

    make: Callable[[], Any]
    read: Callable[[Any], Content]
    write: Callable[[Any, Content], None]
    has: Callable[[Any, Content], bool]


def sort_of(kind: type) -> Sort | None:
    """Return how instances of a class are read and written; None if they cannot change."""
    known = _SORTS.get(kind)
    if known is None and dataclasses.is_dataclass(kind):
        declared = kind.__dataclass_params__  # type: ignore[attr-defined]
        if not declared.frozen:
            known = _SORTS[kind] = _record(kind)
    return known


def _record(kind: type) -> Sort:
    """Return the sort of a mutable dataclass, a node among them."""
    names = tuple(field.name for field in dataclasses.fields(kind))
    make = partial(object.__new__, kind)
    if kind.__dictoffset__ == 0:

        def read(value: Any) -> Content:
            return tuple(getattr(value, name) for name in names)

        def write(value: Any, content: Content) -> None:
            write_fields(value, names, content)

        return Sort(make, read, write, lambda value, was: _are_same(read(value), was))
    return Sort(make, _read_fields, _write_fields, _has_fields)


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


_SORTS: dict[type, Sort] = {
    set: Sort(set, _read_set, _write_set, _has_items),
    CanonicalSet: Sort(CanonicalSet, _read_set, _write_set, _has_items),
    dict: Sort(dict, _read_dict, _write_pairs, _has_pairs),
    CanonicalDict: Sort(
        CanonicalDict, _read_canonical_dict, _write_canonical_dict, _has_marked_pairs
    ),
    list: Sort(list, tuple, _write_list, _has_list),
}
