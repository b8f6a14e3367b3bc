"""The interface of networks to the rest of the model.

All that is under way to one node, with the state of its connections, sits in that
node's *mailbox*: a cell with named operations. What two mailboxes must both know is
kept in both, so that every operation and every question concerns one mailbox alone.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from worldline.model.data.content import UNORDERED, Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import CONNECTION_FAULTS, Kind
from worldline.model.message import Envelope
from worldline.model.network.link import Link

C = TypeVar("C")

MailOperation: TypeAlias = tuple[NodeId, tuple[Any, ...]]
"""A node whose mailbox is concerned, and the operation: method name, arguments."""


class Capability(enum.Enum):
    """A capability of a network: what it may do to messages, or knows about nodes."""

    DROP = "drops"
    DUPLICATE = "duplicates"
    DISCONNECT = "connection_errors"
    SILENT_RESET = "silent_resets"
    HOLDS_FOR_EVER = "message set"
    ORDERED = "ordered"
    LOST_WHEN_DOWN = "lost when down"


MailboxShape: TypeAlias = Literal["bag", "set", "queues", "links"]
"""A mailbox that is nothing but envelopes, with counts, without, or in queues; or links.

Its operations are `put`, `take` and `copy` alone, and what arrives depends on each
envelope that can arrive next for itself. It has the static methods `split` and `join`
between frozen values and envelopes, so that the kernel can work it out by itself.

Links are frozen one by one, in order of peers. Each operation changes the link with one
peer, or each for itself; so does what arrives depend on each for itself, at most one
event. Such a mailbox has besides these the static methods `peer` and `messages`, the
other end of a link and how many messages are under way on it; `aspect`, all of a link
that `breakable`, `silent_peers` and `connections` tell a node's own events, None if that
is nothing; and `concerned`, the peer whose link alone an operation changes, or None.
"""

SHAPES: dict[type, MailboxShape | None] = {}
"""The shape of each class of mailboxes that was declared."""


def mailbox(
    *, unordered: bool, shape: MailboxShape | None = None
) -> Callable[[type[C]], type[C]]:
    """Declare a class of mailboxes: how its frozen values are made.

    Parameters
    ----------
    unordered
        Whether the items of a frozen value are in canonical order and have no other,
        so that they are sorted again after nodes were renamed.
    shape
        What it is made of, if that is nothing but envelopes.
    """

    def declare(cls: type[C]) -> type[C]:
        if unordered:
            UNORDERED.add(cls)
        SHAPES[cls] = shape
        return cls

    return declare


class Mailbox(Protocol):
    """The cell that holds what is under way to one node.

    Its class is declared with `mailbox`.
    """

    def put(self, envelope: Envelope) -> None:
        """Add a message that was sent."""

    def take(self, envelope: Envelope) -> None:
        """Remove a message that is delivered or dropped."""

    def forget(self, peer: NodeId) -> None:
        """Know nothing any more of what is under way from a node, which is absent."""

    def is_ready(self, envelope: Envelope) -> bool:
        """Say whether a message can be delivered next, if the node is up."""

    def holds(self, src: NodeId) -> int:
        """Count the messages under way from `src`."""

    def envelopes(self) -> Iterator[Envelope]:
        """Iterate over all messages under way, in canonical order."""

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        """Return what the network can bring about here now, in canonical order.

        Parameters
        ----------
        up
            Whether the node takes part; a node that does not receives nothing.
        returns
            Whether it crashed and may start again: what arrives meanwhile is lost.
            Never true of a network without `Capability.LOST_WHEN_DOWN`.
        """

    def befallen(self, kind: Kind) -> list[Envelope]:
        """Return the messages that a fault of a kind may befall, in canonical order."""

    def silent_peers(self) -> list[NodeId]:
        """Return the peers that could fail to notice a reset of this node."""

    def breakable(self) -> list[NodeId]:
        """Return the peers whose connection with this node could break."""

    def connections(self) -> Mapping[NodeId, Link]:
        """Return the connections of this node, by the other end."""

    def connection(self, peer: NodeId) -> Link | None:
        """Return the connection with `peer`, made if it is new; None if there are none."""

    def freeze(self) -> Frozen: ...
    def restore(self, frozen: Frozen) -> None: ...


class Unconnected:
    """The base of mailboxes without connections."""

    __slots__ = ()

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        return []

    def connections(self) -> Mapping[NodeId, Link]:
        return {}

    def connection(self, peer: NodeId) -> Link | None:
        return None


class Network(Protocol):
    """The description of a network, a value."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> frozenset[Capability]: ...
    @property
    def buffer(self) -> int | None:
        """Messages a sender may have under way to one peer; None: no limit."""

    def mailbox(self, node: NodeId, nodes: tuple[NodeId, ...]) -> Mailbox:
        """Return the empty mailbox of a node."""

    def operations(
        self, event: Event, nodes: tuple[NodeId, ...]
    ) -> list[MailOperation]:
        """Return what an event does to mailboxes before its handler runs."""


def permits(network: Network, fault: str) -> bool:
    """Say whether a fault, by its name in `Faults`, can happen on a network.

    Faults that no network has to know of, such as crashes, can happen on all; those
    that befall a connection only where there are connections that can break.
    """
    needs = {capability.value: capability for capability in Capability}
    if any(fault in kind.budgets for kind in CONNECTION_FAULTS):
        needs.setdefault(fault, Capability.DISCONNECT)
    return fault not in needs or needs[fault] in network.capabilities
