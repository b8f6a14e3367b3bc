"""The decorators that make a method a handler.

Each returns the method itself, marked; `node.py` collects the marks. Their types
let a checker such as mypy verify a handler's signature.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from worldline.model.context import Context
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.foreseen import Foreseen
from worldline.model.handler_marks import GuardFunction, HandlerKind, mark
from worldline.model.message import is_message_class

M = TypeVar("M")
Plain = TypeVar("Plain", bound="Callable[[Any, Context], None]")
Timed = TypeVar(
    "Timed",
    bound="Callable[[Any, Context], None] | Callable[[Any, Context, Any], None]",
)
Failed = TypeVar("Failed", bound="Callable[[Any, Context, NodeId], None]")
Called = TypeVar("Called", bound="Callable[..., Any]")
Reacts = TypeVar("Reacts", bound="Callable[[Any, Context, Foreseen], None]")


def start(function: Plain) -> Plain:
    """Run a method when its node boots, and after every reset or restart."""
    made: Plain = mark(function, HandlerKind.START)
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
        return mark(function, HandlerKind.ON, message=message, when=when)

    return decorate


@overload
def timer(function: Timed) -> Timed: ...
@overload
def timer(*, when: GuardFunction) -> Callable[[Timed], Timed]: ...
def timer(function: Any = None, *, when: GuardFunction | None = None) -> Any:
    """Run a method when a timer of its name fires.

    A guard is ``(self) -> bool``, or ``(self, payload) -> bool``. A timer is consumed
    on firing even when its guard is false.
    """
    if function is not None:
        return mark(function, HandlerKind.TIMER)
    return lambda decorated: mark(decorated, HandlerKind.TIMER, when=when)


@overload
def call(function: Called) -> Called: ...
@overload
def call(*, when: GuardFunction) -> Callable[[Called], Called]: ...
def call(function: Any = None, *, when: GuardFunction | None = None) -> Any:
    """Make a method an application call, which a workload can make.

    A guard is ``(self, *arguments) -> bool``; while it is false the call waits.
    """
    if function is not None:
        return mark(function, HandlerKind.CALL)
    return lambda decorated: mark(decorated, HandlerKind.CALL, when=when)


@overload
def on_prediction(function: Reacts) -> Reacts: ...
@overload
def on_prediction(
    *, when: Callable[[Any, Foreseen], bool]
) -> Callable[[Reacts], Reacts]: ...
def on_prediction(
    function: Any = None, *, when: Callable[[Any, Foreseen], bool] | None = None
) -> Any:
    """Run a method when its node foresees a failure; one for each class.

    Nodes that steer, or predict alone, call it for each property once in an interval at
    most, for as long as its failure is foreseen. It is no call of the workload: neither
    a search nor a prediction makes it, nor a call from outside. In a run it is a `call`
    like others.

    A guard is ``(self, prediction) -> bool``; while it is false the call waits, until a
    later one for that property takes its place.
    """
    if function is not None:
        return mark(function, HandlerKind.ON_PREDICTION)
    return lambda decorated: mark(decorated, HandlerKind.ON_PREDICTION, when=when)


def transport_error(function: Failed) -> Failed:
    """Run a method when the transport lost its connection to a peer."""
    made: Failed = mark(function, HandlerKind.TRANSPORT_ERROR)
    return made


def upcall(function: Called) -> Called:
    """Make a method callable by a part below, through `Context.up`."""
    made: Called = mark(function, HandlerKind.UPCALL)
    return made


def ignores(*messages: type) -> Callable[[type[M]], type[M]]:
    """Declare, above ``@wl.node``, that a node is right not to handle `messages`.

    One that arrives is consumed without effect, whatever ``System(unhandled=...)`` says
    of messages whose guard is false; in a message set it is no event.
    """

    def decorate(cls: type[M]) -> type[M]:
        ignored: frozenset[type] = getattr(cls, "__worldline_ignores__", frozenset())
        cls.__worldline_ignores__ = ignored | set(messages)  # type: ignore[attr-defined]
        return cls

    return decorate
