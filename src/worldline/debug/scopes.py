"""The names that an expression knows, and the functions that it makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from worldline.model.data.identity import NodeId


@final
class NameScope:
    """Names and their values, in an inner scope or the outermost one.

    Parameters
    ----------
    names
        Those of this scope.
    outer
        Where other names are found.
    binds
        Whether ``:=`` binds here: comprehensions leave that to what they stand in.
    """

    __slots__ = ("_binds", "_names", "_outer")

    def __init__(
        self,
        names: dict[str, Any],
        outer: NameScope | None = None,
        *,
        binds: bool = True,
    ) -> None:
        self._names = names
        self._outer = outer
        self._binds = binds

    def get(self, name: str) -> Any:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope._names:
                return scope._names[name]
            scope = scope._outer
        known = self._outermost()._names
        names = sorted(known, key=lambda one: (not isinstance(known[one], NodeId), one))
        raise NameError(f"name {name!r} is not defined; there are {', '.join(names)}")

    def _outermost(self) -> NameScope:
        scope = self
        while scope._outer is not None:
            scope = scope._outer
        return scope

    def set(self, name: str, value: Any) -> None:
        self._names[name] = value

    def bind(self, name: str, value: Any) -> None:
        scope = self
        while not scope._binds and scope._outer is not None:
            scope = scope._outer
        scope.set(name, value)


@final
class Lambda:
    """A function that an expression has made."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run = run

    def __call__(self, *given: Any) -> Any:
        return self.run(*given)
