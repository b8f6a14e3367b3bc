"""The footprint of a step: all that decides whether it can happen, or that it changes.

Two steps are *independent* in a state if each leaves the other possible with the same
outcomes, and both orders lead to the same state. Steps whose footprints have nothing in
common are independent in every state in which both can be taken.

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

from collections.abc import Iterable, Iterator
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.events import UNREACHABLE, Event
from worldline.model.kinds import BUDGETS, Kind
from worldline.model.message import Envelope
from worldline.model.network import Capability, members_of, number_of
from worldline.model.network.mailbox import SHAPES
from worldline.model.semantics.layout import ColumnKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import Change, Operation
from worldline.model.system import System

_OF_A_PEER = frozenset({"befall", "befall_peer", "peer_reset"})
_PER_LINK = 3
"""Slots of a link: its state, and the queues to its later and to its earlier node."""


@final
class Footprints:
    """Footprints of the steps of one system, as sets of slots; see the module."""

    def __init__(self, system: System) -> None:
        self._system = system
        members, first = members_of(system.network), system.ids[0]
        self._shapes = [SHAPES[type(m.mailbox(first, system.ids))] for m in members]
        self._have_links = [Capability.DISCONNECT in m.capabilities for m in members]
        self._count = len(system.ids)
        self._first_observer = self._count
        self._first_budget = self._first_observer + len(system.observers)
        self._first_link = self._first_budget + len(BUDGETS)

    def slots(
        self, event: Event, changes: Iterable[Change], outcome: Outcome
    ) -> tuple[int, ...] | None:
        """Return what a step touches; None for everything.

        Parameters
        ----------
        changes
            The operations that it did on columns.
        """
        if event.node is None:
            # To split the network or to heal it decides what all nodes receive.
            return None
        index = self._system.index[event.node]
        slots = {index}
        if event.kind is Kind.TRANSPORT_ERROR and event.name == UNREACHABLE:
            # It happens only while the node that cannot be reached is not up.
            slots.add(self._node(event.peer))
        if event.kind is Kind.REFUSE and self._system.loses_when_down:
            # A datagram is lost only while the node can still start again.
            slots.add(self._first_budget + BUDGETS.index("restarts"))
        slots.update(self._without_room(index, outcome))
        for number, operation in changes:
            touched = self._of(number, operation)
            if touched is None:
                return None
            slots |= touched
        return tuple(sorted(slots))

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

    def _of(self, number: int, operation: Operation) -> set[int] | None:
        """Return what one operation touches, beside the node it happens at."""
        column = self._system.layout.columns[number]
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
                return self._of_mail(column.index, operation)

    def _of_mail(self, index: int, operation: Operation) -> set[int] | None:
        member = self._member(operation)
        if operation[0] == "within":
            operation = operation[2:]
        name, first = operation[0], operation[1] if len(operation) > 1 else None
        if self._shapes[member] not in (None, "links"):
            return set() if name == "put" else {index}
        if not self._have_links[member]:
            return None
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

    def _member(self, operation: Operation) -> int:
        """Return which of several networks an operation belongs to."""
        if operation[0] == "within":
            return int(operation[1])
        if operation[0] == "put":
            envelope: Envelope = operation[1]
            network = self._system.network
            return number_of(network, envelope.part, type(envelope.message))
        return 0

    def _links(self, index: int) -> Iterator[int]:
        for other in range(self._count):
            yield from self._link(index, other)

    def _link(self, one: int, other: int) -> range:
        low, high = sorted((one, other))
        first = self._first_link + _PER_LINK * (low * self._count + high)
        return range(first, first + _PER_LINK)
