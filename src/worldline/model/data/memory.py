"""Remembering something for frozen values, as long as there is room."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, final

from worldline.model.data.identity import NodeId

T = TypeVar("T")


@final
class Memory(Generic[T]):
    """A memo table for frozen values, or tuples of them.

    Ids of nodes are equal by name, also those of two systems, though their order may
    differ there. So an entry is valid only for keys with the very same `NodeId` objects.
    To compare one of them is enough, since a value belongs to one system.

    Parameters
    ----------
    most
        How many keys are remembered; after that, all are forgotten.
    """

    __slots__ = ("_entries", "_most")

    def __init__(self, most: int) -> None:
        self._entries: dict[Any, tuple[T, tuple[int, ...], NodeId | None]] = {}
        self._most = most

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Any) -> T | None:
        """Return what is remembered for a key, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, path, node = entry
        for position in path:
            key = key[position]
        return value if node is None or key is node else None

    def put(self, key: Any, value: T) -> T:
        """Remember a value for a key, and return it."""
        if len(self._entries) >= self._most:
            self._entries.clear()
        path = _path_to_node(key)
        node = key
        for position in path or ():
            node = node[position]
        self._entries[key] = (value, path or (), None if path is None else node)
        return value


def _path_to_node(key: Any) -> tuple[int, ...] | None:
    """Return the positions that lead to the first id of a node; None if there is none."""
    if type(key) is NodeId:
        return ()
    if isinstance(key, tuple):
        for position, item in enumerate(key):
            path = _path_to_node(item)
            if path is not None:
                return (position, *path)
    return None
