"""Datagrams: each message for itself, perhaps lost, doubled or overtaken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.data.content import TUPLE, Frozen, order_key
from worldline.model.data.identity import BY_DECLARATION, NodeId
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.mailbox import (
    Capability,
    MailOperation,
    Unconnected,
    mailbox,
)


@final
@dataclass(frozen=True, slots=True)
class Datagrams:
    """The network made by `datagrams`."""

    loss: bool
    duplication: bool
    reordering: bool
    name: str = "datagrams"
    buffer: None = None

    @property
    def capabilities(self) -> frozenset[Capability]:
        able = {
            Capability.DROP: self.loss,
            Capability.DUPLICATE: self.duplication,
            Capability.ORDERED: not self.reordering,
            Capability.LOST_WHEN_DOWN: True,
        }
        return frozenset(capability for capability, has in able.items() if has)

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Bag | Queues:
        return Bag(node) if self.reordering else Queues(node)

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        return envelope_operations(event)


def datagrams(
    *, loss: bool = True, duplication: bool = True, reordering: bool = True
) -> Datagrams:
    """Make a network of datagrams, like UDP.

    Parameters
    ----------
    loss, duplication
        Whether messages can be lost or doubled on their way; how often is said by
        `Faults`. What arrives at a node that is down is lost in any case.
    reordering
        Whether a message can overtake another of the same sender; without it,
        messages between each pair of nodes arrive in order.
    """
    options = {"loss": loss, "duplication": duplication, "reordering": reordering}
    for name, value in options.items():
        if not isinstance(value, bool):
            raise ModelError(
                f"datagrams({name}={value!r}) is neither True nor False",
                remedy="say whether it can happen; how often is said by wl.Faults(...)",
            )
    return Datagrams(loss, duplication, reordering)


def envelope_operations(event: Event) -> list[MailOperation]:
    """Return the operations of the events that concern one message alone."""
    if event.node is None or event.envelope is None:
        return []
    if event.kind.takes_message:
        return [(event.node, ("take", event.envelope))]
    if event.kind.doubles_message:
        return [(event.node, ("copy", event.envelope))]
    return []


def delivery(node: NodeId, envelope: Envelope) -> Event:
    """Return the event that delivers an envelope at `node`."""
    return concerning(Kind.DELIVER, node, envelope)


def concerning(kind: Kind, node: NodeId, envelope: Envelope) -> Event:
    """Return the event of a kind that befalls an envelope under way to `node`."""
    return Event(
        kind,
        node,
        part=envelope.part,
        name=type(envelope.message).__name__,
        peer=envelope.src,
        payload=envelope.message,
        envelope=envelope,
    )


def incoming(
    node: NodeId, envelopes: list[Envelope], *, up: bool, returns: bool
) -> list[Event]:
    """Return what becomes of the envelopes that arrive next at `node`.

    Where it is down for good, and no property looks at messages, they stay: whether they
    are lost makes no difference then, and a state more for each would be waste.
    """
    if not (up or returns):
        return []
    kind = Kind.DELIVER if up else Kind.REFUSE
    return [concerning(kind, node, envelope) for envelope in envelopes]


def in_envelope_order(envelopes: list[Envelope]) -> list[Envelope]:
    """Sort envelopes canonically: by sender, then by content."""
    if len(envelopes) < 2:
        return envelopes
    return sorted(envelopes, key=order_key)


@final
@mailbox(unordered=True, shape="bag")
class Bag(Unconnected):
    """A mailbox from which any message may come next: a multiset."""

    __slots__ = ("counts", "node")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.counts: dict[Envelope, int] = {}

    def put(self, envelope: Envelope) -> None:
        self.counts[envelope] = self.counts.get(envelope, 0) + 1

    copy = put

    def take(self, envelope: Envelope) -> None:
        left = self.counts.pop(envelope) - 1
        if left:
            self.counts[envelope] = left

    def forget(self, peer: NodeId) -> None:
        self.counts = {one: n for one, n in self.counts.items() if one.src != peer}

    def is_ready(self, envelope: Envelope) -> bool:
        return envelope in self.counts

    def holds(self, src: NodeId) -> int:
        return sum(n for envelope, n in self.counts.items() if envelope.src == src)

    def envelopes(self) -> Iterator[Envelope]:
        for envelope in self.losable():
            for _ in range(self.counts[envelope]):
                yield envelope

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        return incoming(self.node, self.losable(), up=up, returns=returns)

    def losable(self) -> list[Envelope]:
        return in_envelope_order(list(self.counts))

    def befallen(self, kind: Kind) -> list[Envelope]:
        return self.losable()

    def freeze(self) -> Frozen:
        return (
            Bag,
            *[(TUPLE, envelope, self.counts[envelope]) for envelope in self.losable()],
        )

    def restore(self, frozen: Frozen) -> None:
        self.counts = {item[1]: item[2] for item in frozen[1:]}

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Envelope, int]]:
        """Return the envelopes of a frozen mailbox with their counts."""
        return [(item[1], item[2]) for item in frozen[1:]]

    @staticmethod
    def join(pairs: list[tuple[Envelope, int]]) -> Frozen:
        """Freeze a mailbox that holds envelopes with their counts."""
        ordered = sorted(pairs, key=lambda pair: order_key(pair[0]))
        return (Bag, *[(TUPLE, envelope, count) for envelope, count in ordered])


@final
@mailbox(unordered=True, shape="queues")
class Queues(Unconnected):
    """A mailbox with one queue per sender: only its head can come next.

    Attributes
    ----------
    queues
        By the name of the sender, which Python hashes faster than the id; none is empty.
    """

    __slots__ = ("node", "queues")

    def __init__(self, node: NodeId) -> None:
        self.node = node
        self.queues: dict[str, list[Envelope]] = {}

    def put(self, envelope: Envelope) -> None:
        queue = self.queues.get(envelope.src.name)
        if queue is None:
            self.queues[envelope.src.name] = [envelope]
        else:
            queue.append(envelope)

    def copy(self, envelope: Envelope) -> None:
        self.queues[envelope.src.name].insert(0, envelope)

    def take(self, envelope: Envelope) -> None:
        queue = self.queues[envelope.src.name]
        queue.remove(envelope)
        if not queue:
            del self.queues[envelope.src.name]

    def forget(self, peer: NodeId) -> None:
        self.queues.pop(peer.name, None)

    def is_ready(self, envelope: Envelope) -> bool:
        queue = self.queues.get(envelope.src.name)
        # The operator asks the envelopes even if they are one.
        return queue is not None and (queue[0] is envelope or queue[0] == envelope)

    def holds(self, src: NodeId) -> int:
        return len(self.queues.get(src.name, ()))

    def envelopes(self) -> Iterator[Envelope]:
        for queue in self._in_order():
            yield from queue

    def _in_order(self) -> list[list[Envelope]]:
        return sorted(self.queues.values(), key=lambda queue: queue[0].src.index)

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        return incoming(self.node, self.losable(), up=up, returns=returns)

    def losable(self) -> list[Envelope]:
        return [queue[0] for queue in self._in_order()]

    def befallen(self, kind: Kind) -> list[Envelope]:
        return self.losable()

    def freeze(self) -> Frozen:
        return (
            Queues,
            *[(TUPLE, queue[0].src, *queue) for queue in self._in_order()],
        )

    def restore(self, frozen: Frozen) -> None:
        self.queues = {item[1].name: list(item[2:]) for item in frozen[1:]}

    @staticmethod
    def split(frozen: Frozen) -> list[tuple[Envelope, int]]:
        """Return the envelopes of a frozen mailbox with their places in its queues."""
        return [
            (envelope, place)
            for item in frozen[1:]
            for place, envelope in enumerate(item[2:], start=1)
        ]

    @staticmethod
    def join(pairs: list[tuple[Envelope, int]]) -> Frozen:
        """Freeze a mailbox that holds envelopes; those of a sender are in order."""
        queues: dict[NodeId, list[Envelope]] = {}
        for envelope, _ in pairs:
            queues.setdefault(envelope.src, []).append(envelope)
        return (
            Queues,
            *[(TUPLE, src, *queues[src]) for src in sorted(queues, key=BY_DECLARATION)],
        )
