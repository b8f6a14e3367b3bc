"""Fields that safety properties read: a change of any other makes none of them false.

Which fields these are is read off the code of the properties, and of all that this can
reach: each name that stands there and is a field's (`code_names`). So there may be too
many of them, and never too few; where code may ask for fields by names that it makes
up, or calls code without a source, it is all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from worldline.model.code_names import ANY, CodeReading
from worldline.model.node import NodeType
from worldline.model.properties import PropertyKind
from worldline.model.system import System


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
    calls
        Whether they look at which calls are still to come.
    """

    fields: frozenset[str] | None
    timers: bool
    calls: bool = True

    def has(self, field: str) -> bool:
        """Say whether they may look at a field."""
        return self.fields is None or field in self.fields


def watched_by(system: System) -> Watched:
    """Return what the safety properties of a system may look at."""
    reading = CodeReading(system.types)
    for prop in system.properties:
        if prop.kind is PropertyKind.SAFETY:
            reading.visit(prop.predicate)
    names = reading.names
    if names & ANY:
        return Watched(None, timers=True)
    known = {name for kind in system.types for name in _fields(kind)}
    return Watched(frozenset(known & names), "timers" in names, "is_finished" in names)


def fields_read_by(system: System, function: Any) -> frozenset[str] | None:
    """Return the names of the fields that a function may look at; None for all."""
    reading = CodeReading(system.types)
    reading.visit(function)
    if reading.names & ANY:
        return None
    known = {name for kind in system.types for name in _fields(kind)}
    return frozenset(known & reading.names)


def _fields(kind: NodeType) -> Iterator[str]:
    yield from kind.roles
    for inner in kind.parts.values():
        yield from _fields(inner)
