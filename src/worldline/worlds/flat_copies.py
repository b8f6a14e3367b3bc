"""Copies of collections whose items are told apart: what equals one is the very same data.

Python compares such a collection with its copy in a tenth of the time that its items take one
by one. It can where no item equals other data: an id, a text, bytes or None, and not 1, which
True equals. A member of an enumeration of texts equals a text, too; where there is one at all,
the classes are looked at as well.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, final

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.dict_changes import DictChanges
from worldline.model.data.identity import NodeId

TOLD_APART = frozenset({NodeId, str, bytes, type(None)})
"""Classes none of whose values equals one of another class, but for those of `are_imitated`."""


@final
class StrictCopy:
    """A copy of a collection that a collection equals only if it holds the same classes.

    Attributes
    ----------
    items
        The copy.
    """

    __slots__ = ("items",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, items: Any) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return bool(other == self.items) and _are_told_apart(*_FLAT[type(other)](other))


FlatCopy: TypeAlias = Any
"""A plain copy, or a `StrictCopy`, or `DictChanges`."""


def are_imitated() -> bool:
    """Say whether there are enumerations whose members equal texts or bytes."""
    return any(
        issubclass(cls, enum.Enum)
        and cls.__module__.partition(".")[0] not in sys.stdlib_module_names
        for cls in (*_below(str), *_below(bytes))
    )


def is_flat(kind: type) -> bool:
    """Say whether instances of a class are collections that may be copied so."""
    return kind in _FLAT


def flat_copy(value: Any, *, is_strict: bool) -> FlatCopy | None:
    """Return a copy of a collection; None if it is none, or its items are not told apart.

    Parameters
    ----------
    is_strict
        Whether there are values that equal some of these, and are other data.
    """
    copy_of = _FLAT.get(type(value))
    if copy_of is None:
        return None
    items, others = copy_of(value)
    if not _are_told_apart(items, others):
        return None
    return StrictCopy(items) if is_strict else items


def refill(value: Any, was: FlatCopy) -> None:
    """Let a collection hold again what a copy of it holds."""
    if type(was) is DictChanges:
        was.put_back(value)
    else:
        items = was.items if type(was) is StrictCopy else was
        _REFILL[type(value)](value, items)


def _below(cls: type) -> Iterator[type]:
    below: list[type] = type.__subclasses__(cls)
    for one in below:
        yield one
        yield from _below(one)


def _are_told_apart(items: Iterable[Any], others: Iterable[Any]) -> bool:
    kinds = map(type, items)
    return TOLD_APART.issuperset(kinds) and TOLD_APART.issuperset(map(type, others))


def _refill_set(value: set[Any], was: set[Any]) -> None:
    value.clear()
    value.update(was)


def _refill_dict(value: CanonicalDict[Any, Any], was: dict[Any, Any]) -> None:
    dict.clear(value)
    dict.update(value, was)


def _refill_list(value: list[Any], was: list[Any]) -> None:
    value[:] = was


_Flat = tuple[Any, Any]
"""The copy of a collection, and the values of a dict."""

_FLAT: dict[type, Callable[[Any], _Flat]] = {
    CanonicalSet: lambda value: (set(value), ()),
    CanonicalDict: lambda value: (dict(dict.items(value)), dict.values(value)),
    list: lambda value: (value.copy(), ()),
}

_REFILL: dict[type, Callable[[Any, Any], None]] = {
    CanonicalSet: _refill_set,
    CanonicalDict: _refill_dict,
    list: _refill_list,
}
