"""Snapshots of large dicts, as of other fields."""

from __future__ import annotations

from typing import Any, final

from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.constant import are_constant
from worldline.model.data.dict_changes import DictChanges
from worldline.trace.journal.patches import MembersPatch


@final
class DictSnapshot:
    """What a large dict was."""

    __slots__ = ("_changes",)

    def __init__(self, value: CanonicalDict[Any, Any]) -> None:
        self._changes = DictChanges(value)

    def is_of(self, value: Any) -> bool:
        """Say whether a value is as this one was."""
        return bool(self._changes == value)

    def patch(self, path: str, value: Any) -> MembersPatch | None:
        """Return how a field has changed; None if it is to be written as a whole."""
        changes = self._changes
        if type(value) is not CanonicalDict or not changes.is_sure_of(value):
            return None
        added = changes.came(value)
        gone = changes.gone(value, added)
        if 2 * (len(gone) + len(added)) > len(value):
            return None
        if not are_constant([item for _, item in added]):
            return None
        return MembersPatch(path, gone, added)

    def keep(self, value: CanonicalDict[Any, Any], patch: MembersPatch) -> None:
        """Stand for a value that has come of this one by a patch."""
        self._changes.keep(value, patch.added, patch.gone)
