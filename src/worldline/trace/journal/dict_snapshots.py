"""Snapshots of large dicts: what is put into them is noted, so that nobody looks at all else."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain, repeat
from typing import Any, final

from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.constant import are_constant
from worldline.model.data.touched_keys import TouchedKeys
from worldline.model.data.values import ITSELF
from worldline.trace.journal.held_values import MISSING, HeldValues
from worldline.trace.journal.patches import FieldPatch
from worldline.trace.journal.same_data import is_same_data

LARGE = 64
"""Entries from which on it takes less to note what is put into a dict than to look at all."""


def can_be_noted(value: Any) -> bool:
    """Say whether a value is a large dict whose changes are told by what is put into it."""
    return (
        type(value) is CanonicalDict
        and len(value) >= LARGE
        and _are_told_apart(dict.keys(value))
        and are_constant(list(dict.values(value)))
    )


def _are_told_apart(keys: Collection[Any]) -> bool:
    """Say whether keys that are equal are the same data: 1 is not True."""
    if ITSELF.issuperset(map(type, keys)):
        return True
    others = [key for key in keys if type(key) not in ITSELF]
    held: Iterable[Any] = chain.from_iterable(others)
    return {tuple}.issuperset(map(type, others)) and ITSELF.issuperset(map(type, held))


@final
class DictSnapshot:
    """What a large dict was.

    What has come is among what was put into it, and how much there is tells whether
    something has gone. Only to find out what, its keys are looked at; and all of it where
    another dict stands in its place.
    """

    __slots__ = ("_before", "_touched", "_value")

    def __init__(self, value: CanonicalDict[Any, Any]) -> None:
        self._before = dict(dict.items(value))
        self._watch(value)

    def _watch(self, value: CanonicalDict[Any, Any]) -> None:
        self._value, self._touched = value, TouchedKeys(value)

    def is_of(self, value: Any) -> bool:
        """Say whether a value is as this one was."""
        if type(value) is not CanonicalDict or len(value) != len(self._before):
            return False
        if value is self._value and not self._touched.keys:
            return True
        if not self._is_sure_of(value) or self._came(value):
            return False
        self._touched.keys.clear()
        if value is not self._value:
            self._watch(value)
        return True

    def patch(self, path: str, value: Any) -> FieldPatch | None:
        """Return how a field has changed; None if it is to be written as a whole."""
        if type(value) is not CanonicalDict or not self._is_sure_of(value):
            return None
        added, before = self._came(value), self._before
        new = sum(key not in before for key, _ in added)
        gone: tuple[Any, ...] = ()
        if len(value) != len(before) + new:
            gone = tuple([key for key in before if key not in value])
        if 2 * (len(gone) + len(added)) > len(value):
            return None
        if not are_constant([item for _, item in added]):
            return None
        return FieldPatch(path, None, gone, added)

    def after(self, value: CanonicalDict[Any, Any], patch: FieldPatch) -> DictSnapshot:
        """Return what stands for a value that has come of this one by a patch."""
        for key in patch.gone:
            del self._before[key]
        self._before.update(patch.added)
        self._touched.keys.clear()
        if value is not self._value:
            self._watch(value)
        return self

    # ------------------------------------------------------------------------ inside

    def _is_sure_of(self, value: CanonicalDict[Any, Any]) -> bool:
        """Say whether no key may be other data than one that is equal to it."""
        keys = self._touched.keys if value is self._value else dict.keys(value)
        return _are_told_apart(keys)

    def _came(self, value: CanonicalDict[Any, Any]) -> tuple[tuple[Any, Any], ...]:
        """Return the keys and values that were not there before."""
        was = self._before.get
        if value is not self._value:
            keys = list(dict.keys(value))
            held = HeldValues(list(map(was, keys, repeat(MISSING))))
            at = held.changed_at(dict.values(value))
            return tuple([(keys[place], value[keys[place]]) for place in at])
        return tuple(
            [
                (key, value[key])
                for key in dict.fromkeys(self._touched.keys)
                if key in value and not is_same_data(value[key], was(key, MISSING))
            ]
        )
