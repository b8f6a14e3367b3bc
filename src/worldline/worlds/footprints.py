"""What a step touches: whatever decides that it can happen, and what it reads or writes.

A *slot* stands for a piece of the state that one step at a time may touch, if the order
of two steps is to make no difference. The slots are

* each node: its fields, its hidden column, what it takes from its mailbox;
* for each link of a network that has connections, its state and errors, and its queue
  in either direction;
* each observer, since folding need not commute;
* each limited fault budget, since one step may use up what another needs.

To put a message into a mailbox without connections touches no slot. It commutes with
another such message (two that share a queue have one sender, so they share its slot), and
with taking one that is there: bags and sets have no order, and a queue is appended to at
its end and taken from at its head. Nor does it make anything impossible.

On a link, what is sent touches the queue it goes to, and what is delivered touches the
link's state alone, since it takes the head. All else may clear queues and touches both.
A handler learns of the send buffer only that it is full: that ends when a message is
delivered, so it touches both as well. That there is room stays true whatever others do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from worldline.engine.tables import Entry, Leaf, Operations
from worldline.model.data.identity import NodeId
from worldline.model.events import UNREACHABLE, Event, Kind
from worldline.model.faults import BUDGETS
from worldline.model.message import Envelope
from worldline.model.semantics.layout import ColumnKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import Operation
from worldline.worlds.tabulated import TabulatedWorld

_OF_A_PEER = frozenset(
    {
        *("refuse", "refused", "fail", "failed", "give_up", "given_up"),
        *("disconnect", "peer_reset"),
    }
)
_PER_LINK = 3
"""Slots of a link: its state, and the queues to its later and to its earlier node."""


@final
class Footprints:
    """Tells the slots of steps; see the module.

    Parameters
    ----------
    world
        Whose events and outcomes they are.
    """

    def __init__(self, world: TabulatedWorld) -> None:
        system = world.system
        self._system = system
        self._collections = world.tables.collections
        self._count = len(system.ids)
        self._first_observer = self._count
        self._first_budget = self._first_observer + len(system.observers)
        self._first_link = self._first_budget + len(BUDGETS)

    def slots(self, entry: Entry, leaf: Leaf) -> tuple[int, ...] | None:
        """Return what a step touches; None for everything."""
        event: Event = entry.event
        if event.node is None:
            # To split the network or to heal it decides what all nodes receive.
            return None
        index = self._system.index[event.node]
        found = {index}
        if event.kind is Kind.TRANSPORT_ERROR and event.name == UNREACHABLE:
            # It happens only while the node that cannot be reached is not up.
            found.add(self._node(event.peer))
        if event.kind is Kind.REFUSE and self._collections:
            # A datagram is lost only while the node can still start again.
            found.add(self._first_budget + BUDGETS.index("restarts"))
        found.update(self._without_room(index, leaf.detail))
        for operations in leaf.changes:
            touched = self._of(operations)
            if touched is None:
                return None
            found |= touched
        return tuple(sorted(found))

    def _node(self, node: NodeId | None) -> int:
        return self._system.index[node]  # type: ignore[index]

    def _without_room(self, index: int, outcome: Outcome) -> Iterator[int]:
        """Yield what a handler touched by finding a send buffer full."""
        if self._system.network.buffer is None:
            return
        if outcome.failure is not None:
            # What it tried to send before it failed is not kept.
            yield from self._links(index)
        for sent in outcome.sends:
            if not sent.taken:
                yield from self._link(index, self._node(sent.dst))

    def _of(self, operations: Operations) -> set[int] | None:
        """Return what one operation touches, beside the node it happens at."""
        operation: Operation = operations.operation  # type: ignore[assignment]
        column = self._system.layout.columns[operations.column]
        match column.kind:
            case ColumnKind.HIDDEN | ColumnKind.LOCAL:
                return {column.index}
            case ColumnKind.OBSERVER:
                return {self._first_observer + column.index}
            case ColumnKind.BUDGET:
                return {self._first_budget + BUDGETS.index(operation[1])}
            case ColumnKind.PARTITION:
                return None
            case ColumnKind.INBOX:
                return self._of_mail(operations.column, column.index, operation)

    def _of_mail(
        self, column: int, index: int, operation: Operation
    ) -> set[int] | None:
        name, first = operation[0], operation[1] if len(operation) > 1 else None
        if column in self._collections:
            return set() if name == "put" else {index}
        if name == "reset":
            return set(self._links(index))
        if isinstance(first, Envelope) and name in ("put", "take"):
            sender = self._node(first.src)
            state, later, earlier = self._link(index, sender)
            if name == "take":
                return {state}
            return {later if sender < index else earlier}
        if isinstance(first, NodeId) and name == "heard":
            return {self._link(index, self._node(first))[0]}
        if isinstance(first, NodeId) and name in _OF_A_PEER:
            return set(self._link(index, self._node(first)))
        return None

    def _links(self, index: int) -> Iterator[int]:
        for other in range(self._count):
            yield from self._link(index, other)

    def _link(self, one: int, other: int) -> range:
        low, high = sorted((one, other))
        first = self._first_link + _PER_LINK * (low * self._count + high)
        return range(first, first + _PER_LINK)
