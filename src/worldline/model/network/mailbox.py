"""What a network offers to the rest of the model.

All that is under way to one node, with the state of its connections, sits in that
node's *mailbox*: a cell with named operations. What two mailboxes must both know is
kept in both, so that every operation and every question concerns one mailbox alone.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import CONNECTION_FAULTS
from worldline.model.message import Envelope

MailOperation: TypeAlias = tuple[NodeId, tuple[Any, ...]]
"""A node whose mailbox is concerned, and the operation: method name, arguments."""


class Capability(enum.Enum):
    """What a network may do to messages, or knows about nodes."""

    DROP = "drops"
    DUPLICATE = "duplicates"
    DISCONNECT = "connection_errors"
    SILENT_RESET = "silent_resets"
    HOLDS_FOR_EVER = "message set"
    ORDERED = "ordered"


class Mailbox(Protocol):
    """The cell that holds what is under way to one node."""

    def put(self, envelope: Envelope) -> None:
        """Add a message that was sent."""

    def take(self, envelope: Envelope) -> None:
        """Remove a message that is delivered or dropped."""

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
        """

    def losable(self) -> list[Envelope]:
        """Return the messages that may be dropped or doubled, in canonical order."""

    def silent_peers(self) -> list[NodeId]:
        """Return the peers that could fail to notice a reset of this node."""

    def breakable(self) -> list[NodeId]:
        """Return the peers whose connection with this node could break."""

    def freeze(self) -> Frozen: ...
    def restore(self, frozen: Frozen) -> None: ...


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
