"""What is under way in the whole system, for each kind of network.

One plain list or dict per system, not a mailbox per node: nothing is mirrored, so a
mistake in the mirroring of the real networks shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import worldline as wl
from worldline.model.data.content import order_key
from worldline.model.data.values import freeze
from worldline.model.events import LOST, UNREACHABLE
from worldline.model.network.datagrams import Datagrams
from worldline.model.network.mailbox import Network
from worldline.model.network.message_set import MessageSet
from worldline.model.network.networks import Networks
from worldline.model.network.streams import Streams

Pair = tuple[wl.NodeId, wl.NodeId]
CLOSED, OPEN, HALF = "closed", "open", "half open"
TAKING = (wl.Kind.DELIVER, wl.Kind.REFUSE, wl.Kind.DROP)
"""Kinds of events that take a datagram out of the network."""


class Parcel:
    """A message under way; immutable, so copies of a state share it."""

    def __init__(self, src: wl.NodeId, dst: wl.NodeId, part: str, message: Any) -> None:
        self.src, self.dst, self.part, self.message = src, dst, part, message
        self.key = (src, dst, part, freeze(message))
        self.event_parts = {
            "part": part,
            "name": type(message).__name__,
            "peer": src,
            "payload": message,
        }

    def __deepcopy__(self, memo: object) -> Parcel:
        return self

    @property
    def order(self) -> Any:
        src, _, part, content = self.key
        return order_key(src), part, order_key(content)

    def as_event(self, kind: wl.Kind) -> wl.Event:
        return wl.Event(kind, self.dst, **self.event_parts)


def key_of(event: wl.Event) -> Any:
    """The key of the parcel that an event is about."""
    return (event.peer, event.node, event.part, freeze(event.payload))


class Wire:
    """A network without connections and without faults."""

    def __init__(self, nodes: tuple[wl.NodeId, ...]) -> None:
        self.nodes = nodes

    def send(self, parcel: Parcel) -> None:
        raise NotImplementedError

    def losable(self, node: wl.NodeId) -> list[Parcel]:
        """The parcels for `node` that can arrive, be lost or be doubled next."""
        raise NotImplementedError

    def parcels(self, node: wl.NodeId) -> list[Parcel]:
        """All parcels for `node`, in canonical order."""
        raise NotImplementedError

    def arrivals(self, node: wl.NodeId, *, up: bool) -> list[wl.Event]:
        kind = wl.Kind.DELIVER
        return [parcel.as_event(kind) for parcel in self.losable(node)] if up else []

    def next(self, node: wl.NodeId, *, up: bool, returns: bool) -> list[wl.Event]:
        """What can come of what is under way to a node."""
        return self.arrivals(node, up=up) + (self.missed(node) if returns else [])

    def struck(self, node: wl.NodeId, kind: wl.Kind) -> list[Parcel]:
        """The parcels for `node` that a fault can hit next."""
        return self.losable(node)

    def keeps(self, part: str, message: Any) -> bool:
        """Whether a message stays when it was delivered."""
        return False

    def missed(self, node: wl.NodeId) -> list[wl.Event]:
        """What is lost for a node that crashed and may start again."""
        return [parcel.as_event(wl.Kind.REFUSE) for parcel in self.losable(node)]

    def happen(self, event: wl.Event) -> None:
        """Do to the network what an event does before its handler."""

    def sever(self, side: frozenset[wl.NodeId]) -> None:
        """Break the open connections between `side` and the rest."""

    def is_full(self, parcel: Parcel) -> bool:
        """Whether the sender's buffer has no room for a parcel."""
        return False

    def breakable(self, node: wl.NodeId) -> list[wl.NodeId]:
        return []

    def deaf_candidates(self, node: wl.NodeId) -> list[wl.NodeId]:
        return []

    def connections(self) -> dict[Pair, Any]:
        return {}

    def describe(self) -> tuple[dict[Pair, Any], dict[Pair, Any]]:
        """What is under way by (source, destination), and the connections."""
        flight: dict[Pair, Any] = {}
        for node in self.nodes:
            for parcel in self.parcels(node):
                known = flight.get((parcel.src, node), ())
                flight[parcel.src, node] = (*known, (parcel.part, parcel.key[3]))
        return flight, self.connections()


class Multiset(Wire):
    """Datagrams that overtake each other."""

    def __init__(self, nodes: tuple[wl.NodeId, ...]) -> None:
        super().__init__(nodes)
        self.under_way: list[Parcel] = []

    def send(self, parcel: Parcel) -> None:
        self.under_way.append(parcel)

    def parcels(self, node: wl.NodeId) -> list[Parcel]:
        mine = [parcel for parcel in self.under_way if parcel.dst == node]
        return sorted(mine, key=lambda parcel: parcel.order)

    def losable(self, node: wl.NodeId) -> list[Parcel]:
        return list({parcel.key: parcel for parcel in self.parcels(node)}.values())

    def happen(self, event: wl.Event) -> None:
        if event.kind not in (*TAKING, wl.Kind.DUPLICATE):
            return
        wanted = key_of(event)
        found = next(p for p in self.under_way if p.key == wanted)
        if event.kind is wl.Kind.DUPLICATE:
            self.under_way.append(found)
        else:
            self.under_way.remove(found)


class Forever(Multiset):
    """A message set: delivery does not remove, sending again adds nothing."""

    def keeps(self, part: str, message: Any) -> bool:
        return True

    def send(self, parcel: Parcel) -> None:
        if all(parcel.key != known.key for known in self.under_way):
            self.under_way.append(parcel)

    def missed(self, node: wl.NodeId) -> list[wl.Event]:
        return []

    def happen(self, event: wl.Event) -> None:
        """Nothing is ever removed."""


class Fifo(Wire):
    """Datagrams in order: one queue for each ordered pair."""

    def __init__(self, nodes: tuple[wl.NodeId, ...]) -> None:
        super().__init__(nodes)
        self.queues: dict[Pair, list[Parcel]] = {}

    def queues_to(self, node: wl.NodeId) -> Iterator[list[Parcel]]:
        for src in sorted(self.nodes):
            if self.queues.get((src, node)):
                yield self.queues[src, node]

    def send(self, parcel: Parcel) -> None:
        self.queues.setdefault((parcel.src, parcel.dst), []).append(parcel)

    def parcels(self, node: wl.NodeId) -> list[Parcel]:
        return [parcel for queue in self.queues_to(node) for parcel in queue]

    def losable(self, node: wl.NodeId) -> list[Parcel]:
        return [queue[0] for queue in self.queues_to(node)]

    def happen(self, event: wl.Event) -> None:
        if event.kind in TAKING:
            self.pop(event)
        elif event.kind is wl.Kind.DUPLICATE:
            queue = self.queues[event.peer, event.node]  # type: ignore[index]
            queue.insert(0, queue[0])

    def pop(self, event: wl.Event) -> None:
        first = self.queues[event.peer, event.node].pop(0)  # type: ignore[index]
        assert first.key == key_of(event)


class Connected(Fifo):
    """Streams: queues, and what each end of a pair believes of its connection.

    ``belief[i, j]`` is i's view of its connection to j; ``error[i, j]`` says that an
    error about j is under way to i. In the words of MaceMC's SimulatorTCP: ``open``
    and ``remoteErr`` of i about j; ``localErr`` is the other end's ``remoteErr``.
    """

    def __init__(self, nodes: tuple[wl.NodeId, ...], buffer: int | None) -> None:
        super().__init__(nodes)
        self.buffer = buffer
        pairs = [(i, j) for i in nodes for j in nodes]
        self.belief = dict.fromkeys(pairs, CLOSED)
        self.error = dict.fromkeys(pairs, False)

    def missed(self, node: wl.NodeId) -> list[wl.Event]:
        return []

    def arrivals(self, node: wl.NodeId, *, up: bool) -> list[wl.Event]:
        found = [self.arrival(node, peer, up=up) for peer in sorted(self.nodes)]
        return [event for event in found if event is not None]

    def arrival(self, node: wl.NodeId, peer: wl.NodeId, *, up: bool) -> wl.Event | None:
        if up and self.error[node, peer]:
            return wl.Event(wl.Kind.TRANSPORT_ERROR, node, name=LOST, peer=peer)
        queue = self.queues.get((peer, node))
        if not queue or self.error[peer, node]:
            return None
        if not up:
            kind = wl.Kind.TRANSPORT_ERROR
            return wl.Event(kind, peer, name=UNREACHABLE, peer=node)
        if self.belief[peer, node] == HALF:
            return queue[0].as_event(wl.Kind.REFUSE)
        return queue[0].as_event(wl.Kind.DELIVER)

    def happen(self, event: wl.Event) -> None:
        node, peer = event.node, event.peer
        if event.kind in (wl.Kind.RESET, wl.Kind.CRASH) and node is not None:
            self.forget(node, event.payload or ())
        if node is None or peer is None:
            return
        if event.kind is wl.Kind.DELIVER:
            self.pop(event)
            self.connect(node, peer)
        elif event.kind is wl.Kind.REFUSE:
            self.queues[peer, node].clear()
            self.error[peer, node] = True
        elif event.kind is wl.Kind.TRANSPORT_ERROR:
            self.error[node, peer] = False
            self.belief[node, peer] = CLOSED
            self.queues.pop((node, peer), None)
        elif event.kind is wl.Kind.DISCONNECT:
            self.error[node, peer] = self.error[peer, node] = True

    def connect(self, node: wl.NodeId, peer: wl.NodeId) -> None:
        for pair in {(node, peer), (peer, node)} if node != peer else ():
            if self.belief[pair] == CLOSED:
                self.belief[pair] = OPEN

    def forget(self, node: wl.NodeId, deaf: tuple[wl.NodeId, ...]) -> None:
        """Lose what a node has sent and its connections; who is not deaf is told."""
        connected = self.deaf_candidates(node)
        for peer in self.nodes:
            self.queues.pop((node, peer), None)
            if peer in deaf:
                if self.belief[peer, node] == OPEN:
                    self.belief[peer, node] = HALF
            elif peer in connected:
                self.error[peer, node] = True
            self.error[node, peer] = False
            self.belief[node, peer] = CLOSED

    def deaf_candidates(self, node: wl.NodeId) -> list[wl.NodeId]:
        """The peers to which a reset would send an error.

        One end has a connection, and no error about it is under way to that end; nor
        one to the peer, which would not need another.
        """
        pairs = [((node, peer), (peer, node)) for peer in sorted(self.nodes)]
        return [
            there[0]
            for here, there in pairs
            if not self.error[there]
            and any(self.belief[p] == OPEN and not self.error[p] for p in (here, there))
        ]

    def is_whole(self, one: wl.NodeId, other: wl.NodeId) -> bool:
        pairs = ((one, other), (other, one))
        return all(self.belief[p] == OPEN and not self.error[p] for p in pairs)

    def breakable(self, node: wl.NodeId) -> list[wl.NodeId]:
        return [peer for peer in sorted(self.nodes) if self.is_whole(node, peer)]

    def sever(self, side: frozenset[wl.NodeId]) -> None:
        for one in self.nodes:
            for other in self.nodes:
                if one in side and other not in side and self.is_whole(one, other):
                    self.error[one, other] = self.error[other, one] = True

    def is_full(self, parcel: Parcel) -> bool:
        held = len(self.queues.get((parcel.src, parcel.dst), ()))
        return self.buffer is not None and held >= self.buffer

    def connections(self) -> dict[Pair, Any]:
        return {
            pair: (self.belief[pair], self.error[pair])
            for pair in self.belief
            if self.belief[pair] != CLOSED or self.error[pair]
        }


class Several(Wire):
    """A wire for each entry of what was declared, and one for the rest."""

    def __init__(self, network: Networks, nodes: tuple[wl.NodeId, ...]) -> None:
        super().__init__(nodes)
        declared = [*network.carried, ((), network.otherwise)]
        self.wires = [(keys, one, wire(one, nodes)) for keys, one in declared]

    def of(self, part: str, message: Any) -> Wire:
        """The wire that a message takes."""
        for keys, _, one in self.wires:
            if part in keys or type(message) in keys:
                return one
        return self.wires[-1][2]

    def send(self, parcel: Parcel) -> None:
        self.of(parcel.part, parcel.message).send(parcel)

    def keeps(self, part: str, message: Any) -> bool:
        return self.of(part, message).keeps(part, message)

    def is_full(self, parcel: Parcel) -> bool:
        return self.of(parcel.part, parcel.message).is_full(parcel)

    def parcels(self, node: wl.NodeId) -> list[Parcel]:
        return [parcel for *_, one in self.wires for parcel in one.parcels(node)]

    def next(self, node: wl.NodeId, *, up: bool, returns: bool) -> list[wl.Event]:
        found = [one.next(node, up=up, returns=returns) for *_, one in self.wires]
        return [event for events in found for event in events]

    def struck(self, node: wl.NodeId, kind: wl.Kind) -> list[Parcel]:
        word = "loss" if kind is wl.Kind.DROP else "duplication"
        return [
            parcel
            for _, network, one in self.wires
            if getattr(network, word, False)
            for parcel in one.losable(node)
        ]

    def happen(self, event: wl.Event) -> None:
        if event.kind in (*TAKING, wl.Kind.DUPLICATE):
            self.of(event.part, event.payload).happen(event)
        else:
            for *_, one in self.wires:
                one.happen(event)

    def sever(self, side: frozenset[wl.NodeId]) -> None:
        for *_, one in self.wires:
            one.sever(side)

    def breakable(self, node: wl.NodeId) -> list[wl.NodeId]:
        return [peer for *_, one in self.wires for peer in one.breakable(node)]

    def deaf_candidates(self, node: wl.NodeId) -> list[wl.NodeId]:
        return [peer for *_, one in self.wires for peer in one.deaf_candidates(node)]

    def connections(self) -> dict[Pair, Any]:
        found = [one.connections() for *_, one in self.wires]
        return {pair: state for known in found for pair, state in known.items()}


def wire_of(system: wl.System) -> Wire:
    """The empty network of a system."""
    return wire(system.network, system.ids)


def wire(network: Network, nodes: tuple[wl.NodeId, ...]) -> Wire:
    """A network with nothing on its way."""
    if isinstance(network, Networks):
        return Several(network, nodes)
    if isinstance(network, Streams):
        return Connected(nodes, network.buffer)
    if isinstance(network, MessageSet):
        return Forever(nodes)
    assert isinstance(network, Datagrams)
    return Multiset(nodes) if network.reordering else Fifo(nodes)
