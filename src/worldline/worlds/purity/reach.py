"""The user's functions that a search may call: handlers, predicates, their helpers."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any, final

from worldline.model.code_names import stored
from worldline.model.properties import Property
from worldline.model.system import System
from worldline.worlds.purity.ownership import (
    codes,
    is_users_class,
    is_users_function,
    is_users_module,
)


def reach_of(system: System, more: Iterable[Any] = ()) -> Reach:
    """Return what may run while a system is explored.

    Those that its handlers, properties and observers name, those that these name, and
    so on, and all that stand beside them in their modules: what a method is called on
    cannot be seen.

    Parameters
    ----------
    more
        Other predicates that are evaluated.
    """
    reach = Reach()
    for kind in system.types:
        reach.visit(kind.cls)
        for handler in (*kind.on.values(), *kind.timers.values(), *kind.calls.values()):
            reach.visit(handler.mark.when)
    for entries in system.whenevers:
        for _, when in entries:
            reach.visit(when)
    for scripts in system.scripts:
        for call in (call for script in scripts for call in script.calls):
            reach.visit(call.until)
    for prop in system.properties:
        reach.visit(prop)
    for observer in system.observers:
        parts = (observer.project, observer.fold, observer.decide, observer.arrange)
        for part in parts:
            reach.visit(part)
    for predicate in (system.done, system.assume, system.prune, *more):
        reach.visit(predicate)
    return reach


@final
class Reach:
    """Collects functions and classes, each once, in the order in which they were met."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.classes: list[type] = []
        self.caches: list[functools._lru_cache_wrapper[Any]] = []
        self._seen: set[int] = set()

    def visit(self, value: Any) -> None:
        """Add what can be called by calling `value`."""
        todo = [value]
        while todo:
            one = todo.pop()
            if id(one) not in self._seen:
                self._seen.add(id(one))
                todo += self._inside(one)

    def _inside(self, value: Any) -> list[Any]:
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, MethodType):
            return [value.__func__, type(value.__self__)]
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, staticmethod | classmethod):
            return [value.__func__]
        if isinstance(value, property):
            return [value.fget]
        if isinstance(value, Property):
            return [value.predicate]
        if isinstance(value, ModuleType):
            return self._of_module(value)
        if isinstance(value, functools._lru_cache_wrapper):
            self.caches.append(value)
            return [value.__wrapped__]
        return _held(value)

    def _of_function(self, function: FunctionType) -> list[Any]:
        wrapped = getattr(function, "__wrapped__", None)
        values: list[Any] = [wrapped] if wrapped is not None else []
        for cell in function.__closure__ or ():
            try:
                values.append(cell.cell_contents)
            except ValueError:  # not bound yet
                continue
        if not is_users_function(function):
            return values
        self.functions.append(function)
        names = {name for code in codes(function.__code__) for name in code.co_names}
        space = function.__globals__
        return [
            *values,
            *[space[name] for name in sorted(names) if name in space],
            sys.modules.get(function.__module__),
        ]

    def _of_class(self, cls: type) -> list[Any]:
        if not is_users_class(cls):
            return []
        self.classes.append(cls)
        return [*cls.__bases__, *vars(cls).values()]

    def _of_module(self, module: ModuleType) -> list[Any]:
        if not is_users_module(module):
            return []
        return [
            value
            for value in vars(module).values()
            if isinstance(value, Property)
            or (
                isinstance(value, FunctionType | type)
                and value.__module__ == module.__name__
            )
        ]


def _held(value: Any) -> list[Any]:
    """Return what a container or an instance holds, as there may be functions."""
    if isinstance(value, dict):
        return [*dict.values(value)]
    if isinstance(value, list | tuple | set | frozenset):
        return [*value]
    if isinstance(value, functools.cached_property):
        return [value.func]
    kind = type(value)
    if not is_users_class(kind):
        return []
    return [kind, *(stored(value, "__dict__") or {}).values()]
