"""Workloads: which application calls are made on which node, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, final

from worldline.model.content import Frozen
from worldline.model.errors import ModelError
from worldline.model.handlers import HandlerKind, mark_of
from worldline.model.identity import NodeId
from worldline.model.node import NodeType
from worldline.model.settling import settled
from worldline.model.values import freeze


@final
@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of an application call handler, with its arguments."""

    name: str
    arguments: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", settled(self.arguments))

    @property
    def key(self) -> tuple[str, Frozen]:
        """What identifies the call by value."""
        return (self.name, freeze(self.arguments))


@final
@dataclass(frozen=True, slots=True)
class Script:
    """A sequence of calls on one node; it has a position, part of the state."""

    node: NodeId
    calls: tuple[Invocation, ...]
    on_reset: Literal["restart", "continue"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Whenever:
    """A call that can be made as often as its guard holds; it has no position."""

    call: Invocation
    nodes: tuple[NodeId, ...] | None
    when: Callable[..., bool] | None
    handler: Callable[..., Any] | None

    def concerns(self, node: NodeId, kind: NodeType) -> bool:
        """Say whether the call can be made on a node of this type."""
        if self.nodes is not None and node not in self.nodes:
            return False
        known = kind.calls.get(self.call.name)
        return known is not None and self.handler in (None, known.function)


def invoke(function: Callable[..., Any], *arguments: Any) -> Invocation:
    """Describe a call of an ``@wl.call`` handler.

    Parameters
    ----------
    function
        The handler, such as ``RandTree.join_overlay``.
    arguments
        Immutable plain data, given to the handler after ``ctx``.
    """
    mark = mark_of(function)
    if mark is None or mark.kind is not HandlerKind.CALL:
        name = getattr(function, "__qualname__", repr(function))
        raise ModelError(
            f"{name} is not an application call", remedy="decorate it with @wl.call"
        )
    return Invocation(function.__name__, arguments)


def _as_invocation(call: Invocation | Callable[..., Any]) -> Invocation:
    return call if isinstance(call, Invocation) else invoke(call)


def script(
    node: NodeId,
    calls: Iterable[Invocation | Callable[..., Any]],
    *,
    on_reset: Literal["restart", "continue"] = "restart",
) -> Script:
    """Make calls on a node in order; a call whose guard is false waits.

    Parameters
    ----------
    calls
        `invoke` results, or handlers that need no arguments.
    on_reset
        Whether a reset of the node begins the script again, as an application that
        lives in the same process does.
    """
    if on_reset not in ("restart", "continue"):
        raise ModelError(
            f"script(on_reset={on_reset!r}) is unknown",
            remedy="say 'restart' or 'continue'",
        )
    return Script(node, tuple(map(_as_invocation, calls)), on_reset)


def whenever(
    call: Invocation | Callable[..., Any],
    *,
    nodes: Iterable[NodeId] | None = None,
    when: Callable[..., bool] | None = None,
) -> Whenever:
    """Enable a call as long as its guard holds, like an action of a TLA+ spec.

    Parameters
    ----------
    nodes
        Where; None means every node of the class that has the call.
    when
        A guard ``(self, *arguments) -> bool`` beside the handler's own.
    """
    handler = None if isinstance(call, Invocation) else call
    return Whenever(
        _as_invocation(call), None if nodes is None else tuple(nodes), when, handler
    )


def scripts_of(
    workload: Iterable[Script | Whenever], node: NodeId
) -> tuple[Script, ...]:
    """Return the scripts that drive a node."""
    return tuple(e for e in workload if isinstance(e, Script) and e.node == node)


def whenevers_of(
    workload: Iterable[Script | Whenever], node: NodeId, kind: NodeType
) -> list[tuple[Invocation, Callable[..., bool] | None]]:
    """Return the calls without position that can be made on a node, with guards."""
    return [
        (entry.call, entry.when)
        for entry in workload
        if isinstance(entry, Whenever) and entry.concerns(node, kind)
    ]
