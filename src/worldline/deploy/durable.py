"""Fields that outlive a life: durable ones and ghosts, by path, and how they change."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, final

from worldline.model.data.settling import settled
from worldline.model.data.time import Duration, Time
from worldline.model.data.values import ITSELF, freeze
from worldline.model.fields import Role
from worldline.model.node import NodeType

_TIMES = (Time, Duration)


_LASTING = (Role.DURABLE, Role.GHOST)


def lasting_paths(
    kind: NodeType, prefix: str = "", roles: Collection[Role] = _LASTING
) -> Iterator[str]:
    """Yield the paths of a class's durable and ghost fields: ``name`` or ``part.name``."""
    for name, role in kind.roles.items():
        if role in roles:
            yield prefix + name
    for name, inner in kind.parts.items():
        yield from lasting_paths(inner, f"{prefix}{name}.", roles)


def has_durable(kind: NodeType) -> bool:
    """Say whether a class has durable fields, so that it needs a journal."""
    return Role.DURABLE in kind.roles.values() or any(
        map(has_durable, kind.parts.values())
    )


@final
class Lasting:
    """The durable and ghost fields of one node object.

    Parameters
    ----------
    node
        The object, as it is when this is made.
    """

    __slots__ = ("_durable", "_fields")

    def __init__(self, kind: NodeType, node: Any) -> None:
        self._durable = frozenset(lasting_paths(kind, roles=(Role.DURABLE,)))
        # Of each: its path, the dict that holds it, its name there, and what it was.
        self._fields: list[list[Any]] = []
        for path in lasting_paths(kind):
            values, name = _holder(node, path)
            self._fields.append([path, values, name, _identity(values[name])])

    def __bool__(self) -> bool:
        return bool(self._fields)

    def changed(self) -> dict[str, Any]:
        """Return copies of what has changed since this was asked last, by path."""
        changed: dict[str, Any] = {}
        for field in self._fields:
            path, values, name, before = field
            value = values[name]
            if value is before:
                continue
            now = value if type(value) in ITSELF else _identity(value)
            if now is before or (type(now) is type(before) and now == before):
                continue
            field[3] = now
            changed[path] = copy_of(value)
        return changed

    def is_durable(self, paths: Iterable[str]) -> bool:
        """Say whether a field among some is durable: on ghosts nothing else depends."""
        return not self._durable.isdisjoint(paths)

    def all(self) -> dict[str, Any]:
        """Return copies of all of them, by path."""
        return {path: copy_of(values[name]) for path, values, name, _ in self._fields}


def put(node: Any, durable: Mapping[str, Any]) -> None:
    """Give a node the durable and ghost fields of its last life."""
    for path, value in durable.items():
        values, name = _holder(node, path)
        values[name] = settled(copy_of(value))


def copy_of(value: Any) -> Any:
    """Return a value that later changes of the first do not reach."""
    return value if type(value) in ITSELF else copy.deepcopy(value)


def _holder(node: Any, path: str) -> tuple[dict[str, Any], str]:
    *parts, name = path.split(".")
    for part in parts:
        node = node.__dict__[part]
    return node.__dict__, name


def _identity(value: Any) -> Any:
    kind = type(value)
    if kind in ITSELF:
        return value
    return (kind, value.seconds) if kind in _TIMES else freeze(value)
