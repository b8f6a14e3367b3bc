"""The network of a recorded run: whatever was recorded can happen on it, nothing is sure.

What real sockets did may be more than the declared network allows: TCP can deliver a
message after its sender has seen the connection break. So a recorded run that the declared
network does not allow is replayed on this one. A message that was sent can be delivered,
lost or doubled at any time, a connection can break, an error can come, and whether a send
buffer is full is a choice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import Bag, envelope_operations
from worldline.model.network.link import Link
from worldline.model.network.mailbox import (
    Capability,
    MailOperation,
    Network,
    mailbox,
)

RECORDED = "recorded"
"""The name of the network."""


@final
@dataclass(frozen=True, slots=True)
class Recorded:
    """The network of a recorded run.

    Parameters
    ----------
    of
        The network that was declared.
    missing
        The names of the nodes of which nothing was recorded: what was received from them
        may arrive, though nobody sends it.
    """

    of: Network
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return RECORDED

    @property
    def buffer(self) -> int | None:
        """That of the declared network: without any, no send is ever refused."""
        return self.of.buffer

    @property
    def connects(self) -> bool:
        """Whether there are connections that can break."""
        return Capability.DISCONNECT in self.of.capabilities

    @property
    def capabilities(self) -> frozenset[Capability]:
        able = {Capability.DROP, Capability.DUPLICATE, Capability.LOST_WHEN_DOWN}
        if self.connects:
            able.add(Capability.DISCONNECT)
        return frozenset(able)

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> RecordedMail:
        return RecordedMail(self, node, nodes)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        return envelope_operations(event)


def recorded(*, of: Network, missing: tuple[str, ...] = ()) -> Recorded:
    """Make the network of a recorded run out of the declared one; see `Recorded`."""
    return Recorded(of, missing)


@final
@mailbox(unordered=True)
class RecordedMail:
    """A mailbox from which any message may come next, and any error."""

    __slots__ = ("_bag", "_network", "_nodes", "node")

    def __init__(
        self, network: Recorded, node: NodeId, nodes: tuple[NodeId, ...]
    ) -> None:
        self.node = node
        self._network = network
        self._nodes = nodes
        self._bag = Bag(node)

    def put(self, envelope: Envelope) -> None:
        self._bag.put(envelope)

    def copy(self, envelope: Envelope) -> None:
        self._bag.copy(envelope)

    def take(self, envelope: Envelope) -> None:
        if self._bag.is_ready(envelope):  # what nobody sent is nowhere
            self._bag.take(envelope)

    def sever(self, peers: frozenset[NodeId]) -> None:
        """Do nothing: who learns of a partition was recorded."""

    def forget(self, peer: NodeId) -> None:
        self._bag.forget(peer)

    def is_ready(self, envelope: Envelope) -> bool:
        return self._bag.is_ready(envelope) or self._is_unsent(envelope)

    def holds(self, src: NodeId) -> int:
        return self._bag.holds(src)

    def envelopes(self) -> Iterator[Envelope]:
        return self._bag.envelopes()

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        events = self._bag.arrivals(up=up, returns=returns)
        if self._network.connects:
            others = [node for node in self._nodes if node != self.node]
            if up:
                events += [
                    Event(Kind.TRANSPORT_ERROR, self.node, name=LOST, peer=other)
                    for other in others
                ]
            events += [
                Event(Kind.TRANSPORT_ERROR, other, name=UNREACHABLE, peer=self.node)
                for other in others
            ]
        return events

    def befallen(self, kind: Kind) -> list[Envelope]:
        return self._bag.losable()

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        if not self._network.connects:
            return []
        return [node for node in self._nodes if node != self.node]

    def connections(self) -> dict[NodeId, Link]:
        return {}

    def connection(self, peer: NodeId) -> Link | None:
        return None

    def freeze(self) -> Frozen:
        return (RecordedMail, *self._bag.freeze()[1:])

    def restore(self, frozen: Frozen) -> None:
        self._bag.restore((Bag, *frozen[1:]))

    def _is_unsent(self, envelope: Envelope) -> bool:
        return envelope.src.name in self._network.missing
