"""The network of a recorded run: all that was recorded can happen, nothing is sure.

What real sockets did may be more than the declared network allows: TCP can deliver a
message after its sender has seen the connection break. So a recorded run that the declared
network does not allow is replayed on this one. A message that was sent can be delivered,
lost or doubled at any time, a connection can break, an error can come, and whether a send
buffer is full is a choice.

What is under way is what the declared network would have under way after the same events,
as far as it can do them: each mailbox has one of that network inside. So as long as a run
is one of the declared network, both show the same to properties. What is lost with its
connection may arrive all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import (
    envelope_operations,
    in_envelope_order,
    incoming,
)
from worldline.model.network.link import Link
from worldline.model.network.mailbox import (
    Capability,
    Mailbox,
    MailOperation,
    Network,
    mailbox,
)
from worldline.model.network.networks import carrier

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
        kind, node, peer = event.kind, event.node, event.peer
        if kind.is_about_message and kind is not Kind.DELIVER:
            able = self._carrier(event.part, type(event.payload)).capabilities
            if not (kind.doubles_message and Capability.DUPLICATE in able):
                return envelope_operations(event)
        declared = self.of.operations(event, nodes)
        if kind is Kind.DELIVER:
            # At its receiver no more is done than to take it.
            return [
                (
                    at,
                    ("arrive", event.envelope)
                    if at == node
                    else ("inside", *operation),
                )
                for at, operation in declared
            ]
        inside: list[MailOperation] = [
            (at, ("inside", *operation)) for at, operation in declared
        ]
        if kind is Kind.TRANSPORT_ERROR and node is not None and inside:
            return [(node, ("hear", peer)), *inside]
        return inside

    def connects_for(self, envelope: Envelope) -> bool:
        """Say whether a message is sent on a connection."""
        able = self._carrier(envelope.part, type(envelope.message)).capabilities
        return Capability.DISCONNECT in able

    def _carrier(self, part: str, message: type) -> Network:
        return carrier(self.of, part, message)


def recorded(*, of: Network, missing: tuple[str, ...] = ()) -> Recorded:
    """Make the network of a recorded run out of the declared one; see `Recorded`."""
    return Recorded(of, missing)


@final
@mailbox(unordered=False)
class RecordedMail:
    """A mailbox from which any message may come next, and any error."""

    __slots__ = ("_mail", "_network", "_nodes", "node")

    def __init__(
        self, network: Recorded, node: NodeId, nodes: tuple[NodeId, ...]
    ) -> None:
        self.node = node
        self._network = network
        self._nodes = nodes
        self._mail: Mailbox = network.of.mailbox(node, nodes)

    def put(self, envelope: Envelope) -> None:
        self._mail.put(envelope)

    copy = put  # the declared network doubles nothing here

    def take(self, envelope: Envelope) -> None:
        """Remove a message that is lost; what nobody sent is nowhere."""
        link = self._link_of(envelope)
        if link is None and self._is_under_way(envelope):
            self._mail.take(envelope)
        elif link is not None and envelope in link.queue:
            link.queue.remove(envelope)

    def arrive(self, envelope: Envelope) -> None:
        """Remove a message; what came before it on a connection is not under way now."""
        link = self._link_of(envelope)
        if link is not None and envelope not in link.queue:
            if envelope.src != self.node:
                link.connect()  # as its sender does, who learns that it went through
            return
        if link is not None:
            del link.queue[: link.queue.index(envelope)]
        if self._is_under_way(envelope):
            self._mail.take(envelope)

    def inside(self, operation: str, *arguments: object) -> None:
        """Change what is under way as the declared network does."""
        getattr(self._mail, operation)(*arguments)

    def hear(self, peer: NodeId) -> None:
        """Lose what `peer` has sent, if the declared network knows of no error here."""
        link = self.connection(peer)
        if link is not None and not link.error_here:
            link.queue.clear()

    def sever(self, peers: frozenset[NodeId]) -> None:
        """Do nothing: who learns of a partition was recorded."""

    def forget(self, peer: NodeId) -> None:
        self._mail.forget(peer)

    def is_ready(self, envelope: Envelope) -> bool:
        return (
            self._is_under_way(envelope)
            or self._network.connects_for(envelope)
            or envelope.src.name in self._network.missing
        )

    def holds(self, src: NodeId) -> int:
        return self._mail.holds(src)

    def envelopes(self) -> Iterator[Envelope]:
        return self._mail.envelopes()

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        events = incoming(self.node, self.befallen(Kind.DROP), up=up, returns=returns)
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
        return in_envelope_order(list(dict.fromkeys(self._mail.envelopes())))

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        if not self._network.connects:
            return []
        return [node for node in self._nodes if node != self.node]

    def connections(self) -> Mapping[NodeId, Link]:
        return self._mail.connections()

    def connection(self, peer: NodeId) -> Link | None:
        return self._mail.connection(peer)

    def freeze(self) -> Frozen:
        return (RecordedMail, self._mail.freeze())

    def restore(self, frozen: Frozen) -> None:
        self._mail.restore(frozen[1])

    def _link_of(self, envelope: Envelope) -> Link | None:
        """Return the connection on which a message is sent; None if on none."""
        on_one = self._network.connects_for(envelope)
        return self.connection(envelope.src) if on_one else None

    def _is_under_way(self, envelope: Envelope) -> bool:
        mail = self._mail
        return mail.is_ready(envelope) or any(
            one == envelope for one in mail.envelopes()
        )


def inside_of(frozen: Frozen) -> Frozen:
    """Return the frozen mailbox of the declared network that is inside a frozen one."""
    return frozen[1]
