"""The state of a deployed node, as others may look at it."""

from __future__ import annotations

from typing import Any, final

from worldline.model.data.values import ITSELF
from worldline.model.errors import UsageError
from worldline.model.node import NodeType
from worldline.trace.journal.lasting import copy_of


@final
class StateCopy:
    """The fields of a node: copies, made when they are looked at.

    Its plain methods can be called, too, as long as they change nothing.
    """

    __slots__ = ("_kind", "_node")

    def __init__(self, kind: NodeType, node: Any) -> None:
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_node", node)

    def __getattr__(self, name: str) -> Any:
        kind, values = self._kind, self._node.__dict__
        value = values.get(name)
        if value is not None and type(value) in ITSELF:
            return value  # a number, say, as `until` asks for after each event
        inner = kind.parts.get(name)
        if inner is not None:
            return StateCopy(inner, values[name])
        if name in values:
            return copy_of(values[name])
        function = getattr(kind.cls, name, None)
        if callable(function) and not name.startswith("__"):
            return function.__get__(self)
        raise AttributeError(
            f"{kind.cls.__name__} has no field {name!r}; its fields are "
            f"{', '.join(kind.roles)}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise UsageError(
            f"{self._kind.cls.__name__}.{name} is set from outside of its node",
            remedy="change fields in handlers only; await host.call(node, ...)",
        )

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in self._kind.roles)
        return f"{self._kind.cls.__name__}({', '.join(fields)})"
