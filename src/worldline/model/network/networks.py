"""Several networks at once: one for each message class or part that is named.

A mailbox has a compartment for each of them. Each question about one message is asked
of the network that carries it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.model.arguments import named
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, is_message_class
from worldline.model.network.link import Link
from worldline.model.network.mailbox import (
    Capability,
    Mailbox,
    MailOperation,
    Network,
    mailbox,
    permits,
)

NetworkKey: TypeAlias = type | str
"""What is carried: a message class, or the path of the part that sends."""


@final
@dataclass(frozen=True)
class Networks:
    """The network made by `networks`.

    Attributes
    ----------
    carried
        What is named, and the network that carries it.
    otherwise
        The network of all other messages, the last of `members`.
    """

    carried: tuple[tuple[tuple[NetworkKey, ...], Network], ...]
    otherwise: Network
    name: str = "networks"

    @functools.cached_property
    def members(self) -> tuple[Network, ...]:
        return (*(network for _, network in self.carried), self.otherwise)

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """What each member carries, in words."""
        return (*(", ".join(map(label, keys)) for keys, _ in self.carried), "otherwise")

    @functools.cached_property
    def capabilities(self) -> frozenset[Capability]:
        """What some member may do, or knows."""
        return frozenset().union(*(member.capabilities for member in self.members))

    @functools.cached_property
    def buffer(self) -> int | None:
        """The send buffer of the one member that has any."""
        return next((m.buffer for m in self.members if m.buffer is not None), None)

    @functools.cached_property
    def _numbers(self) -> dict[NetworkKey, int]:
        return {
            key: number for number, (keys, _) in enumerate(self.carried) for key in keys
        }

    def number(self, part: str, message: type) -> int:
        """Return which member carries a class of messages that a part sends."""
        numbers = self._numbers
        return numbers.get(message, numbers.get(part, len(self.carried)))

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Compartments:
        boxes = [member.mailbox(node, nodes) for member in self.members]
        return Compartments(self, tuple(boxes))

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        concerned = range(len(self.members))
        if event.envelope is not None:
            number = self.number(event.part, type(event.payload))
            concerned = concerned[number : number + 1]
        return [
            (node, ("within", number, *operation))
            for number in concerned
            for node, operation in self.members[number].operations(event, nodes)
        ]


def networks(
    carried: Mapping[NetworkKey | tuple[NetworkKey, ...], Network],
    *,
    otherwise: Network,
) -> Networks:
    """Make a network of several, such as TCP and UDP at once.

    Parameters
    ----------
    carried
        The network of what is named: of a message class, or of all that a part sends,
        by its path (``"transport"``; the node itself is ``""``). A tuple of these
        shares one network; each entry is a network of its own. At most one of all has
        connections or a send buffer, since these are of a pair of nodes.
    otherwise
        The network of all other messages.

    Raises
    ------
    ModelError
        If something is named twice, or is no network, message class or path. That
        what is named is sent is checked by `System`.

    Examples
    --------
    >>> from worldline.model.message import message
    >>> from worldline.model.network import datagrams, streams
    >>> @message
    ... class Ping:
    ...     number: int
    >>> networks({Ping: datagrams()}, otherwise=streams(buffer=20)).labels
    ('Ping', 'otherwise')
    """
    _check_carried(carried)
    entries: list[tuple[tuple[NetworkKey, ...], Network]] = []
    for given, network in carried.items():
        keys = given if isinstance(given, tuple) else (given,)
        for key in keys:
            _check_key(key, [key for one, _ in entries for key in one])
        if len(set(keys)) < max(len(keys), 1):
            raise ModelError(
                f"wl.networks(...) has the entry ({', '.join(map(label, keys))})",
                remedy="name each message class and part in it once",
            )
        _check_member(network, ", ".join(map(label, keys)))
        entries.append((keys, network))
    _check_member(otherwise, "otherwise")
    made = Networks(tuple(entries), otherwise)
    _check_pairs(made)
    return made


def label(key: NetworkKey) -> str:
    """Return what is named, in words."""
    if isinstance(key, str):
        return f"part {key}" if key else "the node itself"
    return key.__qualname__


def number_of(network: Network, part: str, message: type) -> int:
    """Return the number of the member that carries a class of messages of a part."""
    return network.number(part, message) if isinstance(network, Networks) else 0


def members_of(network: Network) -> tuple[Network, ...]:
    """Return the networks that a network is made of: itself, if not of several."""
    return network.members if isinstance(network, Networks) else (network,)


def carrier(network: Network, part: str, message: type) -> Network:
    """Return the network that carries a class of messages of a part."""
    return members_of(network)[number_of(network, part, message)]


def _check_carried(carried: object) -> None:
    if not isinstance(carried, Mapping) or not carried:
        raise ModelError(
            f"wl.networks({named(carried)}) names no message",
            remedy="write wl.networks({Ping: wl.datagrams()}, otherwise=wl.streams())",
        )


def _check_key(key: object, keys: list[NetworkKey]) -> None:
    if not (isinstance(key, str) or is_message_class(key)):
        raise ModelError(
            f"wl.networks(...) names {named(key)}, which is no message class",
            remedy="name classes made with @wl.message, or parts by their paths",
        )
    if key in keys:
        raise ModelError(
            f"wl.networks(...) names {label(key)} twice",
            remedy="leave it in one of its entries",
        )


def _check_member(network: object, words: str) -> None:
    if isinstance(network, Networks | type) or not hasattr(network, "capabilities"):
        raise ModelError(
            f"wl.networks(...) has {named(network)} for {words}",
            remedy="write wl.datagrams(), wl.streams(...) or wl.message_set()",
        )


def _check_pairs(made: Networks) -> None:
    paired = [
        words
        for words, member in zip(made.labels, made.members, strict=True)
        if Capability.DISCONNECT in member.capabilities or member.buffer is not None
    ]
    if len(paired) > 1:
        raise ModelError(
            "wl.networks(...) has two networks with connections or send buffers, "
            f"{paired[0]} and {paired[1]}: two nodes would have two connections",
            remedy="let them share one: {(A, 'part'): wl.streams()}",
        )


@final
@mailbox(unordered=False)
class Compartments:
    """A mailbox with one for each of several networks."""

    __slots__ = ("_network", "boxes")

    def __init__(self, network: Networks, boxes: tuple[Mailbox, ...]) -> None:
        self._network = network
        self.boxes = boxes

    def within(self, number: int, operation: str, *arguments: object) -> None:
        """Apply an operation to the mailbox of one member."""
        getattr(self.boxes[number], operation)(*arguments)

    def put(self, envelope: Envelope) -> None:
        self._box(envelope).put(envelope)

    def take(self, envelope: Envelope) -> None:
        self._box(envelope).take(envelope)

    def sever(self, peers: frozenset[NodeId]) -> None:
        """Break the open connections with all of `peers`."""
        for member, box in zip(self._network.members, self.boxes, strict=True):
            if Capability.DISCONNECT in member.capabilities:
                box.sever(peers)  # type: ignore[attr-defined]

    def forget(self, peer: NodeId) -> None:
        for box in self.boxes:
            box.forget(peer)

    def is_ready(self, envelope: Envelope) -> bool:
        return self._box(envelope).is_ready(envelope)

    def holds(self, src: NodeId) -> int:
        """Count the messages from `src` that take up room in its send buffer."""
        members = self._network.members
        return sum(
            box.holds(src)
            for member, box in zip(members, self.boxes, strict=True)
            if member.buffer is not None
        )

    def envelopes(self) -> Iterator[Envelope]:
        for box in self.boxes:
            yield from box.envelopes()

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        return [
            event
            for box in self.boxes
            for event in box.arrivals(up=up, returns=returns)
        ]

    def befallen(self, kind: Kind) -> list[Envelope]:
        return [
            envelope
            for member, box in zip(self._network.members, self.boxes, strict=True)
            if permits(member, kind.budgets[0])
            for envelope in box.befallen(kind)
        ]

    def silent_peers(self) -> list[NodeId]:
        return [peer for box in self.boxes for peer in box.silent_peers()]

    def breakable(self) -> list[NodeId]:
        return [peer for box in self.boxes for peer in box.breakable()]

    def connections(self) -> Mapping[NodeId, Link]:
        return {
            peer: link for box in self.boxes for peer, link in box.connections().items()
        }

    def connection(self, peer: NodeId) -> Link | None:
        connections = (box.connection(peer) for box in self.boxes)
        return next((link for link in connections if link is not None), None)

    def freeze(self) -> Frozen:
        return (Compartments, *[box.freeze() for box in self.boxes])

    def restore(self, frozen: Frozen) -> None:
        for box, inner in zip(self.boxes, frozen[1:], strict=True):
            box.restore(inner)

    def _box(self, envelope: Envelope) -> Mailbox:
        number = self._network.number(envelope.part, type(envelope.message))
        return self.boxes[number]
