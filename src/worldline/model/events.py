"""Events: one handler execution or one fault, identified by value.

An event's key never mentions a position or an interned number, so a schedule means
the same in every world and every process.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, register_tag, register_type, thaw
from worldline.model.kinds import RANKED, Kind, Origin
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.usercode.user_errors import spelt

LOST, UNREACHABLE = "lost", "unreachable"
"""The two names of a transport error: a broken connection, and one never made."""


@final
class Event:
    """One thing that can happen.

    Attributes
    ----------
    kind
        What sort of event it is.
    node
        The node at which it happens; None for partition and heal.
    part
        The path of the part concerned; empty for the node itself.
    name
        The message's class, the timer's or call's name, or the error's.
    peer
        The sender of a message, or the other end of a connection.
    payload
        The message, the timer's payload, the call's arguments, the deaf peers of a
        reset, or the index of a partition's cut.
    """

    __slots__ = ("_key", "kind", "envelope", "name", "node", "part", "payload", "peer")

    def __init__(
        self,
        kind: Kind,
        node: NodeId | None = None,
        *,
        part: str = "",
        name: str = "",
        peer: NodeId | None = None,
        payload: Any = None,
        envelope: Envelope | None = None,
    ) -> None:
        self.kind = kind
        self.node = node
        self.part = part
        self.name = name
        self.peer = peer
        self.payload = payload
        self.envelope = envelope
        self._key: Frozen = None
        if envelope is None and kind.is_about_message and peer is not None:
            self.envelope = OpenEnvelope(peer, part, payload)

    @property
    def key(self) -> Frozen:
        """The frozen value that identifies this event."""
        if self._key is None:
            payload = self.envelope.key[3] if self.envelope else freeze(self.payload)
            self._key = (
                Event,
                self.kind.rank,
                self.node,
                self.part,
                self.peer,
                self.name,
                payload,
            )
        return self._key

    @property
    def origin(self) -> Origin:
        """Whether application, system or fault injection brings it about."""
        return self.kind.origin

    @property
    def is_external(self) -> bool:
        """Whether the environment injects it: the application, or a fault."""
        return self.kind.is_external

    @property
    def is_network_step(self) -> bool:
        """Whether the network brings it about, and freely; all else is a node's own."""
        return self.kind.arrives and not self.kind.budgets

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Event) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        words = [self.kind.value]
        if self.kind is Kind.PARTITION:
            words.append(f"cut {spelt(self.payload)}")
        if self.node is not None:
            words.append(f"at {self.node}")
        if self.part:
            words.append(f"({self.part})")
        if self.envelope is not None:
            words.append(spelt(self.payload))
        elif self.name:
            words.append(self.name)
        if self.peer is not None:
            link = "from" if self.envelope is not None else "about"
            words.append(f"{link} {self.peer}")
        if self.kind is Kind.CALL and self.payload:
            words.append(f"with {', '.join(map(spelt, self.payload))}")
        elif self.kind is Kind.TIMER and self.payload is not None:
            words.append(f"with {spelt(self.payload)}")
        elif self.kind is Kind.RESET and self.payload:
            words.append(f"unnoticed by {', '.join(map(spelt, self.payload))}")
        return " ".join(words)


def _freeze_event(event: Event) -> Frozen:
    return event.key


def _thaw_event(frozen: tuple[Any, ...]) -> Event:
    _, rank, node, part, peer, name, payload = frozen
    return Event(
        RANKED[rank],
        node,
        part=part,
        peer=peer,
        name=name,
        payload=thaw(payload),
    )


register_type(Event, _freeze_event)
register_tag(Event, _thaw_event)

Choices: TypeAlias = tuple[int, ...]
"""The indices of the options taken inside one handler, in the order of asking."""

Schedule: TypeAlias = Sequence[tuple[Event, Choices]]
"""Events with their choices: enough to run a system again exactly."""
