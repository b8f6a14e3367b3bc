"""The decorators that make a method a handler.

Each returns the method itself, marked; `node.py` collects the marks. Their types
let a checker such as mypy verify a handler's signature.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.message import is_message_class
from worldline.model.usercode.user_functions import check_function

if TYPE_CHECKING:
    from worldline.model.context import Context

M = TypeVar("M")
Plain = TypeVar("Plain", bound="Callable[[Any, Context], None]")
Timed = TypeVar(
    "Timed",
    bound="Callable[[Any, Context], None] | Callable[[Any, Context, Any], None]",
)
Failed = TypeVar("Failed", bound="Callable[[Any, Context, NodeId], None]")
Called = TypeVar("Called", bound="Callable[..., Any]")
Guard = Callable[..., bool]

MARK = "__worldline_handler__"


class HandlerKind(enum.Enum):
    """What wakes a handler, and the signature it must have."""

    START = "(self, ctx)"
    ON = "(self, ctx, src, msg)"
    TIMER = "(self, ctx) or (self, ctx, payload)"
    CALL = "(self, ctx, ...)"
    TRANSPORT_ERROR = "(self, ctx, peer)"
    UPCALL = "(self, ctx, ...) "


_ARITY = {
    HandlerKind.START: (2, 2),
    HandlerKind.ON: (4, 4),
    HandlerKind.TIMER: (2, 3),
    HandlerKind.CALL: (2, None),
    HandlerKind.TRANSPORT_ERROR: (3, 3),
    HandlerKind.UPCALL: (2, None),
}


@dataclass(frozen=True, slots=True)
class HandlerMark:
    """What a decorator leaves on a method."""

    kind: HandlerKind
    message: type | None
    when: Guard | None
    takes_payload: bool


def mark_of(function: Any) -> HandlerMark | None:
    """Return the mark on a function or bound method, or None."""
    mark: HandlerMark | None = getattr(function, MARK, None)
    return mark


def _mark(
    function: Any,
    kind: HandlerKind,
    *,
    message: type | None = None,
    when: Guard | None = None,
) -> Any:
    name = getattr(function, "__qualname__", f"the {kind.name.lower()} handler")
    if isinstance(function, staticmethod | classmethod):
        raise ModelError(
            f"the {kind.name.lower()} handler {name} is a {type(function).__name__}",
            remedy=f"take that away: a handler is a method, {kind.value.strip()}",
        )
    check_function(function, name, like=f"def handler{kind.value.strip()}")
    count = _count_parameters(function)
    low, high = _ARITY[kind]
    if count is not None and (count < low or (high is not None and count > high)):
        raise ModelError(
            f"{function.__qualname__}{inspect.signature(function)} "
            f"cannot be a {kind.name.lower()} handler",
            remedy=f"write def {function.__name__}{kind.value.strip()}",
        )
    if when is not None:
        _check_guard(when, f"the guard of {name}", kind, count)
    mark = HandlerMark(kind, message, when, takes_payload=count == 3)
    setattr(function, MARK, mark)
    return function


def _check_guard(when: Any, what: str, kind: HandlerKind, count: int | None) -> None:
    """Check a guard: it gets what its handler gets, but for the context."""
    if kind is HandlerKind.ON:
        check_function(when, what, arguments=3, like="lambda self, src, msg: ...")
    elif kind is HandlerKind.TIMER and count == 3:
        check_function(when, what, arguments=2, like="lambda self, payload: ...")
    elif kind is HandlerKind.TIMER:
        check_function(when, what, arguments=1, like="lambda self: ...")
    else:
        check_function(when, what, like="lambda self, ...: ...")


def _count_parameters(function: Any) -> int | None:
    """Count positional parameters; None where the handler takes any number."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    )


def start(function: Plain) -> Plain:
    """Run a method when its node boots, and after every reset or restart."""
    made: Plain = _mark(function, HandlerKind.START)
    return made


def on(
    message: type[M], *, when: Callable[[Any, NodeId, M], bool] | None = None
) -> Callable[
    [Callable[[Any, Context, NodeId, M], None]],
    Callable[[Any, Context, NodeId, M], None],
]:
    """Run a method when a message of class `message` is delivered.

    Parameters
    ----------
    message
        The class of messages handled.
    when
        An optional guard ``(self, src, msg) -> bool`` without side effects. What
        happens to a message whose guard is false is `System`'s ``unhandled``.
    """
    declared: Any = message
    if not is_message_class(declared):
        raise ModelError(
            f"@wl.on({getattr(message, '__name__', message)!s}) needs a message class",
            remedy="write @wl.on(Message), with a class made by @wl.message"
            if callable(declared) and not isinstance(declared, type)
            else "decorate that class with @wl.message",
        )

    def decorate(function: Any) -> Any:
        return _mark(function, HandlerKind.ON, message=message, when=when)

    return decorate


@overload
def timer(function: Timed) -> Timed: ...
@overload
def timer(*, when: Guard) -> Callable[[Timed], Timed]: ...
def timer(function: Any = None, *, when: Guard | None = None) -> Any:
    """Run a method when a timer of its name fires.

    A guard is ``(self) -> bool``, or ``(self, payload) -> bool``. A timer is consumed
    on firing even when its guard is false.
    """
    if function is not None:
        return _mark(function, HandlerKind.TIMER)
    return lambda decorated: _mark(decorated, HandlerKind.TIMER, when=when)


@overload
def call(function: Called) -> Called: ...
@overload
def call(*, when: Guard) -> Callable[[Called], Called]: ...
def call(function: Any = None, *, when: Guard | None = None) -> Any:
    """Make a method an application call, which a workload can make.

    A guard is ``(self, *arguments) -> bool``; while it is false the call waits.
    """
    if function is not None:
        return _mark(function, HandlerKind.CALL)
    return lambda decorated: _mark(decorated, HandlerKind.CALL, when=when)


def transport_error(function: Failed) -> Failed:
    """Run a method when the transport lost its connection to a peer."""
    made: Failed = _mark(function, HandlerKind.TRANSPORT_ERROR)
    return made


def upcall(function: Called) -> Called:
    """Make a method callable by a part below, through `Context.up`."""
    made: Called = _mark(function, HandlerKind.UPCALL)
    return made


def ignores(*messages: type) -> Callable[[type[M]], type[M]]:
    """Declare, above ``@wl.node``, that a node is right not to handle `messages`.

    One that arrives is consumed without effect, whatever ``System(unhandled=...)`` says
    of messages whose guard is false; in a message set it is no event.
    """

    def decorate(cls: type[M]) -> type[M]:
        known: frozenset[type] = getattr(cls, "__worldline_ignores__", frozenset())
        cls.__worldline_ignores__ = known | set(messages)  # type: ignore[attr-defined]
        return cls

    return decorate
