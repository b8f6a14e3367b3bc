"""What lists and dicts held when they were looked at, and where they hold other data now.

That is what cannot change; or collections and records that can, all of one class, which
hold nothing that can. Large ones are looked at by functions of C, as far as they are as
they were.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, compress, count
from operator import attrgetter, is_, is_not, ne, not_
from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.changing import sort_of
from worldline.model.data.constant import are_constant
from worldline.model.data.same_data import identity, is_same_data
from worldline.model.data.values import getter, write_fields

MISSING: Any = object()
"""Stands where nothing was."""

_Content: TypeAlias = tuple[Any, ...]


class _Inside(NamedTuple):
    """What reads of many values of a class what each holds, and makes one that does."""

    read: Callable[[Iterable[Any]], Iterable[Iterable[Any]]]
    make: Callable[[_Content], Any]


@final
class HeldValues:
    """The elements of a list, or the values of a dict, in some order.

    Parameters
    ----------
    contents
        What each held, of those that can change; None where nothing was.
    kind, inside
        The class of those that can change, and what reads them.

    Attributes
    ----------
    items
        They themselves.
    """

    __slots__ = ("_contents", "_inside", "_kind", "items")

    def __init__(
        self,
        items: list[Any],
        contents: list[_Content | None] | None = None,
        kind: type | None = None,
        inside: _Inside | None = None,
    ) -> None:
        self.items, self._contents = items, contents
        self._kind, self._inside = kind, inside

    @classmethod
    def of(cls, items: list[Any], *, is_constant: bool = False) -> HeldValues | None:
        """Return what stands for values; None if nothing can, but that they are frozen.

        Parameters
        ----------
        is_constant
            Whether they are known to be nothing that can change.
        """
        if is_constant or are_constant(items):
            return cls(items)
        kind = type(items[0])
        if not _are_of(kind, items) or (inside := _inside_of(kind)) is None:
            return None
        contents = list(map(tuple, inside.read(items)))
        if not are_constant(list(chain.from_iterable(contents))):
            return None
        return cls(items, [*contents], kind, inside)

    @property
    def can_change(self) -> bool:
        """Whether what is held can change where it is."""
        return self._contents is not None

    def at(self, places: Sequence[int]) -> HeldValues:
        """Return those at some places; at -1 nothing was."""
        items = [*self.items, MISSING]
        moved = [items[place] for place in places]
        if self._contents is None:
            return HeldValues(moved)
        contents = [*self._contents, None]
        held = [contents[place] for place in places]
        return HeldValues(moved, held, self._kind, self._inside)

    def are(self, now: Iterable[Any]) -> bool:
        """Say whether others, as many, are the same data."""
        # As most are, which takes half of the time.
        if self._contents is None and all(map(is_, now, self.items)):
            return True
        return next(self.changed_at(now), None) is None

    def changed_at(self, now: Iterable[Any]) -> Iterator[int]:
        """Yield the places, in order, at which there is other data, as far as both go."""
        items, before = now if type(now) is list else list(now), self.items
        if self._contents is not None:
            return self._changed_inside(items[: len(before)], self._contents)
        differing = compress(count(), map(is_not, items, before))
        return (at for at in differing if not is_same_data(items[at], before[at]))

    def both_ends(self, now: list[Any]) -> tuple[int, int]:
        """Return how many at the beginning are the same data, and how many at the end."""
        most = min(len(self.items), len(now))
        kept = next(self.changed_at(now), most)
        if kept == most:
            return kept, 0  # as of a list that grows
        contents = None if self._contents is None else self._contents[::-1]
        back = HeldValues(self.items[::-1], contents, self._kind, self._inside)
        end = next(back.changed_at(now[::-1]), most)
        return kept, min(end, most - kept)

    # ------------------------------------------------------------------------ inside

    def _changed_inside(
        self, items: list[Any], before: list[_Content | None]
    ) -> Iterator[int]:
        kind, inside = self._kind, self._inside
        assert kind is not None
        assert inside is not None
        if not _are_of(kind, items):
            for at, (item, content) in enumerate(zip(items, before, strict=False)):
                if type(item) is not kind or not self._is_like(item, content):
                    yield at
            return
        present = list(map(tuple, inside.read(items)))
        try:
            unequal = list(map(ne, present, before))
        except Exception:  # one of a class that refuses to be compared has come
            unequal = [True] * len(present)
        suspects = list(compress(count(), unequal))
        if not _are_same_objects(present, before, unequal):
            suspects = []
            for at, now in enumerate(present):
                if _are_same(now, before[at]):
                    before[at] = now  # of these objects it is known the next time
                else:
                    suspects.append(at)
        for at in suspects:
            if not self._is_like(items[at], before[at]):
                yield at

    def _is_like(self, item: Any, content: _Content | None) -> bool:
        """Say whether a value is the same data as one that held something."""
        if content is None:
            return False
        assert self._inside is not None
        return bool(identity(item) == identity(self._inside.make(content)))


def _are_of(kind: type, items: Iterable[Any]) -> bool:
    return {kind}.issuperset(map(type, items))


def _are_same_objects(
    now: list[_Content], before: list[_Content | None], unequal: list[bool]
) -> bool:
    """Say whether contents that are equal hold the same objects: 1 is equal to True."""
    ours: Iterable[Any] = compress(now, map(not_, unequal))
    theirs: Iterable[Any] = compress(before, map(not_, unequal))
    return all(map(is_, chain.from_iterable(ours), chain.from_iterable(theirs)))


def _are_same(now: _Content, before: _Content | None) -> bool:
    if before is None or len(now) != len(before):
        return False
    return all(
        one is other or is_same_data(one, other)
        for one, other in zip(now, before, strict=True)
    )


def _inside_of(kind: type) -> _Inside | None:
    """Return what reads values of a class; None if they hold nothing, or cannot change."""
    known = _INSIDE.get(kind)
    if known is None and dataclasses.is_dataclass(kind) and sort_of(kind) is not None:
        names = tuple([field.name for field in dataclasses.fields(kind)])
        known = _INSIDE[kind] = _Inside(
            partial(map, getter(attrgetter, names)),
            lambda content: write_fields(object.__new__(kind), names, content),
        )
    return known


def _read_dicts(items: Iterable[Any]) -> Iterable[Iterable[Any]]:
    some = list(items)
    return map(chain, map(dict.keys, some), map(dict.values, some))


def _dict(content: _Content) -> CanonicalDict[Any, Any]:
    half = len(content) // 2
    return CanonicalDict(zip(content[:half], content[half:], strict=True))


_INSIDE: dict[type, _Inside] = {
    list: _Inside(iter, list),
    CanonicalSet: _Inside(partial(map, set.__iter__), CanonicalSet),
    CanonicalDict: _Inside(_read_dicts, _dict),
}
"""What reads values of a class, as far as classes have been met."""
