"""A test whether one event can happen, without listing all that can.

The answer is always that of the lists in `transitions`: an event is in one of them.
What a guard says, or whether a delivery would change anything, is decided where
handlers run. Three sorts of events can happen that no list has, so that no search offers
them: see `is_refusable`, `is_lost_unseen` and `is_reaction`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from worldline.model.data.identity import NodeId
from worldline.model.data.values import is_constant
from worldline.model.events import UNREACHABLE, Event
from worldline.model.faults import FaultBudget, Partition
from worldline.model.foreseen import Foreseen
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import Capability, Mailbox, carrier
from worldline.model.semantics.hidden import Hidden, PendingTimer, Status
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.transitions import (
    ambient_events,
    arrivals,
    is_held,
    own_events,
)
from worldline.model.system import System

_STRIKES = frozenset({Kind.RESET, Kind.CRASH})


def is_listed(
    system: System, event: Event, cells: Sequence[Any], budget: FaultBudget
) -> bool:
    """Say whether the lists of enabled events have an event.

    Parameters
    ----------
    cells
        The cell of each column; of local ones nothing is read.
    budget
        What is left of each fault.
    """
    kind, node, envelope = event.kind, event.node, event.envelope
    partition: Partition = cells[Layout.PARTITION]
    if node is None:
        return event in ambient_events(system, budget, partition)
    if kind is Kind.TRANSPORT_ERROR and event.name == UNREACHABLE and event.peer:
        node = event.peer  # it is listed where the message is
    index = system.index.get(node)
    if index is None:
        return False
    column = system.layout.hidden(index)
    hidden: Hidden = cells[column]
    if kind.is_about_connection and hidden.status is Status.ABSENT:
        # It is listed at the end that is known.
        index = system.index.get(event.peer, index) if event.peer else index
        column = system.layout.hidden(index)
        hidden = cells[column]
    inbox: Mailbox = cells[column + 1]
    if kind is Kind.DELIVER:
        return envelope is not None and _arrives(
            hidden, inbox, partition, envelope, node
        )
    if kind is Kind.TIMER:
        return _is_due(hidden, PendingTimer(event.part, event.name, event.payload))
    if kind.is_about_message and kind.is_fault:
        return budget.allows(kind.budgets[0]) and envelope in inbox.befallen(kind)
    if kind.arrives:
        return event in arrivals(system, index, hidden, inbox, budget, partition)
    return _is_own(system, index, event, hidden, inbox, budget)


def listing(
    system: System, event: Event, cells: Sequence[Any], budget: FaultBudget
) -> Callable[[], bool]:
    """Return `can_happen` for one event and cells that change in place.

    What depends on the event alone is worked out once. It may happen nowhere.
    """
    kind, envelope = event.kind, event.envelope
    if event.node in system.index:
        column = system.layout.hidden(system.index[event.node])
        hidden: Hidden = cells[column]
        if kind is Kind.DELIVER and envelope is not None:
            inbox, partition = cells[column + 1], cells[Layout.PARTITION]
            return partial(_arrives, hidden, inbox, partition, envelope, event.node)
        if kind is Kind.TIMER:
            timer = PendingTimer(event.part, event.name, event.payload)
            return partial(_is_due, hidden, timer)
    return partial(can_happen, system, event, cells, budget)


def can_happen(
    system: System, event: Event, cells: Sequence[Any], budget: FaultBudget
) -> bool:
    """Say whether an event is listed, or one that a run may have and no list has."""
    return (
        is_listed(system, event, cells, budget)
        or is_refusable(system, event, cells)
        or is_lost_unseen(system, event, cells)
        or is_reaction(system, event, cells)
    )


def _arrives(
    hidden: Hidden,
    inbox: Mailbox,
    partition: Partition,
    envelope: Envelope,
    node: NodeId,
) -> bool:
    """Say whether a message can be delivered."""
    return (
        hidden.status is Status.UP
        and inbox.is_ready(envelope)
        and (partition.cut is None or not partition.separates(envelope.src, node))
    )


def is_refusable(system: System, event: Event, cells: Sequence[Any]) -> bool:
    """Say whether an event is one that no list has: a node refuses a message by itself.

    The message could be delivered, and its connection is not whole, so that no other
    event loses it.
    """
    node, peer, envelope = event.node, event.peer, event.envelope
    is_one = event.kind is Kind.REFUSE and node in system.index and node != peer
    if not is_one or node is None or peer is None or envelope is None:
        return False
    network = carrier(system.network, event.part, type(event.payload))
    if Capability.DISCONNECT not in network.capabilities:
        return False
    column = system.layout.hidden(system.index[node])
    hidden, inbox, partition = cells[column], cells[column + 1], cells[Layout.PARTITION]
    if not _arrives(hidden, inbox, partition, envelope, node):
        return False
    return not inbox.connections()[peer].is_whole()


def is_lost_unseen(system: System, event: Event, cells: Sequence[Any]) -> bool:
    """Say whether an event is one that no list has: a node that is gone loses a message.

    Nobody who is asked of this system can tell; who made the run could.
    """
    if event.kind is not Kind.REFUSE or event.node not in system.index:
        return False
    column = system.layout.hidden(system.index[event.node])
    hidden, inbox, partition = cells[column], cells[column + 1], cells[Layout.PARTITION]
    if hidden.status is not Status.DOWN or not system.loses_when_down:
        return False
    return event in inbox.arrivals(up=False, returns=True) and not is_held(
        event, partition
    )


def is_reaction(system: System, event: Event, cells: Sequence[Any]) -> bool:
    """Say whether an event is one that no list has: a node reacts to a prediction."""
    if event.kind is not Kind.CALL or event.node not in system.index:
        return False
    index = system.index[event.node]
    reaction = system.types[index].reaction
    if reaction is None or event.name != reaction.name or event.part or event.peer:
        return False
    hidden: Hidden = cells[system.layout.hidden(index)]
    what = event.payload
    is_one = type(what) is tuple and len(what) == 1 and type(what[0]) is Foreseen
    # It may come from outside, where it could hold what changes.
    return is_one and hidden.status is Status.UP and is_constant(event.key[-1])


def _is_due(hidden: Hidden, timer: PendingTimer) -> bool:
    """Say whether a timer can fire."""
    return timer in (hidden.due() if hidden.timed else hidden.timers)


def _is_own(
    system: System,
    index: int,
    event: Event,
    hidden: Hidden,
    inbox: Mailbox,
    budget: FaultBudget,
) -> bool:
    """Say it of what a node and its environment do there, but for timers."""
    kind, status = event.kind, hidden.status
    if kind is Kind.START:
        return status is Status.NEW
    if event.part or (event.name and kind is not Kind.CALL):
        return False
    if kind.is_about_connection:
        return status is Status.UP and _is_break(system, index, event, inbox, budget)
    if event.peer is not None:
        return False
    if kind is Kind.CALL:
        return status is Status.UP and _is_call(system, index, event, hidden)
    if kind is Kind.RESTART:
        may = event.payload is None and budget.allows("restarts")
        return may and status is Status.DOWN
    if kind in _STRIKES:
        strikes = system.faults.strikes(system.ids[index])
        return strikes and status is Status.UP and _is_strike(event, inbox, budget)
    return event in own_events(system, index, hidden, inbox, budget)


def _is_break(
    system: System, index: int, event: Event, inbox: Mailbox, budget: FaultBudget
) -> bool:
    first, second = event.node, event.peer
    other = second if first == system.ids[index] else first
    return (
        first is not None
        and second is not None
        and event.payload is None
        and budget.allows(event.kind.budgets[0])
        and other in inbox.breakable()
        and system.index[first] < system.index[second]
    )


def _is_call(system: System, index: int, event: Event, hidden: Hidden) -> bool:
    key = event.name, event.key[-1]
    if hidden.stands_at(key) or system.whenevers[index].guards(key):
        return True
    if not system.open_workload:
        return False
    handler = system.types[index].calls.get(event.name)
    if handler is None or not handler.accepts(event.payload):
        return False
    return is_constant(event.key[-1])  # it comes from outside, where it could change


def _is_strike(event: Event, inbox: Mailbox, budget: FaultBudget) -> bool:
    deaf = event.payload
    if event.kind is Kind.CRASH:
        return deaf is None and budget.allows("crashes")
    if deaf == ():
        return budget.allows("resets")
    if not isinstance(deaf, tuple) or not budget.allows("silent_resets"):
        return False
    if budget.deaf is not None and len(deaf) > budget.deaf:
        return False
    return deaf == tuple(peer for peer in inbox.silent_peers() if peer in deaf)
