"""The state of a node before an event, to which it can be put back."""

from __future__ import annotations

from typing import Any, final

from worldline.model.node import NodeType
from worldline.worlds.checkpoint import ignored_fields, put_back_ignored


@final
class Before:
    """The fields of a node before an event."""

    __slots__ = ("_frozen", "_ignored", "_kind")

    def __init__(self, kind: NodeType, node: Any) -> None:
        self._kind = kind
        self._frozen = kind.freeze(node)
        self._ignored = ignored_fields(kind, node)

    def put_back(self, node: Any) -> None:
        """Give a node object these fields again, in place."""
        _replace(self._kind, node, self._kind.thaw(self._frozen, node))
        put_back_ignored(self._kind, node, self._ignored)


def _replace(kind: NodeType, node: Any, other: Any) -> None:
    for name, value in other.__dict__.items():
        inner = kind.parts.get(name)
        if inner is None:
            node.__dict__[name] = value
        else:  # contexts are bound to the objects of parts
            _replace(inner, node.__dict__[name], value)
