"""Parting what can change: after each event no such object stands in two places of a node.

Where states are frozen between events, a list that a handler put into two others is two
equal lists for the next one. So it is where nodes live on, in simulations and on hosts: the
first place keeps the object, each other gets a copy.

Storing copies collections, in a field as in a dict. What is left are those that lists,
tuples and records hold, and records that can change: most nodes have none, and take no time.
"""

from __future__ import annotations

import dataclasses
from itertools import chain
from operator import is_
from typing import Any, final

from worldline.model.data.changing import Content, sort_of
from worldline.model.data.settling import AS_THEY_ARE, met, settle_each
from worldline.model.data.values import write_fields


def settle_fields(fields: dict[str, Any]) -> None:
    """Settle and part in place the fields of a live node, as a handler has left them."""
    met.places = 0
    settle_each(fields)
    if met.places > 1:
        part(fields)


def part(fields: dict[str, Any]) -> list[str]:
    """Let no object that can change stand in two places of settled fields.

    Returns
    -------
    list of str
        The fields in which something was put into another's place.
    """
    parting = _Parting()
    changed: list[str] = []
    try:
        for name, value in fields.items():
            copies = parting.copies
            fresh = parting.parted(value)
            if fresh is not value:
                fields[name] = fresh
            if parting.copies != copies:
                changed.append(name)
    except RecursionError:
        pass  # it holds itself, or is nested without end: freezing it will tell
    return changed


def copied(value: Any) -> Any:
    """Return a value that shares nothing with the given one that can change."""
    if type(value) in AS_THEY_ARE:
        return value
    try:
        return _Parting(is_all_met=True).parted(value)
    except RecursionError:
        return value  # as above


_MANY = 16
"""Values from which on it is worth while to look at all of them first."""


@final
class _Parting:
    """One walk through the fields of a node.

    Parameters
    ----------
    is_all_met
        Whether to copy whatever can change.

    Attributes
    ----------
    copies
        How many were made.
    """

    __slots__ = ("_is_all_met", "_met", "copies")

    def __init__(self, *, is_all_met: bool = False) -> None:
        self._is_all_met = is_all_met
        self._met: set[int] = set()
        self.copies = 0

    def parted(self, value: Any) -> Any:
        """Return a value, or a copy where it holds what was met before."""
        kind = type(value)
        if kind in AS_THEY_ARE:
            return value
        sort = sort_of(kind)
        if sort is None:
            return self._rebuilt(kind, value)
        content, place = sort.read(value), value
        if self._is_all_met or id(value) in self._met:
            place = sort.make()
            self.copies += 1
        self._met.add(id(place))
        held = self._all_parted(content)
        if place is not value or held is not content:
            sort.write(place, held)
        return place

    def _all_parted(self, content: Content) -> Content:
        if AS_THEY_ARE.issuperset(map(type, content)):
            return content  # as of most collections, which may be long
        if len(content) > _MANY and self._are_met_first(content):
            return content
        held = tuple(map(self.parted, content))
        return content if all(map(is_, held, content)) else held

    def _are_met_first(self, content: Content) -> bool:
        """Say of values that can change whether none was met before, and meet them.

        Only of those of one class that hold nothing that can change: a few looks tell it
        of very many.
        """
        kinds = {*map(type, content)} - AS_THEY_ARE
        sort = sort_of(next(iter(kinds))) if len(kinds) == 1 else None
        if sort is None or self._is_all_met:
            return False
        items = [item for item in content if type(item) in kinds]
        held = chain.from_iterable(map(sort.read, items))
        if not AS_THEY_ARE.issuperset(map(type, held)):
            return False
        found = {*map(id, items)}
        if len(found) < len(items) or not found.isdisjoint(self._met):
            return False
        self._met |= found
        return True

    def _rebuilt(self, kind: type, value: Any) -> Any:
        """Return what cannot change itself, perhaps with copies inside."""
        if kind is tuple:
            return self._all_parted(value)
        if not dataclasses.is_dataclass(kind):
            return value
        names = [field.name for field in dataclasses.fields(kind)]
        content = tuple([getattr(value, name) for name in names])
        held = self._all_parted(content)
        if held is content:
            return value
        return write_fields(object.__new__(kind), names, held)
