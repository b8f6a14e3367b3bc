"""The context: a handler's only door to the world.

`Context` is what the user sees; `Door` is what a world provides behind it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping, Sequence
from types import FunctionType, MappingProxyType
from typing import Any, Never, Protocol, TypeVar, final

from worldline.model.annotations import check_type
from worldline.model.data.identity import NodeId
from worldline.model.data.immutable import immutable
from worldline.model.data.settling import settled
from worldline.model.data.time import EPOCH, Time
from worldline.model.errors import ModelError
from worldline.model.fields import is_node
from worldline.model.handler_marks import HandlerKind, mark_of
from worldline.model.message import is_message, is_message_class
from worldline.model.node import Handler, NodeType
from worldline.model.usercode.activity import activity
from worldline.model.usercode.user_errors import spelt

T = TypeVar("T")

_NOTHING_BELOW: Mapping[str, Any] = MappingProxyType({})

_LONGEST_S = sys.float_info.max

NOTHING: Any = object()
"""Stands for a payload that was left out: None is one."""


class Door(Protocol):
    """The back end of a context: what a world does for the handler that runs in it.

    Attributes
    ----------
    repeatable
        Whether a handler that is suspected not to return can be run again.
    offered
        Whether the event is known to be enabled.
    answer
        What the last handler returned that returned anything, for whoever called it.
    """

    repeatable: bool
    offered: bool
    answer: Any

    def send(self, part: str, dst: NodeId, message: Any) -> bool: ...
    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None: ...
    def cancel_timer(self, part: str, name: str, payload: Any) -> None: ...
    def is_pending(self, part: str, name: str, payload: Any) -> bool: ...
    def choose(self, count: int, weights: Sequence[float] | None) -> int: ...
    def sequence(self) -> int: ...
    def now(self) -> float: ...
    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool: ...
    def log(self, text: str) -> None: ...


@final
class Context:
    """The effects of a handler: all that it can do beside changing its own node.

    Parameters
    ----------
    members
        Says which ids are of the system; one for all contexts, if it is given.

    Attributes
    ----------
    me
        The node the handler runs at.
    nodes
        All nodes of the system, in order of declaration.
    """

    __slots__ = (
        "_below",
        "_behind",
        "_kind",
        "_above",
        "_members",
        "_part",
        "_service",
        "me",
        "nodes",
    )

    def __init__(
        self,
        me: NodeId,
        nodes: tuple[NodeId, ...],
        kind: NodeType,
        door: Door,
        *,
        members: Container[NodeId] | None = None,
        part: str = "",
        above: Context | None = None,
    ) -> None:
        self.me = me
        self.nodes = nodes
        self._members = members = frozenset(nodes) if members is None else members
        self._behind = door
        self._kind = kind
        self._part = part
        self._above = above
        self._service: Any = None
        # Most have no parts, and a dict for each would be waste.
        self._below: Mapping[str, Context] = _NOTHING_BELOW
        if kind.parts:
            self._below = self._contexts_below(kind, door, members)

    def _contexts_below(
        self, kind: NodeType, door: Door, members: Container[NodeId]
    ) -> dict[str, Context]:
        prefix = f"{self._part}." if self._part else ""
        return {
            name: Context(
                self.me,
                self.nodes,
                inner,
                door,
                members=members,
                part=prefix + name,
                above=self,
            )
            for name, inner in kind.parts.items()
        }

    @property
    def _door(self) -> Door:
        # Where effects are many, the same is looked up in place.
        return self._refused() if activity.guarding else self._behind

    def _refused(self) -> Never:
        raise ModelError(
            f"a guard or a property uses the context of {self._where()}",
            remedy="only handlers may: what they find out can be kept in a field",
        )

    def bind(self, service: Any) -> None:
        """Attach the node object, and its parts, that the next handler works on."""
        self._service = service
        for name, below in self._below.items():
            below.bind(service.__dict__[name])

    def move(self, me: NodeId, service: Any) -> None:
        """Become the context of another node of the same class, and attach its object."""
        self.me = me
        self._service = service
        if self._below:
            for name, below in self._below.items():
                below.move(me, service.__dict__[name])

    def send(self, dst: NodeId, message: Any) -> bool:
        """Send a message.

        Through the part that has a ``route`` method, if this service is stacked on
        one, else through the network.

        Returns
        -------
        bool
            False if the send buffer was full and the message was not taken.
        """
        if dst not in self._members:
            raise ModelError(
                f"{self._where()} sends to {spelt(dst)}, which is no node of the system",
                remedy=f"send to one of {', '.join(map(str, self.nodes))}",
            )
        if not is_message(message):
            if is_node(type(message)):
                raise ModelError(
                    f"{self._where()} sends a {type(message).__name__}, which is a node",
                    remedy="send a message; ctx.me in a field of it says who sent it",
                )
            if is_message_class(message):
                raise ModelError(
                    f"{self._where()} sends the class {message.__name__}, not a message",
                    remedy=f"call it: {message.__name__}(...)",
                )
            raise ModelError(
                f"{self._where()} sends {spelt(message)}, which is not a message",
                remedy="decorate its class with @wl.message",
            )
        router = self._kind.router if self._below else None
        if router is not None:
            below = self._below[router]
            taken: bool = below._service.route(below, dst, message)
            return taken
        door = self._refused() if activity.guarding else self._behind
        return door.send(self._part, dst, message)

    def set_timer(
        self, timer: Callable[..., None], payload: Any = NOTHING, *, after: float = 0.0
    ) -> None:
        """Set a timer; setting a pending one again replaces it.

        Parameters
        ----------
        timer
            A handler of this class made with ``@wl.timer``.
        payload
            Immutable plain data given back to the handler, if that takes one; timers
            with different payloads are different timers.
        after
            Seconds; they count in deployments, rounds and, against the node's own
            timers only, in timed systems.
        """
        known = self._kind.timer_of.get(timer) if type(timer) is FunctionType else None
        handler = known or self._timer(timer)
        held = None
        if payload is not NOTHING or handler.mark.takes_payload:
            held = self._payload(handler, payload)
        if type(after) is not float or not 0.0 <= after <= _LONGEST_S:
            after = self._delay(after)
        door = self._refused() if activity.guarding else self._behind
        door.set_timer(self._part, handler.name, held, after)

    def cancel_timer(self, timer: Callable[..., None], payload: Any = NOTHING) -> None:
        """Cancel a timer if it is pending."""
        handler = self._timer(timer)
        held = self._payload(handler, payload)
        self._door.cancel_timer(self._part, handler.name, held)

    def is_pending(self, timer: Callable[..., None], payload: Any = NOTHING) -> bool:
        """Say whether a timer is set and has not fired."""
        handler = self._timer(timer)
        held = self._payload(handler, payload)
        return self._door.is_pending(self._part, handler.name, held)

    def choose(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """Return one of `options`; while checking, every one is tried.

        Parameters
        ----------
        weights
            One positive number per option: how likely each is in a random walk.
        """
        if not isinstance(options, Sequence):
            raise ModelError(
                f"{self._where()} chooses from {spelt(options)}, which has no order",
                remedy="give ctx.choose a list or a tuple, such as sorted(...)",
            )
        if not options:
            raise ModelError(
                f"{self._where()} chooses from nothing",
                remedy="give ctx.choose at least one option",
            )
        taken: T = settled(options[self._door.choose(len(options), weights)])
        return taken

    def random(self, n: int) -> int:
        """Return an int in ``range(n)``."""
        given: Any = n
        if not isinstance(given, int) or n < 1:
            raise ModelError(
                f"{self._where()} draws one of {spelt(n)} numbers",
                remedy="give ctx.random a whole number of at least 1",
            )
        door = self._refused() if activity.guarding else self._behind
        return door.choose(n, None) if n > 1 else 0

    def sequence(self) -> int:
        """Return the next number of this node: increasing, also across resets."""
        return self._door.sequence()

    def now(self) -> Time:
        """Return the time; comparing two times is a choice while checking."""
        seconds = self._door.now()
        return Time(seconds) if seconds else EPOCH

    def log(self, text: str) -> None:
        """Write a line into the trace."""
        self._door.log(text)

    def part(self, name: str) -> Context:
        """Return the context in which a part's methods are to be called."""
        try:
            return self._below[name]
        except KeyError:
            raise ModelError(
                f"{self._where()} has no part {name!r}",
                remedy=f"its parts are: {', '.join(self._below) or 'none'}",
            ) from None

    def up(self, name: str, *arguments: Any) -> Any:
        """Call an upcall of the service above, in the same atomic step.

        ``deliver`` with ``(src, message)`` and ``error`` with ``(peer,)`` reach the
        message and transport-error handlers above where no upcall has that name.
        """
        above = self._above
        if above is None:
            raise ModelError(
                f"{self._where()} calls ctx.up({name!r}) but nothing is above it",
                remedy="only a part declared with wl.part() has a service above",
            )
        return above._receive(name, arguments)

    def _receive(self, name: str, arguments: tuple[Any, ...]) -> Any:
        kind, service = self._kind, self._service
        handler = kind.upcalls.get(name)
        if handler is not None:
            return handler.function(service, self, *arguments)
        if name == "deliver":
            src, message = arguments
            handler = kind.on.get(type(message))
            if handler is None:
                if type(message) in kind.ignores:
                    return None
                raise unknown_message(kind, type(message))
            if handler.takes(service, src, message):
                return handler.function(service, self, src, message)
            return None
        if name == "error":
            error = kind.error
            return error.function(service, self, *arguments) if error else None
        raise ModelError(
            f"{kind.cls.__name__} has no upcall {name!r}",
            remedy="decorate a method of that name with @wl.upcall",
        )

    def _timer(self, timer: Callable[..., None]) -> Handler:
        if timer is None:
            raise ModelError(
                f"{self._where()} uses None as a timer: it called the handler",
                remedy="pass the handler itself: self.tick, not self.tick(ctx)",
            )
        name = getattr(timer, "__name__", None) or str(timer)
        mark = mark_of(timer)
        declared = self._kind.timers.get(name)
        if name == timer and declared is not None:
            raise ModelError(
                f"{self._where()} uses the text {name!r} as a timer",
                remedy=f"pass the handler itself: {self._kind.cls.__name__}.{name}",
            )
        if mark is None or mark.kind is not HandlerKind.TIMER or declared is None:
            raise ModelError(
                f"{self._where()} uses the unknown timer {name!r}",
                remedy="decorate a method of this class with @wl.timer; its timers "
                f"are: {', '.join(self._kind.timers) or 'none'}",
            )
        return declared

    def _payload(self, handler: Handler, payload: Any) -> Any:
        """Return what a timer holds for its handler, which must be able to take it."""
        if not handler.mark.takes_payload:
            if payload is NOTHING or payload is None:
                return None
            remedy = f"write def {handler.name}(self, ctx, payload), or leave it out"
            if isinstance(payload, int | float):
                remedy = f"a delay is written after={spelt(payload)}; else {remedy}"
            raise ModelError(
                f"{self._where()} gives the timer {handler.name} the payload "
                f"{spelt(payload)}, and its handler takes none",
                remedy=remedy,
            )
        parameter = handler.payload
        if payload is not NOTHING:
            what = f"{self._where()}: a timer"
            remedy = "give the payload that the handler is annotated with"
            check_type(handler.function, parameter.name, payload, what, remedy)
        elif (payload := parameter.default) is parameter.empty:
            raise ModelError(
                f"{self._where()} gives the timer {handler.name} no payload, and its "
                f"handler takes one: {parameter.name}",
                remedy=f"write the payload behind {handler.name}; it may be None",
            )
        return immutable(payload, f"{self._where()}: the timer {handler.name}", "it")

    def _delay(self, after: Any) -> float:
        number = isinstance(after, int | float) and not isinstance(after, bool)
        # So that NaN fails it too. An int may be too large for a float.
        if not (number and 0 <= after <= _LONGEST_S):
            raise ModelError(
                f"{self._where()} sets a timer with after={after!r}",
                remedy="give a number of seconds that is finite and not negative",
            )
        return after  # type: ignore[no-any-return]

    def _where(self) -> str:
        return f"{self._kind.cls.__name__} at {self.me}"


def unknown_message(kind: NodeType, message: type) -> ModelError:
    """Return the error for a message class that a node class never handles."""
    return ModelError(
        f"{kind.cls.__name__} received {message.__name__} but never handles it",
        remedy=f"write @wl.on({message.__name__}), or declare "
        f"@wl.ignores({message.__name__}) above @wl.node",
    )
