"""The classes and nodes that a trace may name, collected from a system.

A name in a file is looked up here and nowhere else: nothing is imported because a
file says so.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import re
import sys
import typing
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, final
from weakref import WeakKeyDictionary

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze
from worldline.model.errors import InputError
from worldline.model.foreseen import Foreseen
from worldline.model.node import NodeType
from worldline.model.system import System
from worldline.model.workload import Script
from worldline.trace.json_text import shorten
from worldline.trace.json_values import field_names

_NAME = re.compile(r"[A-Za-z_][\w.]*")

_tables: WeakKeyDictionary[System, ClassTable] = WeakKeyDictionary()
"""Those of systems that were asked for; to collect one takes a millisecond and more."""


@final
class ClassTable:
    """The classes that the names in a trace of one system stand for.

    Parameters
    ----------
    nodes
        The node ids, by name.
    classes
        Dataclasses and enums, by qualified name.
    """

    def __init__(
        self, nodes: dict[str, NodeId], classes: dict[str, list[type]]
    ) -> None:
        self._nodes = nodes
        self._classes = classes

    @classmethod
    def of(cls, system: System) -> ClassTable:
        """Collect what the nodes, their messages and the workload are made of.

        Found are the classes of nodes, of the messages they handle, of initial
        values and call arguments, and all that their annotations name; and those that
        the functions of observers name, of which their values are made.
        """
        table = _tables.get(system)
        if table is None:
            table = _tables[system] = cls._of(system)
        return table

    @classmethod
    def _of(cls, system: System) -> ClassTable:
        collector = _Collector()
        for kind in system.types:
            collector.of_node(kind)
        for node, frozen in zip(system.ids, system.initial, strict=True):
            collector.of_frozen(node)
            collector.of_frozen(frozen)
        for entry in system.workload:
            calls = entry.calls if isinstance(entry, Script) else (entry.call,)
            for call in calls:
                collector.of_frozen(freeze(call.arguments))
        for observer in system.observers:
            collector.of_frozen(freeze(observer.initial))
            collector.of_function(observer.project)
            collector.of_function(observer.fold)
        classes: dict[str, list[type]] = {}
        for met in collector.classes:
            classes.setdefault(met.__qualname__, []).append(met)
        return cls(collector.nodes, classes)

    def named(self) -> dict[str, type]:
        """Return the classes whose own name no other has, by that name."""
        by_name: dict[str, list[type]] = {}
        for name, classes in self._classes.items():
            by_name.setdefault(name.rpartition(".")[2], []).extend(classes)
        return {
            name: classes[0] for name, classes in by_name.items() if len(classes) == 1
        }

    def classes(self) -> list[type]:
        """Return all of them, in an order that nothing but their names decides."""
        every = [cls for classes in self._classes.values() for cls in classes]
        return sorted(every, key=lambda cls: (cls.__qualname__, cls.__module__))

    def node(self, name: str) -> NodeId:
        """Return the node of a name.

        Raises
        ------
        InputError
            If the system has none.
        """
        try:
            return self._nodes[name]
        except KeyError:
            raise InputError(
                f"the trace names the node {shorten(name, 200)!r}, which the system "
                "does not have",
                remedy=f"its nodes are {shorten(', '.join(self._nodes), 200)}",
            ) from None

    def record(self, name: str, fields: frozenset[str]) -> type:
        """Return the dataclass of a name that has exactly these fields.

        Raises
        ------
        InputError
            If there is none, or more than one.
        """
        records = [
            c for c in self._classes.get(name, ()) if dataclasses.is_dataclass(c)
        ]
        fitting = [cls for cls in records if frozenset(field_names(cls)) == fields]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise InputError(
                f"the trace names {name}, and the system has {len(fitting)} classes "
                "of that name with the same fields",
                remedy="rename one",
            )
        if records:
            raise InputError(
                f"the trace has a {name} with the fields "
                f"{', '.join(sorted(fields)) or '(none)'}; in the system they are "
                f"{', '.join(field_names(records[0])) or '(none)'}",
                remedy="replay it with the source that it was recorded with",
            )
        raise _unknown(name)

    def member(self, name: str) -> Any:
        """Return the member of an enum, given as ``Class.MEMBER``.

        Raises
        ------
        InputError
            If there is none.
        """
        owner, _, member = name.rpartition(".")
        for cls in self._classes.get(owner, ()):
            if issubclass(cls, enum.Enum) and member in cls.__members__:
                return cls[member]
        raise _unknown(name)


def _unknown(name: str) -> InputError:
    return InputError(
        f"the trace names {shorten(name, 200)}, which the system does not use",
        remedy="replay it with the source that it was recorded with; if it is, "
        "annotate the field that holds it",
    )


class _Collector:
    """Walks from node classes to all classes that their values can be made of."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeId] = {}
        self.classes: dict[type, None] = {}
        self._functions: set[FunctionType] = set()

    def of_node(self, kind: NodeType) -> None:
        self.of_class(kind.cls)
        for message in (*kind.on, *sorted(kind.ignores, key=lambda c: c.__qualname__)):
            self.of_class(message)
        for handler in (*kind.timers.values(), *kind.called.values()):
            self._of_annotations(handler.function)
        if kind.reaction is not None:
            self.of_class(Foreseen)
        for inner in kind.parts.values():
            self.of_node(inner)

    def of_class(self, cls: type) -> None:
        if cls in self.classes:
            return
        if issubclass(cls, enum.Enum):
            self.classes[cls] = None
        elif dataclasses.is_dataclass(cls):
            self.classes[cls] = None
            for base in cls.__mro__:
                self._of_annotations(base)

    def of_frozen(self, frozen: Frozen) -> None:
        if isinstance(frozen, NodeId):
            self.nodes.setdefault(frozen.name, frozen)
        elif type(frozen) is tuple:
            for item in frozen:
                if isinstance(item, type):
                    self.of_class(item)
                else:
                    self.of_frozen(item)

    def of_function(self, function: Any) -> None:
        """Collect the classes that a function names, and those that it calls."""
        function = getattr(function, "__func__", function)
        if not isinstance(function, FunctionType) or function in self._functions:
            return
        self._functions.add(function)
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # it is empty yet
                self.of_function(cell.cell_contents)
        names = _names_in(function.__code__)
        todo: list[Mapping[str, Any]] = [function.__globals__]
        seen: set[ModuleType] = set()
        while todo:
            variables = todo.pop()
            for value in [variables[name] for name in names if name in variables]:
                if isinstance(value, ModuleType) and value not in seen:
                    seen.add(value)
                    todo.append(vars(value))
                elif isinstance(value, type):
                    self.of_class(value)
                else:
                    self.of_function(value)

    def _of_annotations(self, owner: Any) -> None:
        module = sys.modules.get(owner.__module__)
        for annotation in (
            vars(owner)
            .get("__annotations__", getattr(owner, "__annotations__", {}))
            .values()
        ):
            self._of_annotation(annotation, module)

    def _of_annotation(self, annotation: Any, module: ModuleType | None) -> None:
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            # Names are enough: evaluating an annotation would run code.
            for named in _named(annotation, module):
                self._of_annotation(named, module)
            return
        if isinstance(annotation, type):
            self.of_class(annotation)
        for argument in typing.get_args(annotation):
            self._of_annotation(argument, module)


def _named(annotation: str, module: ModuleType | None) -> Iterator[Any]:
    """Yield what the dotted names in an annotation stand for in a module."""
    for dotted in _NAME.findall(annotation):
        first, *rest = dotted.strip(".").split(".")
        value = vars(module).get(first) if module is not None else None
        for name in rest:
            value = getattr(value, name, None)
        if value is not None and not isinstance(value, str):
            yield value


def _names_in(code: CodeType) -> frozenset[str]:
    """Return the names of globals and attributes in a function and those inside it."""
    inner = [_names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return frozenset(code.co_names).union(*inner)
