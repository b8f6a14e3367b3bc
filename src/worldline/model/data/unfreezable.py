"""The error for a value that cannot be part of a state: which one, and where it is."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from worldline.model.errors import ModelError
from worldline.model.usercode.activity import activity

MOST_NESTED = 96
"""How deep values may be nested: a trace takes twice that, where an entry of a dict is
two levels, and Python's own limit counts whoever calls."""


class Unfreezable(ModelError):
    """A value that is not plain data.

    Parameters
    ----------
    value
        The culprit.
    path
        Where it is: ``Class.field.field``.
    holder
        What is known to be on the way to it: itself, or a record that has it.
    nested
        Whether it is plain data, but too deep inside other.
    has_node
        Whether a node is on the way to it that is no part: that is why it is so deep.
    """

    def __init__(
        self,
        value: object,
        path: str = "",
        holder: Any = None,
        *,
        nested: bool = False,
        has_node: bool = False,
    ) -> None:
        place = f"{_shortened(path)} holds" if path else "got"
        what = f"{place} {reprlib.repr(value)} of type {type(value).__name__}, "
        what += "which cannot be part of a state or a message"
        remedy = (
            "use int, str, bytes, bool, None, float, an enum, NodeId, tuple, "
            "list, dict, set, frozenset or a dataclass of those"
        )
        if type(value) is float:
            what = f"{place} {value!r}, which is not equal to itself, so no two states "
            what += "that have it would be the same"
            remedy = "keep None, or a number that stands for it"
        if nested:
            what = f"{place} a value that contains itself, or is nested more than "
            what += f"{MOST_NESTED} deep"
            remedy = "keep linked data in a dict, and refer to it by its key"
        if nested and has_node:
            field = ".".join(path.split(".")[:2])
            what = f"{field} holds a node, or what leads to one, and a node is no data"
            remedy = "keep or send its id: ctx.me is that of the node itself"
        super().__init__(what, remedy=remedy)
        self.value = value
        self.path = path
        self.holder = value if holder is None else holder
        self.nested = nested
        self.has_node = has_node

    def inside(
        self, record: Any, cls: type, fields: Iterable[tuple[str, Any]]
    ) -> Unfreezable:
        """Return the error with the field of `record` by which the culprit is reached."""
        for name, item in fields:
            if _reaches(item, self.holder):
                path = f"{cls.__name__}.{name}"
                inner = self.path.partition(".")[2]
                path = f"{path}.{inner}" if inner else path
                better = Unfreezable(
                    self.value,
                    path,
                    record,
                    nested=self.nested,
                    has_node=self.has_node or _keeps_node(cls, name, self.holder),
                )
                if activity.stop is self:
                    activity.stop = better
                return better
        return self


def nameless(value: Any) -> ModelError:
    """Return the error for flags of an enum that together are no member of it."""
    return ModelError(
        f"a value holds {value!r}, which is no member of {type(value).__name__}",
        remedy="give that combination of flags a name in the class, or keep a frozenset "
        "of its members",
    )


def _keeps_node(cls: type, name: str, held: Any) -> bool:
    """Say whether a field holds a node, and is not declared to be a part."""
    kind = getattr(cls, "__worldline_node__", None)
    is_part = kind is not None and name in kind.parts
    return hasattr(type(held), "__worldline_node__") and not is_part


def _shortened(path: str) -> str:
    """Return a path, with a field that is repeated in it named once, and not too long."""
    names = []
    for name, run in itertools.groupby(path.split(".")):
        times = len(list(run))
        names += [name] * times if times < _MANY else [f"{name} ({times} times)"]
    shown = ".".join(names[:_LONGEST])
    return shown if len(names) <= _LONGEST else f"{shown}..."


_LONGEST = 8
"""Different fields of a path that are shown."""

_MANY = 4
"""Times in a row from which on a field of a path is counted."""


def _reaches(item: Any, holder: Any) -> bool:
    """Say whether a value is, or has among its items, an object; not inside records."""
    waiting, seen = [item], set[int]()
    while waiting:
        item = waiting.pop()
        if item is holder:
            return True
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Mapping):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            # Past the order of canonical sets, which has to freeze their elements.
            waiting += set.__iter__(item) if isinstance(item, set) else item
    return False
