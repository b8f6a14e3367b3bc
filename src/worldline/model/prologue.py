"""Patterns of events, with which a prologue says how the search's start is reached.

A pattern matches the first enabled event, in canonical order, that fits what it
says. The functions here are offered to users as ``wl.events``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

from worldline.model.arguments import named
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.usercode.user_errors import spelt
from worldline.model.workload import Invocation


@final
@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for events; None matches anything.

    Attributes
    ----------
    kind
        The event's kind; None for `settle`.
    choices
        The indices of the options that its handler takes.

    Raises
    ------
    ModelError
        If something else stands in the place of a node.
    """

    kind: Kind | None
    node: NodeId | None = None
    name: str | None = None
    peer: NodeId | None = None
    payload: Any = None
    choices: Choices = ()

    def __post_init__(self) -> None:
        places: tuple[Any, ...] = (self.node, self.peer)
        for given in places:
            if given is not None and not isinstance(given, NodeId):
                kind = "settle" if self.kind is None else self.kind.value
                raise ModelError(
                    f"wl.events.{kind}(...) has {named(given)} in the place of a node",
                    remedy="the first argument is the node where it happens",
                )

    def matches(self, event: Event) -> bool:
        """Say whether an event fits."""
        return (
            event.kind is self.kind
            and (self.node is None or event.node == self.node)
            and (self.name is None or event.name == self.name)
            and (self.peer is None or event.peer == self.peer)
            and (self.payload is None or event.payload == self.payload)
        )

    def __str__(self) -> str:
        if self.kind is None:
            return "settle"
        words = [self.kind.value]
        words += [f"{self.name}"] if self.name else []
        words += [f"at {self.node}"] if self.node else []
        words += [f"from {self.peer}"] if self.peer else []
        words += [f"with {spelt(self.payload)}"] if self.payload is not None else []
        return " ".join(words)


def start(node: NodeId, *, choices: Iterable[int] = ()) -> Pattern:
    """Start a node, where starts are events."""
    return Pattern(Kind.START, node, choices=tuple(choices))


def deliver(
    node: NodeId,
    message: type | Any,
    src: NodeId | None = None,
    *,
    choices: Iterable[int] = (),
) -> Pattern:
    """Deliver a message of a class, or an exact one, at `node`."""
    if isinstance(message, type):
        name, payload = message.__name__, None
    else:
        name, payload = type(message).__name__, message
    return Pattern(Kind.DELIVER, node, name, src, payload, tuple(choices))


def timer(
    node: NodeId, handler: Callable[..., None], *, choices: Iterable[int] = ()
) -> Pattern:
    """Fire a timer."""
    return Pattern(Kind.TIMER, node, handler.__name__, choices=tuple(choices))


def call(
    node: NodeId,
    handler: Callable[..., Any] | Invocation,
    *,
    choices: Iterable[int] = (),
) -> Pattern:
    """Make the application call that the workload offers.

    Parameters
    ----------
    handler
        A handler; or what the workload has, which tells calls of one handler apart, and
        is how to go on after a `wait_until`.
    choices
        The indices of the options that are drawn, then those that the handler takes.
    """
    if isinstance(handler, Invocation):
        payload, chosen = handler.arguments, tuple(choices)
        return Pattern(Kind.CALL, node, handler.name, None, payload, chosen)
    return Pattern(Kind.CALL, node, handler.__name__, choices=tuple(choices))


def transport_error(node: NodeId, peer: NodeId) -> Pattern:
    """Let `node` learn that it lost its connection to `peer`."""
    return Pattern(Kind.TRANSPORT_ERROR, node, peer=peer)


def refuse(node: NodeId, src: NodeId, message: type | None = None) -> Pattern:
    """Let `node` not take what `src` sent, of a class if one is given.

    On streams it is refused where `node` forgot the connection, on datagrams it is
    lost where `node` is down.
    """
    name = None if message is None else message.__name__
    return Pattern(Kind.REFUSE, node, name, src)


def drop(node: NodeId, message: type, src: NodeId | None = None) -> Pattern:
    """Lose a message on its way to `node`."""
    return Pattern(Kind.DROP, node, message.__name__, src)


def reset(
    node: NodeId, *, deaf: Iterable[NodeId] = (), choices: Iterable[int] = ()
) -> Pattern:
    """Reset a node; `deaf` peers do not notice."""
    return Pattern(Kind.RESET, node, payload=tuple(deaf), choices=tuple(choices))


def crash(node: NodeId) -> Pattern:
    """Stop a node."""
    return Pattern(Kind.CRASH, node)


def restart(node: NodeId) -> Pattern:
    """Start a stopped node."""
    return Pattern(Kind.RESTART, node)


def disconnect(node: NodeId, peer: NodeId) -> Pattern:
    """Break the connection of two nodes."""
    first, second = sorted((node, peer))
    return Pattern(Kind.DISCONNECT, first, peer=second)


def settle() -> Pattern:
    """Deliver messages and transport errors, the first each time, until none is left.

    What arrives at a node that is down, but may start again, is lost.
    """
    return Pattern(None)
