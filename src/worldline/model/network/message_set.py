"""The message set of TLA+ specifications: what was sent can be received for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import delivery, in_envelope_order
from worldline.model.network.mailbox import (
    Capability,
    MailOperation,
    Unconnected,
    mailbox,
)


@final
@dataclass(frozen=True, slots=True)
class MessageSet:
    """The network made by `message_set`."""

    name: str = "message_set"
    buffer: None = None
    capabilities: frozenset[Capability] = frozenset({Capability.HOLDS_FOR_EVER})

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Pool:
        return Pool(node)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        return []


def message_set() -> MessageSet:
    """Make a network that is the set of all messages ever sent.

    Delivery does not remove a message, and sending it again changes nothing. It
    needs ``System(unhandled="wait")``, which is then the default.
    """
    return MessageSet()


@final
@mailbox(unordered=True, shape="set")
class Pool(Unconnected):
    """A mailbox that keeps what it got."""

    __slots__ = ("node", "sent")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.sent: set[Envelope] = set()

    def put(self, envelope: Envelope) -> None:
        self.sent.add(envelope)

    def take(self, envelope: Envelope) -> None:
        """Do nothing: a received message stays."""

    def forget(self, peer: NodeId) -> None:
        self.sent = {envelope for envelope in self.sent if envelope.src != peer}

    def is_ready(self, envelope: Envelope) -> bool:
        return envelope in self.sent

    def holds(self, src: NodeId) -> int:
        return sum(envelope.src == src for envelope in self.sent)

    def envelopes(self) -> Iterator[Envelope]:
        return iter(in_envelope_order(list(self.sent)))

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        return (
            [delivery(self.node, envelope) for envelope in self.envelopes()]
            if up
            else []
        )

    def befallen(self, kind: Kind) -> list[Envelope]:
        return []

    def freeze(self) -> Frozen:
        return (Pool, *self.envelopes())

    def restore(self, frozen: Frozen) -> None:
        self.sent = set(frozen[1:])

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Envelope, int]]:
        """Return the envelopes of a frozen mailbox, each with 1."""
        return [(envelope, 1) for envelope in frozen[1:]]

    @staticmethod
    def join(pairs: list[tuple[Envelope, int]]) -> Frozen:
        """Freeze a mailbox that holds envelopes."""
        return (Pool, *in_envelope_order([envelope for envelope, _ in pairs]))
