"""Filters: what a node refuses for a while, because it may end in a violation.

A filter is as coarse as what it blocks has to be: a handler, of a message the sender, and
where that is enough the content.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: event filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind

REFUSABLE = (Kind.DELIVER, Kind.TIMER, Kind.CALL)
"""The kinds of events that a node can refuse, those first that it refuses rather."""


@final
@dataclass(frozen=True, slots=True)
class EventFilter:
    """A filter of one node.

    Attributes
    ----------
    node
        Which.
    kind
        That of the events that it blocks, one of `REFUSABLE`.
    part, name
        Of the handler: the part that it belongs to, and the message's class, the timer's
        or the call's name.
    peer
        The sender of a message.
    content
        The frozen payload, where only that is blocked; None for any.
    """

    node: NodeId
    kind: Kind
    part: str
    name: str
    peer: NodeId | None = None
    content: Frozen = None

    @classmethod
    def of(cls, event: Event, *, exact: bool = False) -> EventFilter:
        """Return the filter that blocks an event, and those like it.

        Parameters
        ----------
        exact
            Whether to block that payload alone.
        """
        assert event.node is not None
        assert event.kind in REFUSABLE
        content = event.key[6] if exact else None
        return cls(event.node, event.kind, event.part, event.name, event.peer, content)

    def matches(self, event: Event) -> bool:
        """Say whether it blocks an event."""
        return (
            event.node == self.node
            and event.kind is self.kind
            and event.name == self.name
            and event.part == self.part
            and event.peer == self.peer
            and (self.content is None or event.key[6] == self.content)
        )

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "node": self.node.name,
            "kind": self.kind.value,
            "part": self.part,
            "name": self.name,
            "peer": None if self.peer is None else self.peer.name,
            "exact": self.content is not None,
        }
