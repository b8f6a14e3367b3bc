"""The meaning of handlers: what an event does to the node it happens at.

`find` decides which handler takes an event, `perform` runs it. Both worlds call
these, so that there is one answer to both questions.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.model.context import Context, Door, unknown_message
from worldline.model.data.parting import copied
from worldline.model.drawn import OneOf, alternatives, is_drawn
from worldline.model.errors import ModelError, name_of
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Capability, carrier
from worldline.model.node import NodeType
from worldline.model.semantics.offers import guards_of, is_offered, is_over, looking
from worldline.model.system import System
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.one_thread import claim, release
from worldline.model.usercode.places import enters, place_of
from worldline.model.usercode.running import text_of
from worldline.model.usercode.user_functions import check_ran


class Result(enum.Enum):
    """The result of an event."""

    HANDLED = "handled"
    UNHANDLED = "unhandled"
    WAITS = "waits"
    FAILED = "failed"

    # As for kinds of events: the hash of a member, by name, would be Python code.
    __hash__ = object.__hash__


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A handler that raised or did not return, or a message that nobody may ignore.

    Attributes
    ----------
    kind
        ``exception``, ``divergence`` or ``unhandled``: the name of the violation.
    name
        The exception's type, or the handler.
    where
        File name, line and function.
    message
        The first line of the exception's text.
    """

    kind: str
    name: str
    where: str
    message: str

    def __str__(self) -> str:
        text = f": {self.message}" if self.message else ""
        return f"{self.name}{text} ({self.where})"


Dispatch: TypeAlias = Callable[[], Any] | Result | Failure
"""The handler, ready to be called, or why there is none.

Called, it may still answer ``UNHANDLED``: what it drew is not to happen.
"""


def make_context(system: System, index: int, door: Door) -> Context:
    """Return the context of a node, to be bound to a node object before use."""
    me, kind = system.ids[index], system.types[index]
    return Context(me, system.ids, kind, door, members=system.index)


def find(
    system: System,
    index: int,
    node: Any,
    context: Context,
    event: Event,
    *,
    offered: bool = False,
) -> Dispatch:
    """Return the handler that takes `event`, bound to its arguments.

    Parameters
    ----------
    offered
        Whether the event is known to be enabled, so that the guards of a call need not
        be asked of all that it may draw.

    Returns
    -------
    callable, Result or Failure
        ``UNHANDLED`` if the event is consumed without a handler, ``WAITS`` if it is
        not enabled; a failure if there had to be a handler.
    """
    kind, service, inner = system.types[index], node, context
    if event.part:
        kind, service, inner = _at_part(kind, node, context, event.part)
    if event.kind is Kind.DELIVER:
        return _find_message(system, index, kind, service, inner, event)
    if event.kind is Kind.TIMER:
        return _find_timer(kind, service, inner, event)
    if event.kind is Kind.CALL:
        if is_drawn(event.payload):
            return _find_drawn(system, index, service, inner, event, offered=offered)
        return _find_call(system, index, service, inner, event)
    if event.kind is Kind.TRANSPORT_ERROR:
        return _find_error(system.types[index], node, context, event)
    if event.kind is Kind.START:
        return lambda: _start(kind, service, inner)
    if event.kind in (Kind.RESET, Kind.RESTART):
        prototype = system.prototypes[index]

        def begin_again() -> None:
            kind.reset(service, prototype)
            inner.bind(service)
            _start(kind, service, inner)

        return begin_again
    return Result.UNHANDLED


def waits(
    system: System, index: int, node: Any, context: Context, event: Event
) -> bool:
    """Say whether a guard keeps `event` from being enabled.

    An event whose guard fails is enabled: running it gives the failure.
    """
    claimed = claim()
    activity.guarding = True
    try:
        handler = running.run_pure(
            lambda: find(system, index, node, context, event), ~hash(event.name)
        )
        return handler is Result.WAITS
    except Diverged:
        return False
    except BaseException as error:
        if running.is_ours(error):
            raise
        return False
    finally:
        activity.guarding = False
        if claimed:
            release()


@enters
def perform(
    system: System,
    index: int,
    node: Any,
    context: Context,
    door: Door,
    event: Event,
) -> Result | Failure:
    """Run the handler that takes `event`, changing `node` in place.

    The context must be bound to `node`.

    Raises
    ------
    ModelError
        If the handler uses its context wrongly.
    Suspected
        If the clock stopped it; the node is then in an undefined state.
    """
    if not event.kind.runs_handler:
        return Result.HANDLED
    entered = running.enter(hash(event.name), repeatable=door.repeatable)
    try:
        # As `running.check` does, which every handler would call twice.
        if activity.stop is not None:
            raise activity.stop
        result = _perform(system, index, node, context, door, event)
        if activity.stop is not None:
            raise activity.stop
    except BaseException as error:
        return failure_of(error, system.types[index], event)
    finally:
        running.leave(entered)
    return result


def failure_of(error: BaseException, kind: NodeType, what: Event | str) -> Failure:
    """Return how a handler failed; raise what is no failure of its own."""
    cause = running.cause(error)
    if isinstance(cause, Diverged):
        at = handler_name(kind, what) if type(what) is Event else name_at(kind, what)
        return Failure("divergence", at, str(cause), "")
    if running.is_ours(cause):
        raise cause from None
    return Failure("exception", name_of(cause), place_of(cause), text_of(cause))


def _perform(
    system: System, index: int, node: Any, context: Context, door: Door, event: Event
) -> Result | Failure:
    activity.guarding = True
    try:
        handler = find(system, index, node, context, event, offered=door.offered)
    finally:
        activity.guarding = False
    if isinstance(handler, (Result, Failure)):  # a union would be made anew each time
        return handler
    activity.door = door
    try:
        returned = handler()
    finally:
        activity.door = None
    kind = system.types[index]
    if node.__dict__.keys() != kind.roles.keys() or kind.parts:
        kind.check_fields(node, handler_name(kind, event))
    if returned is not None:
        if returned is Result.UNHANDLED:
            return returned
        check_ran(returned, handler_name(kind, event))
        door.answer = copied(returned)
    return Result.HANDLED


def handler_name(kind: NodeType, event: Event) -> str:
    """Return what the handler of an event is called at a node: ``Node.vote``."""
    for name in event.part.split(".") if event.part else ():
        kind = kind.parts[name]
    handler = kind.on.get(type(event.payload)) if event.kind is Kind.DELIVER else None
    name = handler.name if handler is not None else event.name or event.kind.value
    return name_at(kind, name)


def name_at(kind: NodeType, name: str) -> str:
    """Return what a handler of a class is called."""
    return f"{kind.cls.__name__}.{name}"


def _at_part(
    kind: NodeType, node: Any, context: Context, path: str
) -> tuple[NodeType, Any, Context]:
    if path:
        whole = kind
        for name in path.split("."):
            if name not in kind.parts:
                raise _no_such_part(whole, path)
            kind, node = kind.parts[name], node.__dict__[name]
            context = context.part(name)
    return kind, node, context


def _no_such_part(kind: NodeType, path: str) -> ModelError:
    """Return the error for a message to a part that its receiver does not have."""
    return ModelError(
        f"{kind.cls.__name__} received a message of the part {path}, which it does not have",
        remedy="what a part sends arrives at the part of the same name: stack the same "
        "parts in all that talk with each other through them",
    )


def _find_message(
    system: System,
    index: int,
    kind: NodeType,
    service: Any,
    context: Context,
    event: Event,
) -> Dispatch:
    message = event.payload
    handler = kind.on.get(type(message))
    if handler is None:
        if type(message) not in kind.ignores:
            raise unknown_message(kind, type(message))
        # It is consumed whatever becomes of unhandled messages: one that waited would
        # hold up all behind it for ever. Where nothing is consumed, nothing happens.
        network = carrier(system.network, event.part, type(message))
        stays = Capability.HOLDS_FOR_EVER in network.capabilities
        return Result.WAITS if stays else Result.UNHANDLED
    function, src = handler.function, event.peer
    if handler.takes(service, src, message):
        return lambda: function(service, context, src, message)
    if system.unhandled == "error":
        return _unexpected(event, system.types[index])
    return Result.WAITS if system.unhandled == "wait" else Result.UNHANDLED


def _find_timer(
    kind: NodeType, service: Any, context: Context, event: Event
) -> Dispatch:
    handler = kind.timers[event.name]
    arguments = (event.payload,) if handler.mark.takes_payload else ()
    if not handler.takes(service, *arguments):
        return Result.UNHANDLED
    return lambda: handler.function(service, context, *arguments)


def _find_call(
    system: System, index: int, service: Any, context: Context, event: Event
) -> Dispatch:
    handler = system.types[index].called.get(event.name)
    if handler is None:
        over = is_over(system, index, service, event)
        return _go_on if over else Result.WAITS
    arguments = event.payload
    if not handler.takes(service, *arguments):
        return Result.WAITS
    if not is_offered(guards_of(system, index, event), handler, service, arguments):
        return Result.WAITS
    return lambda: handler.function(service, context, *arguments)


def _find_drawn(
    system: System,
    index: int,
    service: Any,
    context: Context,
    event: Event,
    *,
    offered: bool,
) -> Dispatch:
    """Find the handler of a call that draws: enabled if it may happen in some way."""
    handler = system.types[index].calls[event.name]
    guards = guards_of(system, index, event)

    def may(values: tuple[Any, ...]) -> bool:
        takes = handler.takes(service, *values)
        return takes and is_offered(guards, handler, service, values)

    def draw() -> Any:
        values = tuple(
            context.choose(one.options) if type(one) is OneOf else one
            for one in event.payload
        )
        if not looking(lambda: may(values)):
            return Result.UNHANDLED
        return handler.function(service, context, *values)

    def may_or_fails(values: tuple[Any, ...]) -> bool:
        try:
            return may(values)
        except Exception as error:
            if running.is_ours(error):
                raise
            return True  # and fails if this is drawn

    if offered or any(map(may_or_fails, alternatives(event.payload))):
        return draw
    return Result.WAITS


def _go_on() -> None:
    """Do nothing: that the position of the script moves is all that happens."""


def _find_error(kind: NodeType, node: Any, context: Context, event: Event) -> Dispatch:
    path = kind.error_part()
    if path is None:
        return Result.UNHANDLED
    kind, service, inner = _at_part(kind, node, context, path)
    handler = kind.error
    if handler is None:
        return Result.UNHANDLED
    return lambda: handler.function(service, inner, event.peer)


def _start(kind: NodeType, service: Any, context: Context) -> None:
    """Run the start handlers, those of parts first."""
    for name, inner in kind.parts.items():
        _start(inner, service.__dict__[name], context.part(name))
    if kind.start is not None:
        returned = kind.start.function(service, context)
        check_ran(returned, f"{kind.cls.__name__}.{kind.start.name}")


def _unexpected(event: Event, kind: NodeType) -> Failure:
    return Failure("unhandled", event.name, kind.cls.__name__, f"{event!r}")
