"""Streams: connections like TCP's, in order and reliable until they break.

The model is MaceMC's SimulatorTCP (MaceMC, sections 3.1 and 7.6) with its bugs
fixed. For each pair of nodes there is a `Link`, seen from both ends, with

* the state of either end's connection: closed, open, or half open, which means
  that this end does not know yet that the other was reset;
* an error under way to either end, which overtakes the messages before it;
* the messages under way, at most `buffer` in each direction.

A connection opens when a message arrives. A node that is reset loses what it has
sent and its connected peers get an error; a peer that misses it (a silent reset)
stays half open, until what it sends next is refused and becomes an error for it.
What was sent on a connection that is not open yet survives the receiver's reset.
There are no incarnation counters: two runs that end in the same situation meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.model.data.content import TUPLE, Frozen
from worldline.model.data.identity import BY_DECLARATION, NodeId
from worldline.model.errors import ModelError
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import concerning
from worldline.model.network.link import HALF, Link
from worldline.model.network.mailbox import Capability, MailOperation, mailbox

Effect: TypeAlias = Callable[[Link], None]
"""What an event does to a connection, seen from one end."""


@final
@dataclass(frozen=True, slots=True)
class Streams:
    """The network made by `streams`."""

    buffer: int | None
    name: str = "streams"
    capabilities: frozenset[Capability] = frozenset(
        {Capability.DISCONNECT, Capability.SILENT_RESET, Capability.ORDERED}
    )

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Sockets:
        return Sockets(node)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        node, peer, kind = event.node, event.peer, event.kind
        if node is None:
            return []
        if kind in (Kind.RESET, Kind.CRASH):
            deaf = event.payload or ()
            resets: list[MailOperation] = [(node, ("reset", deaf))]
            for other in nodes:
                if other != node:
                    resets.append((other, ("peer_reset", node, other in deaf)))
            return resets
        if peer is None:
            return []
        return self._of_pair(event, node, peer)

    def _of_pair(self, event: Event, node: NodeId, peer: NodeId) -> list[MailOperation]:
        kind = event.kind
        if kind is Kind.DELIVER and event.envelope is not None:
            taken: MailOperation = (node, ("take", event.envelope))
            return [taken] if node == peer else [taken, (peer, ("heard", node))]
        here, there = ("befall", peer, kind.value), ("befall_peer", node, kind.value)
        return [(node, here), (peer, there)]


def register_effect(kind: Kind, here: Effect, there: Effect) -> None:
    """Say what events of a kind that are about a connection do to it.

    Parameters
    ----------
    here, there
        Changes the link that the event's node has of it; and its peer's, so that each
        still mirrors the other.
    """
    _EFFECTS[kind.value] = here, there


_EFFECTS: dict[str, tuple[Effect, Effect]] = {}
"""What happens to a connection, by the kind of event: at the node, at its peer."""

register_effect(Kind.REFUSE, Link.refuse_here, Link.refuse_there)
register_effect(Kind.TRANSPORT_ERROR, Link.fail_here, Link.fail_there)
register_effect(Kind.DISCONNECT, Link.disconnect, Link.disconnect)


def streams(*, buffer: int | None = 20) -> Streams:
    """Make a network of connections, like TCP.

    Parameters
    ----------
    buffer
        How many messages a node can have under way to one peer before
        `Context.send` returns False and does not take the message; None means that
        it never refuses.
    """
    if buffer is not None and (type(buffer) is not int or buffer < 1):
        raise ModelError(
            f"streams(buffer={buffer!r}) can hold no message",
            remedy="give a positive number of messages, or None for no limit",
        )
    return Streams(buffer)


@final
@mailbox(unordered=True, shape="links")
class Sockets:
    """A mailbox of links, one for each peer that this node has to do with.

    Links that were restored are thawed when they are looked at: most operations concern
    one of them, and the others are then frozen as they are.
    """

    __slots__ = ("_at_rest", "_links", "node")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self._links: dict[NodeId, Link] = {}
        self._at_rest: dict[NodeId, Frozen] = {}

    @property
    def links(self) -> dict[NodeId, Link]:
        """All links, by peer."""
        if self._at_rest:
            for peer in list(self._at_rest):
                self._known(peer)
        return self._links

    def _known(self, peer: NodeId) -> Link | None:
        """Return the link with a peer; None if there is none."""
        at_rest = self._at_rest
        if not at_rest or peer not in at_rest:
            return self._links.get(peer)
        frozen: Any = at_rest.pop(peer)
        link = self._links[peer] = Link.thaw(frozen[2:])
        return link

    def connection(self, peer: NodeId) -> Link:
        link = self._known(peer)
        if link is None:
            link = self._links[peer] = Link()
        return link

    def put(self, envelope: Envelope) -> None:
        self.connection(envelope.src).queue.append(envelope)

    def take(self, envelope: Envelope) -> None:
        link = self.connection(envelope.src)
        link.queue.remove(envelope)
        if envelope.src != self.node:
            link.connect()

    def heard(self, peer: NodeId) -> None:
        """Learn that a message to `peer` has arrived there."""
        self.connection(peer).connect()

    def befall(self, peer: NodeId, kind: str) -> None:
        """Change the connection to `peer` as an event of a kind at this node does."""
        _EFFECTS[kind][0](self.connection(peer))

    def befall_peer(self, peer: NodeId, kind: str) -> None:
        """Change the connection to `peer` as an event of a kind at `peer` does."""
        _EFFECTS[kind][1](self.connection(peer))

    def sever(self, peers: frozenset[NodeId]) -> None:
        """Break the open connections with all of `peers`."""
        for peer, link in self.links.items():
            if peer in peers and link.is_whole():
                link.disconnect()

    def reset(self, deaf: tuple[NodeId, ...]) -> None:
        """Lose every connection of this node; `deaf` peers do not notice."""
        for peer, link in self.links.items():
            if peer == self.node:
                link.queue.clear()
            else:
                link.reset_here(silent=peer in deaf)

    def peer_reset(self, peer: NodeId, silent: bool) -> None:
        link = self._known(peer)
        if link is not None:
            link.reset_there(silent=silent)

    def forget(self, peer: NodeId) -> None:
        self.connection(peer).lose_sight()

    def is_ready(self, envelope: Envelope) -> bool:
        link = self._known(envelope.src)
        return (
            link is not None
            and bool(link.queue)
            and link.queue[0] == envelope
            and not (link.error_here or link.error_there or link.theirs == HALF)
        )

    def holds(self, src: NodeId) -> int:
        link = self._known(src)
        return len(link.queue) if link is not None else 0

    def envelopes(self) -> Iterator[Envelope]:
        for peer in sorted(self.links, key=BY_DECLARATION):
            yield from self.links[peer].queue

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        events: list[Event] = []
        for peer in sorted(self.links, key=BY_DECLARATION):
            link = self.links[peer]
            event = self._arrival(peer, link) if up else self._connect_error(peer, link)
            if event is not None:
                events.append(event)
        return events

    def _arrival(self, peer: NodeId, link: Link) -> Event | None:
        if link.error_here:
            return Event(Kind.TRANSPORT_ERROR, self.node, name=LOST, peer=peer)
        if not link.queue or link.error_there:
            return None
        kind = Kind.REFUSE if link.theirs == HALF else Kind.DELIVER
        return concerning(kind, self.node, link.queue[0])

    def _connect_error(self, peer: NodeId, link: Link) -> Event | None:
        if link.queue and not link.error_there and peer != self.node:
            return Event(Kind.TRANSPORT_ERROR, peer, name=UNREACHABLE, peer=self.node)
        return None

    def befallen(self, kind: Kind) -> list[Envelope]:
        return []

    def silent_peers(self) -> list[NodeId]:
        return [
            p
            for p in sorted(self.links, key=BY_DECLARATION)
            if self.links[p].would_notify()
        ]

    def breakable(self) -> list[NodeId]:
        return [
            p
            for p in sorted(self.links, key=BY_DECLARATION)
            if self.links[p].is_whole()
        ]

    def connections(self) -> Mapping[NodeId, Link]:
        return self.links

    def freeze(self) -> Frozen:
        links, at_rest = self._links, self._at_rest
        frozen: list[Frozen] = [Sockets]
        for peer in sorted((*links, *at_rest), key=BY_DECLARATION):
            link = links.get(peer)
            if link is None:
                frozen.append(at_rest[peer])
            elif not link.is_idle():
                frozen.append((TUPLE, peer, *link.freeze()))
        return tuple(frozen)

    def restore(self, frozen: Frozen) -> None:
        self._links = {}
        self._at_rest = {item[1]: item for item in frozen[1:]}

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Frozen, int]]:
        return [(link, 1) for link in frozen[1:]]

    @staticmethod
    def join(pairs: list[tuple[Frozen, int]]) -> Frozen:
        return (Sockets, *[link for link, _ in pairs])

    @staticmethod
    def peer(link: Frozen) -> NodeId:
        peer: NodeId = link[1]
        return peer

    @staticmethod
    def messages(link: Frozen) -> int:
        return len(link[-1]) - 1

    @staticmethod
    def aspect(link: Frozen) -> tuple[Any, ...] | None:
        one = Link.thaw(link[2:])
        if one.is_whole() or one.would_notify():
            return link[1], one.is_whole(), one.would_notify(), one.is_blind
        return None

    @staticmethod
    def concerned(operation: tuple[Any, ...]) -> NodeId | None:
        name, first = operation[:2]
        if name in ("reset", "sever"):
            return None
        peer: NodeId = first.src if name in ("put", "take") else first
        return peer

    def is_as_restored(self) -> bool:
        """Say whether nothing was looked at since it was restored."""
        return not self._links
