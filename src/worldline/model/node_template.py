"""Templates: frozen nodes from which many handlers start.

A local state meets many events, and most handlers change little of it or nothing. So
immutable parts are thawed once, and known again by identity when the node is
frozen. Of a set, dict or list of such values each handler gets a copy, which is known
again if it still holds the very same objects. All else is thawed for each handler anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import compress, count
from operator import is_, is_not
from typing import Any, Protocol, TypeAlias, final

from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.content import DICT, LIST, SET, Frozen
from worldline.model.data.memory import Memory
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import (
    ITSELF,
    freeze,
    freeze_field,
    is_constant,
    thaw,
    thaw_constant,
)


class Fields(Protocol):
    """The part of a node class that a template has to know; a `NodeType` knows it."""

    cls: type[Any]
    identity: tuple[str, ...]
    ignored: tuple[str, ...]

    @property
    def parts(self) -> Mapping[str, Fields]: ...
    def freeze(self, node: Any) -> Frozen: ...


_CHANGING: Any = object()
"""Stands for a value that is never the same object twice."""


Vessel: TypeAlias = tuple[Callable[[], Any], Callable[[Any], Frozen]]
"""What makes fresh copies of a value, and what freezes one whatever became of it."""

_MOST_VESSELS = 16_384
_vessels: Memory[Vessel] = Memory(_MOST_VESSELS)


def _vessel(frozen: Frozen) -> Vessel:
    """Return what thaws and freezes a value that a handler may change."""
    vessel = _vessels.get(frozen)
    if vessel is None:
        make = None
        if type(frozen) is tuple and all(map(is_constant, frozen[1:])):
            make = _of_constants.get(frozen[0])
        vessel = (partial(thaw, frozen), freeze) if make is None else make(frozen)
        _vessels.put(frozen, vessel)
    return vessel


def _set_vessel(frozen: Frozen) -> Vessel:
    first: CanonicalSet[Any] = thaw(frozen)
    held, size = frozenset(map(id, set.__iter__(first))), len(first)

    def again(value: Any) -> Frozen:
        if type(value) is not CanonicalSet or len(value) != size:
            return freeze(value)
        same = not size or held.issuperset(map(id, set.__iter__(value)))
        return frozen if same else freeze(value)

    return partial(CanonicalSet, first), again


def _dict_vessel(frozen: Frozen) -> Vessel:
    # A plain one, which is copied without asking it for its order.
    first = dict(thaw(frozen).items())
    keys, values, size = dict.keys, dict.values, len(first)

    def fresh() -> CanonicalDict[Any, Any]:
        made: CanonicalDict[Any, Any] = CanonicalDict.__new__(CanonicalDict)
        dict.update(made, first)
        return made

    def again(value: Any) -> Frozen:
        if type(value) is not CanonicalDict or len(value) != size:
            return freeze(value)
        same = not size or (
            all(map(is_, keys(value), keys(first)))
            and all(map(is_, values(value), values(first)))
        )
        return frozen if same else freeze(value)

    return fresh, again


def _list_vessel(frozen: Frozen) -> Vessel:
    first: list[Any] = thaw(frozen)

    def again(value: Any) -> Frozen:
        if type(value) is not list or len(value) != len(first):
            return freeze(value)
        return frozen if all(map(is_, value, first)) else freeze(value)

    return first.copy, again


_of_constants = {SET: _set_vessel, DICT: _dict_vessel, LIST: _list_vessel}


@final
class NodeTemplate:
    """A frozen node, made ready to be thawed again and again.

    Parameters
    ----------
    kind
        What is known about the node's class.
    frozen
        The node, as `NodeType.freeze` gives it.
    """

    __slots__ = ("_changing", "_fields", "_kind", "_parts", "_values", "frozen")

    def __init__(self, kind: Fields, frozen: Frozen) -> None:
        self.frozen = frozen
        self._kind = kind
        # In the order of declaration, which thawed nodes have to keep.
        self._values: dict[str, Any] = dict.fromkeys(kind.identity)
        self._changing: dict[str, Callable[[], Any]] = {}
        self._parts: dict[str, NodeTemplate] = {}
        self._fields: list[tuple[str, Any, Frozen, Any]] = [
            self._field(name, item)
            for name, item in zip(kind.identity, frozen[1:], strict=True)
        ]

    def _field(self, name: str, item: Frozen) -> tuple[str, Any, Frozen, Any]:
        """Note what a field holds; return how it is known again."""
        value: Any = _CHANGING
        again: Callable[[Any], Frozen] = freeze
        if name in self._kind.parts:
            part = self._parts.get(name)
            if part is None:
                part = NodeTemplate(self._kind.parts[name], item)
            else:
                part = part.after(item)
            self._parts[name] = part
            again = part.freeze
        else:
            value = thaw_constant(item, _CHANGING)
            if value is _CHANGING:
                self._changing[name], again = _vessel(item)
        self._values[name] = value
        return name, value, item, again

    def after(self, frozen: Frozen) -> NodeTemplate:
        """Return the template of what `freeze` gave: most is as it is here."""
        other = NodeTemplate.__new__(NodeTemplate)
        other.frozen = frozen
        other._kind = self._kind
        other._values = self._values.copy()
        other._changing = self._changing.copy()
        other._parts = self._parts.copy()
        other._fields = fields = self._fields.copy()
        for place, is_same in enumerate(map(is_, frozen[1:], self.frozen[1:])):
            if not is_same:
                name = fields[place][0]
                other._changing.pop(name, None)
                fields[place] = other._field(name, frozen[1 + place])
        return other

    def thaw(self, prototype: Any) -> Any:
        """Return a fresh node; ignored fields get the prototype's value."""
        kind = self._kind
        fresh = object.__new__(kind.cls)
        values = fresh.__dict__
        values.update(self._values)
        for name, copy in self._changing.items():
            values[name] = copy()
        for name, part in self._parts.items():
            values[name] = part.thaw(prototype.__dict__[name])
        for name in kind.ignored:
            values[name] = first_value(kind.cls, prototype, name)
        return fresh

    def thaw_small(self, prototype: Any) -> Any:
        """Return what `thaw` does, in half the room: worth its time if the node stays."""
        made = self.thaw(prototype)
        small = object.__new__(self._kind.cls)
        # One by one, so that the node shares the names of its fields with its kind.
        for name, value in made.__dict__.items():
            object.__setattr__(small, name, value)
        return small

    def freeze(self, node: Any) -> Frozen:
        """Freeze a node that was thawed from here, whatever has become of it.

        The result is that of `NodeType.freeze`, and `frozen` itself if it equals that.
        """
        cls, values = self._kind.cls, node.__dict__
        if type(node) is not cls:
            return freeze(node)
        made: list[Frozen] | None = None
        try:
            # Most are the very same, which is found without Python code.
            now = map(values.__getitem__, self._values)
            for place in compress(count(), map(is_not, now, self._values.values())):
                name, _, item, again = self._fields[place]
                value = values[name]
                frozen = value if type(value) in ITSELF else again(value)
                if frozen is not item:
                    if made is None:
                        made = [*self.frozen]
                    made[1 + place] = frozen
        except Unfreezable:
            # Fails again, and says where.
            return self._kind.freeze(node)
        if made is None:
            return self.frozen
        after = tuple(made)
        return self.frozen if after == self.frozen else after


def first_value(cls: type, prototype: Any, name: str) -> Any:
    """Return a copy of what a field of a prototype holds."""
    return thaw(freeze_field(cls, prototype.__dict__, name))
