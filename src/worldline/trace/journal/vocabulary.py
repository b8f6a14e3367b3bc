"""The nodes, parts and classes of a system, numbered alike by all who run it."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.fields import is_node
from worldline.model.message import is_message_class
from worldline.model.node import NodeType
from worldline.model.system import System
from worldline.trace.class_table import ClassTable
from worldline.trace.json_values import field_names


@final
class Vocabulary:
    """What values and messages of one system are made of, each with its number.

    Attributes
    ----------
    nodes
        In order of declaration.
    parts
        The paths of parts that any node has, sorted; that of the node itself, "", first.
    messages
        The message classes, by qualified name.
    records, enums
        All dataclasses, messages and nodes included, and all enums. Nodes come last: they
        do not travel, and those of two versions of a program may differ.
    """

    def __init__(self, system: System) -> None:
        classes = ClassTable.of(system).classes()
        self.nodes = tuple(system.ids)
        self.parts = tuple(sorted({path for t in system.types for path in _parts(t)}))
        self.messages = tuple(cls for cls in classes if is_message_class(cls))
        records = [cls for cls in classes if dataclasses.is_dataclass(cls)]
        self.records = tuple(sorted(records, key=is_node))
        self.enums: tuple[Any, ...] = tuple(
            cls for cls in classes if issubclass(cls, enum.Enum)
        )
        self.number: dict[Any, int] = {}
        for kind in (self.nodes, self.records, self.enums):
            self.number.update((what, number) for number, what in enumerate(kind))
        self.fields = tuple(map(field_names, self.records))
        self.members = tuple(tuple(cls.__members__.values()) for cls in self.enums)

    def node(self, number: Any) -> NodeId | None:
        """Return the node of a number that came from outside; None if it has none."""
        if type(number) is int and 0 <= number < len(self.nodes):
            return self.nodes[number]
        return None


def _parts(kind: NodeType, path: str = "") -> list[str]:
    inner = [
        _parts(part, f"{path}.{name}" if path else name)
        for name, part in kind.parts.items()
    ]
    return [path, *(each for paths in inner for each in paths)]
