"""The events of a state, and what an event does to it beside its handler.

A state is a row of columns (`layout`); each but the local ones is a cell. An event
is given as operations on cells, which depend on the event alone; what a handler adds
is again operations. So a world needs to know nothing but how to apply an operation
to a column, and the same schedule means the same in every world.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.faults import FaultBudget, Partition
from worldline.model.kinds import CONNECTION_FAULTS, MESSAGE_FAULTS, Kind
from worldline.model.network import Mailbox
from worldline.model.network.datagrams import concerning
from worldline.model.semantics.hidden import Hidden, PendingTimer, Status
from worldline.model.system import System
from worldline.model.workload import Invocation

Operation: TypeAlias = tuple[Any, ...]
"""The name of a cell's method, then its arguments; hashable."""

Change: TypeAlias = tuple[int, Operation]
"""A column and the operation applied to it."""

_ON_HIDDEN: dict[Kind, list[Operation]] = {
    Kind.START: [("boot",)],
    Kind.RESTART: [("boot",)],
    Kind.RESET: [("reset",)],
    Kind.CRASH: [("stop",)],
}
"""What kinds of events do to the hidden state of their node, whatever their payload."""


def changes(system: System, event: Event, *, charge: bool = True) -> list[Change]:
    """Return what `event` does before its handler runs.

    Parameters
    ----------
    charge
        Whether a fault is taken from its budget; not so in a prologue.
    """
    layout = system.layout
    effects: list[Change] = [
        (layout.inbox(system.index[node]), operation)
        for node, operation in system.network.operations(event, system.ids)
    ]
    kind = event.kind
    if event.is_network_step:
        return effects
    if event.node is not None:
        hidden = layout.hidden(system.index[event.node])
        effects += [(hidden, operation) for operation in _on_hidden(system, event)]
    elif kind is Kind.PARTITION:
        effects.append((layout.PARTITION, ("split", event.payload)))
        if system.faults.break_sockets:
            effects += _severed(system, event.payload)
    else:
        effects.append((layout.PARTITION, ("heal",)))
    budget = kind.budget(event.payload)
    if charge and budget is not None and system.faults.limit(budget) is not None:
        effects.append((layout.BUDGET, ("spend", budget)))
    return effects


def _on_hidden(system: System, event: Event) -> list[Operation]:
    kind = event.kind
    if kind is Kind.TIMER:
        return [("cancel_timer", PendingTimer(event.part, event.name, event.payload))]
    if kind is Kind.CALL and event.node is not None:
        index, key = system.index[event.node], Invocation(event.name, event.payload).key
        if system.scripts[index]:
            is_listed = bool(system.whenevers[index].guards(key))
            is_open = system.open_workload and not is_listed
            return [("called_from_outside" if is_open else "called", key)]
        return []
    return _ON_HIDDEN.get(kind, [])


def _severed(system: System, cut: int) -> list[Change]:
    side = system.cuts[cut]
    beyond = frozenset(system.ids) - side
    return [
        (system.layout.inbox(index), ("sever", beyond if node in side else side))
        for index, node in enumerate(system.ids)
    ]


def arrivals(
    system: System,
    index: int,
    hidden: Hidden,
    inbox: Mailbox,
    budget: FaultBudget,
    partition: Partition,
) -> list[Event]:
    """Return what the network can do at a node, in canonical order.

    Events whose guard makes them wait are included; who runs them finds out.
    """
    node = system.ids[index]
    up = hidden.status is Status.UP
    down = hidden.status is Status.DOWN
    # What never comes back can take nothing: that its mail is lost is for those who look.
    told = system.shows_mail or budget.allows("restarts")
    returns = down and system.loses_when_down and told
    events = [
        event
        for event in inbox.arrivals(up=up, returns=returns)
        if event.peer is None or not is_held(event, partition)
    ]
    for kind in MESSAGE_FAULTS:
        if budget.allows(kind.budgets[0]):
            events += [concerning(kind, node, one) for one in inbox.befallen(kind)]
    return events


def is_held(event: Event, partition: Partition) -> bool:
    """Say whether a partition holds what an event takes."""
    return (
        event.kind.held_by_partition
        and event.node is not None
        and event.peer is not None
        and partition.separates(event.node, event.peer)
    )


def own_events(
    system: System, index: int, hidden: Hidden, inbox: Mailbox, budget: FaultBudget
) -> list[Event]:
    """Return what a node and its environment can do there, in canonical order.

    Timers, calls, start and faults. Calls whose guard is false are included.
    """
    node = system.ids[index]
    if hidden.status is not Status.UP:
        return _at_rest(node, hidden.status, budget)
    events = [
        Event(Kind.TIMER, node, part=timer.part, name=timer.name, payload=timer.payload)
        for timer in hidden.due()
    ]
    events += _calls(system, index, hidden)
    for kind in CONNECTION_FAULTS:
        if budget.allows(kind.budgets[0]):
            breakable, links = inbox.breakable(), inbox.connections()
            events += [
                Event(kind, node, peer=peer)
                for peer in breakable
                if system.index[peer] > index
            ]
            # An absent node lists nothing, though it may be the first of the two.
            events += [
                Event(kind, peer, peer=node)
                for peer in breakable
                if system.index[peer] < index and links[peer].is_blind
            ]
    if system.faults.strikes(node):
        events += _strikes(node, inbox, budget)
    return events


def _at_rest(node: NodeId, status: Status, budget: FaultBudget) -> list[Event]:
    """Return what can happen at a node that does not take part."""
    if status is Status.NEW:
        return [Event(Kind.START, node)]
    returns = status is Status.DOWN and budget.allows("restarts")
    return [Event(Kind.RESTART, node)] if returns else []


def _calls(system: System, index: int, hidden: Hidden) -> list[Event]:
    heads = [hidden.next_call(i) for i in range(len(hidden.scripts))]
    calls = [call for call in heads if call is not None]
    calls += [call for call, _ in system.whenevers[index]]
    unique = {call.key: call for call in calls}
    ordered = sorted(unique.values(), key=lambda call: call.rank)
    return [
        Event(Kind.CALL, system.ids[index], name=call.name, payload=call.arguments)
        for call in ordered
    ]


def _strikes(node: NodeId, inbox: Mailbox, budget: FaultBudget) -> list[Event]:
    events: list[Event] = []
    if budget.allows("resets"):
        events.append(Event(Kind.RESET, node, payload=()))
    if budget.allows("silent_resets"):
        peers = inbox.silent_peers()
        most = len(peers) if budget.deaf is None else min(budget.deaf, len(peers))
        events += [
            Event(Kind.RESET, node, payload=deaf)
            for size in range(1, most + 1)
            for deaf in itertools.combinations(peers, size)
        ]
    if budget.allows("crashes"):
        events.append(Event(Kind.CRASH, node))
    return events


def ambient_events(
    system: System, budget: FaultBudget, partition: Partition
) -> list[Event]:
    """Return what can happen to the network as a whole, in canonical order."""
    if partition.cut is not None:
        return [Event(Kind.HEAL)]
    if not budget.allows("partitions"):
        return []
    return [Event(Kind.PARTITION, payload=k) for k in range(len(system.cuts))]
