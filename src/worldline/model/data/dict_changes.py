"""Changes of large dicts: what is put into them is noted, so that nobody looks at all else."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, repeat
from typing import Any, TypeAlias, final

from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.constant import are_constant
from worldline.model.data.held_values import MISSING, HeldValues
from worldline.model.data.same_data import is_same_data
from worldline.model.data.touched_keys import TouchedKeys
from worldline.model.data.values import ITSELF

LARGE = 64
"""Entries from which on it takes less to note what is put into a dict than to look at all."""

CamePairs: TypeAlias = tuple[tuple[Any, Any], ...]


def can_be_noted(value: Any) -> bool:
    """Say whether a value is a large dict whose changes are told by what is put into it."""
    return (
        type(value) is CanonicalDict
        and len(value) >= LARGE
        and _are_unmistakable(dict.keys(value))
        and are_constant(list(dict.values(value)))
    )


def _are_unmistakable(keys: Collection[Any]) -> bool:
    """Say whether keys that are equal are the same data: 1 is not True."""
    if ITSELF.issuperset(map(type, keys)):
        return True
    others = [key for key in keys if type(key) not in ITSELF]
    if not {tuple}.issuperset(map(type, others)):
        return False
    held: Iterable[Any] = chain.from_iterable(others)
    return ITSELF.issuperset(map(type, held))


@final
class DictChanges:
    """A large dict as it was, and what has changed since.

    Equal to a dict that is the same data.

    What has come is among what was put into it, and how much there is tells whether
    something has gone. Only to find out what, its keys are looked at; and all of it where
    another dict stands in its place.

    Attributes
    ----------
    before
        What it was.
    """

    __slots__ = ("_touched", "_value", "before")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: CanonicalDict[Any, Any]) -> None:
        self.before = dict(dict.items(value))
        self._watch(value)

    def __eq__(self, other: object) -> bool:
        """Say whether a value is the same data; if so, watch it from now on."""
        if type(other) is not CanonicalDict or len(other) != len(self.before):
            return False
        if other is self._value and not self._touched.keys:
            return True
        if not self.is_sure_of(other) or self.came(other):
            return False
        self._go_on(other)
        return True

    def is_sure_of(self, value: CanonicalDict[Any, Any]) -> bool:
        """Say whether no key may be other data than one that is equal to it."""
        is_same = value is self._value
        return _are_unmistakable(
            self._touched.keys.others if is_same else dict.keys(value)
        )

    def came(self, value: CanonicalDict[Any, Any]) -> CamePairs:
        """Return the keys and values of a dict that were not there."""
        was = self.before.get
        if value is not self._value:
            keys = list(dict.keys(value))
            held = HeldValues(list(map(was, keys, repeat(MISSING))))
            at = held.changed_at(dict.values(value))
            return tuple([(keys[place], value[keys[place]]) for place in at])
        return tuple(
            [
                (key, value[key])
                for key in self._touched.keys
                if key in value and not is_same_data(value[key], was(key, MISSING))
            ]
        )

    def gone(self, value: CanonicalDict[Any, Any], came: CamePairs) -> tuple[Any, ...]:
        """Return the keys that are no more in a dict into which some pairs have come."""
        new = sum(key not in self.before for key, _ in came)
        if len(value) == len(self.before) + new:
            return ()
        return tuple([key for key in self.before if key not in value])

    def take(self, value: Any) -> bool:
        """Take a value as it is for what it was; say whether that can be."""
        if type(value) is not CanonicalDict or not self.is_sure_of(value):
            return False
        came = self.came(value)
        if not are_constant([item for _, item in came]):
            return False
        self.keep(value, came, self.gone(value, came))
        return True

    def keep(
        self, value: CanonicalDict[Any, Any], came: CamePairs, gone: tuple[Any, ...]
    ) -> None:
        """Take a dict as it is for what it was, since when these have come and gone."""
        for key in gone:
            del self.before[key]
        self.before.update(came)
        self._go_on(value)

    def put_back(self, value: CanonicalDict[Any, Any]) -> None:
        """Let a dict hold again what it was."""
        before = self.before
        is_as_before = value is self._value and self.is_sure_of(value)
        if is_as_before:
            for key in self._touched.keys:
                if key in before:
                    dict.__setitem__(value, key, before[key])
                else:
                    dict.pop(value, key, None)
        if not is_as_before or len(value) != len(before):
            dict.clear(value)
            dict.update(value, before)
        self._go_on(value)

    def _go_on(self, value: CanonicalDict[Any, Any]) -> None:
        self._touched.keys.clear()
        if value is not self._value:
            self._watch(value)

    def _watch(self, value: CanonicalDict[Any, Any]) -> None:
        self._value, self._touched = value, TouchedKeys(value)
