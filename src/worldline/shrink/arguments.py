"""The arguments of calls, taken apart: members of collections, and whole numbers.

All of it looks at frozen values, in which everything has a place: the positions of the
parts on the way to it.

References
----------
Scott et al. (DEMi), NSDI 2016, section 3.5: external message shrinking. What differs: no
user code says what a message is made of, and numbers are made smaller, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.data.content import FROZENSET, MAP, TUPLE, Frozen
from worldline.model.data.values import freeze, thaw
from worldline.model.drawn import OneOf

PartPath: TypeAlias = tuple[int, ...]
"""Where in a frozen value something is; empty for all of it."""

GONE: Any = object()
"""Stands for a member that is left out."""


@final
class ArgumentPart(NamedTuple):
    """A part of an argument.

    Attributes
    ----------
    path
        Where it is.
    value
        What it is, frozen.
    is_member
        Whether it is in a collection, which can be without it; else it is a number.
    """

    path: PartPath
    value: Frozen
    is_member: bool


def parts_of(arguments: Frozen) -> Iterator[ArgumentPart]:
    """Yield what can be left out of a call's arguments, or be a smaller number."""
    for position, argument in enumerate(arguments[1:], 1):
        yield from _parts((position,), argument)


def _parts(path: PartPath, frozen: Frozen) -> Iterator[ArgumentPart]:
    if type(frozen) is int and frozen:
        yield ArgumentPart(path, frozen, is_member=False)
    if type(frozen) is not tuple or frozen[0] is OneOf:
        return
    tag = frozen[0]
    is_collection = tag in (TUPLE, FROZENSET, MAP)
    if not is_collection and not isinstance(tag, type):
        return
    for position, item in enumerate(frozen[1:], 1):
        below = *path, position
        if is_collection and (tag is not MAP or position % 2):
            yield ArgumentPart(below, item, is_member=True)
        yield from _parts(below, item)


def with_parts(arguments: Frozen, parts: Mapping[PartPath, Frozen]) -> tuple[Any, ...]:
    """Return a call's arguments, thawed, with other parts; `GONE` for some without."""
    changed: tuple[Any, ...] = thaw(_rebuilt((), arguments, parts))
    return changed


def _rebuilt(
    path: PartPath, frozen: Frozen, parts: Mapping[PartPath, Frozen]
) -> Frozen:
    if path in parts:
        return parts[path]
    if type(frozen) is not tuple:
        return frozen
    tag = frozen[0]
    items = [
        _rebuilt((*path, position), item, parts)
        for position, item in enumerate(frozen[1:], 1)
    ]
    if tag is MAP:
        pairs = zip(items[::2], items[1::2], strict=True)
        items = [item for pair in pairs if pair[0] is not GONE for item in pair]
    changed = (tag, *(item for item in items if item is not GONE))
    # Members that have become equal are one, and stand in their order.
    return freeze(thaw(changed)) if tag in (FROZENSET, MAP) else changed
