"""Snapshots of fields, by which it is found out after each event whether they have changed.

A list, set or dict that holds nothing that can change is the same if it holds the same
objects in the same order: to look at that takes a hundredth of the time of freezing it,
and tells what has come and what has gone. Where objects are others, they are compared: what
has changed is the same wherever it is looked at. So is a list or dict of collections or of
records that hold nothing that can change. All else is frozen.

Large fields are looked at by functions of C, as far as they are as they were; of large dicts
only what is put into them (`dict_snapshots`).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, count, filterfalse, islice
from operator import is_
from typing import Any, TypeAlias, final

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.constant import are_constant, is_constant_value
from worldline.model.data.content import Frozen
from worldline.model.data.dict_changes import LARGE, can_be_noted
from worldline.model.data.held_values import MISSING, HeldValues
from worldline.model.data.parting import copied
from worldline.model.data.same_data import are_found_again, identity
from worldline.model.data.values import ITSELF
from worldline.trace.journal.dict_snapshots import DictSnapshot
from worldline.trace.journal.patches import FieldPatch, ListPatch, MembersPatch

AnySnapshot: TypeAlias = "FieldSnapshot | DictSnapshot"


def snapshot(value: Any) -> Any:
    """Return what stands for a value as it is now: an `AnySnapshot`, or itself."""
    if type(value) in ITSELF:
        return value
    return DictSnapshot(value) if can_be_noted(value) else FieldSnapshot(value)


def snapshot_after(before: AnySnapshot, value: Any, patch: FieldPatch) -> AnySnapshot:
    """Return what stands for a value that has come of one before by a patch.

    Its class depends on the value alone: a replay goes on with what it has where its node
    has looked anew, in another life, and has to be told the same of what changes then.
    """
    is_large = type(value) is CanonicalDict and len(value) >= LARGE
    if type(before) is DictSnapshot and is_large and isinstance(patch, MembersPatch):
        before.keep(value, patch)
        return before
    is_constant = type(before) is DictSnapshot or before.holds_constants
    if is_constant and not is_large:
        return FieldSnapshot(value, is_constant=True)
    fresh: AnySnapshot = snapshot(value)
    return fresh


@final
class FieldSnapshot:
    """What a value was that may change.

    Parameters
    ----------
    is_constant
        Whether what the value holds is known to be nothing that can change.
    """

    __slots__ = ("_frozen", "_held", "_keys", "_kind", "_object")

    def __init__(self, value: Any, *, is_constant: bool = False) -> None:
        self._kind = kind = type(value)
        # What cannot change is the same as long as it is the same object.
        self._object = (
            value if not is_constant and is_constant_value(value) else MISSING
        )
        self._keys: list[Any] = []
        self._held: HeldValues | None = None
        self._frozen: Frozen = None
        if kind is CanonicalDict:
            self._keys = list(dict.keys(value))
            items = list(dict.values(value))
            self._held = HeldValues.of(items, is_constant=is_constant)
        elif kind is CanonicalSet or kind is list:
            items = list(set.__iter__(value) if kind is CanonicalSet else value)
            self._held = HeldValues.of(items, is_constant=is_constant)
        if self._held is None:
            self._keys = []
            self._frozen = identity(value)

    @property
    def holds_constants(self) -> bool:
        """Whether the value was a collection that held nothing that can change."""
        return self._held is not None and not self._held.can_change

    def is_of(self, value: Any) -> bool:
        """Say whether a value is as this one was."""
        if value is self._object:
            return True
        if type(value) is not self._kind:
            return False
        held = self._held
        if held is None:
            return bool(identity(value) == self._frozen)
        before = held.items
        if len(value) != len(before):
            return False
        if self._kind is list:
            return held.are(value)
        if self._kind is CanonicalSet:
            if all(map(is_, set.__iter__(value), before)):
                return True
            return bool(value == set(before)) and _holds_these(value, before)
        keys, values = dict.keys(value), dict.values(value)
        if all(map(is_, keys, self._keys)):
            return held.are(values)
        return (
            keys == set(self._keys)
            and held.at(self._places(value)).are(values)
            and _holds_these(value, self._keys)
        )

    def patch(self, path: str, value: Any) -> FieldPatch | None:
        """Return how a field has changed; None if it is to be written as a whole."""
        held = self._held
        if held is None or type(value) is not self._kind:
            return None
        if self._kind is list:
            kept, end = held.both_ends(value)
            told = self._told(held, value[kept : len(value) - end], len(value))
            return None if told is None else ListPatch(path, kept, end, told)
        before = held.items
        gone: tuple[Any, ...] = ()
        if self._kind is CanonicalDict and self._begins(value):
            at = held.changed_at(dict.values(value))
            came = islice(dict.items(value), len(before), None)
            keys = [self._keys[place] for place in at]
            added = (*((key, value[key]) for key in keys), *came)
        elif not _holds_these(value, self._keys or before):
            return None
        elif self._kind is CanonicalSet:
            gone = tuple(filterfalse(value.__contains__, before))
            added = tuple(
                filterfalse(set(before).__contains__, set.__iter__(value)),
            )
        else:
            gone = tuple(filterfalse(value.__contains__, self._keys))
            places = set(held.at(self._places(value)).changed_at(dict.values(value)))
            is_changed = map(places.__contains__, count())
            added = tuple(compress(dict.items(value), is_changed))
        told = self._told(held, added, len(value) - 2 * len(gone))
        if told is None:
            return None
        keys = list(dict(told) if self._kind is CanonicalDict else told)
        if not are_found_again((*gone, *keys)):
            return None
        return MembersPatch(path, gone, told)

    def _told(
        self, held: HeldValues, added: Iterable[Any], most: int
    ) -> tuple[Any, ...] | None:
        """Return what is told of what has come; None if the whole field is to be.

        Parameters
        ----------
        most
            Twice as much may have come, to be told in part.
        """
        told = tuple(added)
        if 2 * len(told) > most:
            return None
        if held.can_change:
            copies: tuple[Any, ...] = copied(told)
            return copies
        return told if are_constant(told) else None

    def _places(self, value: CanonicalDict[Any, Any]) -> list[int]:
        """Return where each key of a dict stood; -1 for those that have come."""
        places = dict(zip(self._keys, count(), strict=False))
        return [places.get(key, -1) for key in dict.keys(value)]

    def _begins(self, value: CanonicalDict[Any, Any]) -> bool:
        """Say whether a dict has all the keys that there were, and others behind them."""
        keys = self._keys
        return len(value) >= len(keys) and all(map(is_, keys, dict.keys(value)))


def _holds_these(value: Any, before: list[Any]) -> bool:
    """Say whether elements or keys that are equal to some before are these: 1 is not True."""
    known = dict(zip(before, before, strict=True))
    is_dict = type(value) is CanonicalDict
    items = list(dict.keys(value) if is_dict else set.__iter__(value))
    return HeldValues(list(map(known.get, items, items))).are(items)
