"""Remembering something for frozen values, as long as there is room."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, final

from worldline.model.data.identity import namesakes

T = TypeVar("T")


@final
class Memory(Generic[T]):
    """A memo table for frozen values, or tuples of them.

    Ids of nodes are equal by name, also those of two systems, though their order may
    differ there. So an entry is valid only for keys with the very same `NodeId` objects,
    each of them: a system may have made some of its ids anew and share others.

    Parameters
    ----------
    most
        How many keys are remembered; after that, all are forgotten.
    """

    __slots__ = ("_entries", "_most")

    def __init__(self, most: int) -> None:
        self._entries: dict[Any, T] = {}
        self._most = most

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Any) -> T | None:
        """Return what is remembered for a key, or None."""
        before = namesakes.met
        value = self._entries.get(key)
        # Python compares what keys hold by identity first. So the look-up has compared
        # two ids by name, which is noted there, only if they are not the same object.
        return value if namesakes.met is before else None

    def put(self, key: Any, value: T) -> T:
        """Remember a value for a key, and return it."""
        if len(self._entries) >= self._most:
            self._entries.clear()
        # A dict would keep an equal key, with the ids that are in there.
        self._entries.pop(key, None)
        self._entries[key] = value
        return value
