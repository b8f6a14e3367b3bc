"""Fields that handlers may change, read off their code; all of them where that is unclear.

A field changes when the node is given another value for it, or when a collection that it
holds is changed in place. The first needs its name in an assignment, the second a way to the
collection. So of each mention of a field it is asked what becomes of the value: some uses
only read it, some change it, and all others may take it anywhere (it *leaks*). What has
leaked once may be changed by whoever runs; and where the node itself is handed to code of
which nothing is known, or fields are named by what is no name in the code, nothing is said
of the class at all.

Nothing is said either of what is inside collections that a field's collection holds, nor of
records; who asks has to know which fields hold nothing of the sort. Code that looks for
objects by way of the interpreter (frames, the garbage collector) is not foreseen.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, final

from worldline.model.checkpointing import checkpointing
from worldline.model.fields import GhostField
from worldline.model.node import Handler, NodeType
from worldline.worlds.touching.mentions import FieldMentions, Reading, Unclear
from worldline.worlds.touching.plain_data import is_plain_data

_NAMED = frozenset({"__post_init__", "__repr__", "__str__"})
"""What Python calls by itself, but never while a handler runs that does not name its node."""

_WRITTEN = frozenset(
    {"__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__"}
    | {"__hash__", "__setattr__", "__delattr__"}
)
"""What dataclasses write. All else from a text without a file is the user's."""


@final
@dataclass(frozen=True, slots=True)
class Touched:
    """What a handler may change.

    Attributes
    ----------
    assigned
        The fields that may be given another value.
    changed
        Those whose collections may be changed in place.
    """

    assigned: frozenset[str]
    changed: frozenset[str]


def touched_by_any(kind: NodeType, handlers: Iterable[Handler]) -> Touched:
    """Return what handlers may change of which all is known."""
    found = [one for one in (touched_by(kind, each) for each in handlers) if one]
    return Touched(
        frozenset().union(*(one.assigned for one in found)),
        frozenset().union(*(one.changed for one in found)),
    )


@functools.cache
def touched_by(kind: NodeType, handler: Handler) -> Touched | None:
    """Return what a handler of a class may change, its guard too; None for anything."""
    reading = _class_of(kind)
    return None if reading is None else reading.touched(handler)


@functools.cache
def _class_of(kind: NodeType) -> ClassCode | None:
    try:
        return ClassCode(kind)
    except Unclear:
        return None


@final
class ClassCode:
    """The code of a class, all of which is read: what one method leaks others may change."""

    def __init__(self, kind: NodeType) -> None:
        if kind.parts:
            raise Unclear
        self.bases = kind.cls.__mro__[:-1]
        self.fields = frozenset(kind.roles)
        self.methods: dict[str, list[FunctionType]] = {}
        self.properties: set[str] = set()
        for cls in self.bases:
            for name, value in vars(cls).items():
                if name in self.fields:
                    if not (isinstance(value, GhostField) or is_plain_data(value)):
                        raise Unclear  # to read it may run code
                elif not _is_made(name, value):
                    self._add(name, value)
        self._mentions: dict[FunctionType, FieldMentions] = {}
        self._read_only: dict[tuple[FunctionType, str], bool] = {}
        # Which fields operators are given beside which others, and in which there may be
        # put what is no plain data.
        self.operands: set[tuple[str, str]] = set()
        self.strange: set[str] = set()
        self.leaked: set[str] = set()
        handlers = [*kind.on.values(), *kind.timers.values(), *kind.called.values()]
        guards = [one.mark.when for one in handlers if one.mark.when is not None]
        for function in [*(f for many in self.methods.values() for f in many), *guards]:
            self.leaked |= self._of(function).leaked
        near = checkpointing(kind).neighbours
        for asked in [*guards, *(near[1:] if near is not None else ())]:
            said = self._closed(asked)
            if said.assigned or said.changed - said.leaked:
                raise Unclear  # it is asked between events, too
        self.leaked |= {name for name, other in self.operands if other in self.strange}

    def touched(self, handler: Handler) -> Touched | None:
        """Return what a handler may change."""
        if type(handler.function) is not FunctionType:
            return None
        guard = handler.mark.when
        found = self._closed(handler.function, *(() if guard is None else (guard,)))
        return Touched(
            frozenset(found.assigned), frozenset(found.changed | self.leaked)
        )

    def _closed(self, *functions: Any) -> FieldMentions:
        """Return what functions mention, and all methods that they call."""
        found, todo, done = FieldMentions(), [*functions], set[FunctionType]()
        while todo:
            function = todo.pop()
            if function in done:
                continue
            done.add(function)
            said = self._of(function)
            found.assigned |= said.assigned
            found.changed |= said.changed
            found.leaked |= said.leaked
            for name in said.methods:
                todo += self.methods[name]
        return found

    def is_read_only(self, function: FunctionType, parameter: str) -> bool:
        """Say whether a function only reads what it is given for a parameter."""
        known = self._read_only.get((function, parameter))
        if known is None:
            self._read_only[function, parameter] = False  # if it asks for itself
            try:
                reading = Reading(self, function)
                known = all(use == "reads" for use in reading.uses(parameter))
            except Unclear:
                known = False
            self._read_only[function, parameter] = known
        return known

    def _add(self, name: str, value: Any) -> None:
        if type(value) is property:
            self.properties.add(name)
            of_it = [f for f in (value.fget, value.fset) if f is not None]
        elif isinstance(value, staticmethod | classmethod):
            raise Unclear
        elif isinstance(value, FunctionType):
            of_it = [value]
        elif name.startswith("__") or isinstance(value, str | int | float | tuple):
            return
        else:
            raise Unclear
        for one in of_it:
            # Nobody names what Python calls by itself.
            is_implied = name.startswith("__") and name not in _NAMED
            if type(one) is not FunctionType or is_implied:
                raise Unclear
            self.methods.setdefault(name, []).append(one)

    def _of(self, function: Any) -> FieldMentions:
        if type(function) is not FunctionType:
            raise Unclear
        known = self._mentions.get(function)
        if known is None:
            reading = Reading(self, function)
            known = self._mentions[function] = reading.mentions()
        return known


def _is_made(name: str, value: Any) -> bool:
    """Say whether a method was written by Python's dataclasses, or by Worldline."""
    code = getattr(value, "__code__", None)
    if code is None:
        return False
    module = str(value.__globals__.get("__name__"))
    is_ours = module == "dataclasses" or module.startswith("worldline.model.")
    return is_ours or (name in _WRITTEN and code.co_filename == "<string>")
