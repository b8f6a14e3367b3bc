"""The fields that safety properties read: a change of another makes none of them false.

Which these are is read off the code of the properties, of the functions and of the
methods of nodes that they name: each name that stands there and is a field's. So there may
be too many of them, and never too few; where code asks for fields by names that it makes
up, it is all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, final

from worldline.model.handler_marks import mark_of
from worldline.model.node import NodeType
from worldline.model.properties import PropertyKind
from worldline.model.system import System

_ANY_FIELD = frozenset(
    {"getattr", "vars", "__dict__", "eval", "exec", "attrgetter", "methodcaller"}
    | {"asdict", "astuple", "fields"}
)
"""Names with which code may ask for fields that it does not name."""


@final
@dataclass(frozen=True, slots=True)
class Watched:
    """What properties look at.

    Attributes
    ----------
    fields
        The names of fields, of parts their own; None for all.
    timers
        Whether they look at timers.
    """

    fields: frozenset[str] | None
    timers: bool

    def has(self, field: str) -> bool:
        """Say whether they may look at a field."""
        return self.fields is None or field in self.fields


def watched_by(system: System) -> Watched:
    """Return what the safety properties of a system may look at."""
    reading = _Reading(system)
    for prop in system.properties:
        if prop.kind is PropertyKind.SAFETY:
            reading.visit(prop.predicate)
    names = reading.names
    fields: frozenset[str] | None = None
    if not names & _ANY_FIELD:
        known = {name for kind in system.types for name in _fields(kind)}
        fields = frozenset(known & names)
    return Watched(fields, "timers" in names)


def _fields(kind: NodeType) -> Iterator[str]:
    yield from kind.roles
    for inner in kind.parts.values():
        yield from _fields(inner)


@final
class _Reading:
    """Collects the names in functions, and in what these name."""

    def __init__(self, system: System) -> None:
        self.names: set[str] = set()
        self._seen: set[int] = set()
        self._classes = list(_classes(system))

    def visit(self, value: Any) -> None:
        """Collect the names in what can be called."""
        todo = [value]
        while todo:
            one = todo.pop()
            if id(one) in self._seen:
                continue
            self._seen.add(id(one))
            if isinstance(one, partial):
                todo += [one.func, *one.args, *one.keywords.values()]
            elif isinstance(one, MethodType):
                todo.append(one.__func__)
            elif isinstance(one, property):
                todo.append(one.fget)
            elif isinstance(one, FunctionType) and mark_of(one) is None:
                todo += self._inside(one)  # a handler is run by nobody who looks on

    def _inside(self, function: FunctionType) -> Iterator[Any]:
        yield from (cell.cell_contents for cell in function.__closure__ or ())
        yield from function.__defaults__ or ()
        for code in _codes(function.__code__):
            names = {*code.co_names, *_texts(code)}
            self.names |= names
            for name in sorted(names):
                yield function.__globals__.get(name)
                for cls in self._classes:
                    yield vars(cls).get(name)


def _classes(system: System) -> Iterator[type]:
    for kind in dict.fromkeys(system.types):
        yield from _of_kind(kind)


def _of_kind(kind: NodeType) -> Iterator[type]:
    yield from kind.cls.__mro__[:-1]
    for inner in kind.parts.values():
        yield from _of_kind(inner)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _texts(code: CodeType) -> Iterator[str]:
    """Yield the texts in a code: some may be names."""
    return (
        one for one in code.co_consts if isinstance(one, str) and one.isidentifier()
    )
