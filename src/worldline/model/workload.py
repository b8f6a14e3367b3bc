"""Workloads: which application calls are made on which node, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, final

from worldline.model.annotations import check_arguments
from worldline.model.arguments import check_node, named, node_list
from worldline.model.content import Frozen
from worldline.model.errors import ModelError
from worldline.model.handlers import HandlerKind, mark_of
from worldline.model.identity import NodeId
from worldline.model.node import NodeType
from worldline.model.settling import settled
from worldline.model.user_functions import check_function
from worldline.model.values import freeze


@final
@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of an application call handler, with its arguments.

    Attributes
    ----------
    written
        The handler as the user wrote it: ``Class.name``. It is found by its name, so
        that a subclass may have its own.
    """

    name: str
    arguments: tuple[Any, ...]
    written: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", settled(self.arguments))

    @property
    def key(self) -> tuple[str, Frozen]:
        """What identifies the call by value."""
        return (self.name, freeze(self.arguments))

    def is_of(self, kind: NodeType) -> bool:
        """Say whether the handler was written as one of this class, or of its bases."""
        found = [vars(base).get(self.name) for base in kind.cls.__mro__]
        names = {getattr(function, "__qualname__", None) for function in found}
        return not self.written or self.written in names


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
        if known is None or not self.call.is_of(kind):
            return False
        return self.handler in (None, known.function)


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
        name = getattr(function, "__qualname__", None)
        raise ModelError(
            f"{name or named(function)} is not an application call",
            remedy="decorate it with @wl.call"
            if name
            else "write wl.invoke(Node.call, ...)",
        )
    remedy = "give the arguments that the handler takes after self and ctx"
    what = f"wl.invoke({function.__qualname__}, ...)"
    check_arguments(function, arguments, what, remedy)
    return Invocation(function.__name__, arguments, function.__qualname__)


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
    check_node("wl.script(node=...)", node)
    if on_reset not in ("restart", "continue"):
        raise ModelError(
            f"script(on_reset={on_reset!r}) is unknown",
            remedy="say 'restart' or 'continue'",
        )
    if not isinstance(calls, Iterable):
        raise ModelError(
            f"wl.script({node}, ...) has {named(calls)} for calls, which is no list",
            remedy="write [wl.invoke(Node.call, ...), ...]",
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
    if when is not None:
        check_function(when, "wl.whenever(when=...)", like="lambda self, ...: ...")
    handler = None if isinstance(call, Invocation) else call
    return Whenever(
        _as_invocation(call),
        None if nodes is None else node_list("wl.whenever(nodes=...)", nodes),
        when,
        handler,
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
