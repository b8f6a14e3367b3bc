"""Fields that outlive a life: durable ones and ghosts, by path, and how they change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, final

from worldline.model.data.parting import copied
from worldline.model.data.settling import settled
from worldline.model.data.values import ITSELF
from worldline.model.fields import Role
from worldline.model.node import NodeType
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.patches import FieldPatch
from worldline.trace.journal.snapshots import snapshot, snapshot_after

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


def lasting_words(kind: NodeType, codec: Codec) -> dict[str, str]:
    """Return what each durable and ghost field of a class holds, in words, by path."""
    words: dict[str, str] = {}
    for path in lasting_paths(kind):
        *parts, name = path.split(".")
        inner = kind
        for part in parts:
            inner = inner.parts[part]
        words[path] = codec.words(inner.cls)[name]
    return words


@final
class _Watched:
    """One field, and what it was when it was looked at last."""

    __slots__ = ("before", "is_known", "name", "path", "values")

    def __init__(self, path: str, values: dict[str, Any], name: str) -> None:
        self.path, self.values, self.name = path, values, name
        self.before: Any = snapshot(values[name])
        self.is_known = False


@final
class Lasting:
    """The durable and ghost fields of one node object.

    Parameters
    ----------
    node
        The object, as it is when this is made.
    known
        The paths of which a journal has the value: how these change can be told in part.
    """

    __slots__ = ("_durable", "_fields")

    def __init__(self, kind: NodeType, node: Any, known: Collection[str] = ()) -> None:
        self._durable = frozenset(lasting_paths(kind, roles=(Role.DURABLE,)))
        self._fields = [
            _Watched(path, *_holder(node, path)) for path in lasting_paths(kind)
        ]
        for field in self._fields:
            field.is_known = field.path in known

    def __bool__(self) -> bool:
        return bool(self._fields)

    def changed(self) -> tuple[dict[str, Any], tuple[FieldPatch, ...]]:
        """Return what has changed since this was asked last.

        Returns
        -------
        dict and tuple of FieldPatch
            Copies of fields, by path; and how others have changed that are large.
        """
        changed: dict[str, Any] = {}
        patches: tuple[FieldPatch, ...] = ()
        for field in self._fields:
            value, before = field.values[field.name], field.before
            if value is before:
                continue
            patch = None
            if type(before) in ITSELF:
                if type(value) is type(before) and value == before:
                    continue
            elif before.is_of(value):
                continue
            elif field.is_known:
                patch = before.patch(field.path, value)
            field.is_known = True
            if patch is not None:
                field.before = snapshot_after(before, value, patch)
                patches = (*patches, patch)
            elif type(value) in ITSELF:  # a number, as most are
                field.before = changed[field.path] = value
            else:
                field.before = snapshot(value)
                changed[field.path] = copy_of(value)
        return changed, patches

    def is_durable(self, changed: Iterable[str], patches: Iterable[FieldPatch]) -> bool:
        """Say whether a field that has changed is durable: on ghosts nothing else depends."""
        durable = self._durable
        return not durable.isdisjoint(changed) or any(
            patch.path in durable for patch in patches
        )

    def all(self) -> dict[str, Any]:
        """Return copies of all of them, by path."""
        return {field.path: copy_of(field.values[field.name]) for field in self._fields}


def put(node: Any, durable: Mapping[str, Any]) -> None:
    """Give a node the durable and ghost fields of its last life."""
    for path, value in durable.items():
        values, name = _holder(node, path)
        values[name] = settled(copy_of(value))


def copy_of(value: Any) -> Any:
    """Return a value that later changes of the first do not reach."""
    return copied(value)


def _holder(node: Any, path: str) -> tuple[dict[str, Any], str]:
    *parts, name = path.split(".")
    for part in parts:
        node = node.__dict__[part]
    return node.__dict__, name
