"""The events that a remembering world offers, node by node, worked out when they change."""

from __future__ import annotations

from typing import Any, final

from worldline.model.kinds import MESSAGE_FAULTS, Kind
from worldline.model.network.mailbox import SHAPES
from worldline.model.semantics.hidden import Hidden, Status
from worldline.model.semantics.layout import ColumnKind, Layout
from worldline.model.semantics.transitions import ambient_events, own_events
from worldline.worlds.remembered import RememberedEvent, RememberedRun
from worldline.worlds.remembering import RememberingWorld

_OF_ALL = frozenset({Layout.BUDGET, Layout.PARTITION})
"""Columns on which the events of every node depend."""

_MOST_OWN = 4_096
"""Hidden states of a node for which what can happen there is kept."""


@final
class Offering:
    """The events that can happen in a world, in canonical order."""

    def __init__(self, world: RememberingWorld) -> None:
        self._world = world
        system = world.system
        self._columns = system.layout.columns
        self._offered: list[list[RememberedEvent] | None] = []
        self._own: list[dict[Any, list[RememberedEvent]]] = [{} for _ in system.ids]
        faults = set(system.faults.possible())
        inboxes = [world.cells[system.layout.inbox(i)] for i in range(len(system.ids))]
        timed = any(
            world.cells[system.layout.hidden(i)].timed for i in range(len(system.ids))
        )
        # There a mailbox offers what could be delivered, and each for itself.
        self._is_plain = (
            all(SHAPES.get(type(inbox)) in ("bag", "queues") for inbox in inboxes)
            and not any(kind.budgets[0] in faults for kind in MESSAGE_FAULTS)
            and not timed
        )
        self._messages_wait = system.unhandled == "wait" or system.ignore_noops
        self._may_be_cut = "partitions" in faults
        self.forget()

    def forget(self) -> None:
        """Take the state for another one."""
        self._offered = [None] * len(self._own)
        # A run may begin where the network is cut, though its system has no partitions.
        partition = self._world.cells[Layout.PARTITION]
        self._is_cut = self._may_be_cut or partition.cut is not None

    def look_again(self, known: RememberedEvent, run: RememberedRun) -> None:
        """Take note of what an event has changed."""
        touched = known.touched | run.touched
        # Whether a delivery changes anything may depend on buffers of other nodes.
        if self._world.system.ignore_noops or not _OF_ALL.isdisjoint(touched):
            self.forget()
            return
        if known.index >= 0:
            self._offered[known.index] = None
        columns = self._columns
        for at in touched:
            if columns[at].kind is not ColumnKind.OBSERVER:
                self._offered[columns[at].index] = None

    def all(self) -> list[RememberedEvent]:
        """Return them all."""
        events: list[RememberedEvent] = []
        for index, offered in enumerate(self._offered):
            if offered is None:
                offered = self._offered[index] = self._at(index)
            events += offered
        if self._is_cut:
            cells = self._world.cells
            around = ambient_events(
                self._world.system, cells[Layout.BUDGET], cells[Layout.PARTITION]
            )
            events += map(self._world.known, around)
        return events

    def _at(self, index: int) -> list[RememberedEvent]:
        world = self._world
        column = world.system.layout.hidden(index)
        hidden: Hidden = world.cells[column]
        if not self._is_plain or self._is_cut:
            return list(map(world.known, world.enabled_at(index)))
        if hidden.status is not Status.UP:
            return list(map(world.known, world.enabled_at(index)))
        inbox = world.cells[column + 1]
        events = [world.delivery(world.parcel(index, one)) for one in inbox.losable()]
        if self._messages_wait:
            events = [one for one in events if not world.run_of(one, ()).waits]
        own = self._own_at(index, hidden, inbox)
        for known in own:
            is_call = known.event.kind is Kind.CALL
            if not is_call or not world.run_of(known, ()).waits:
                events.append(known)
        return events

    def _own_at(self, index: int, hidden: Hidden, inbox: Any) -> list[RememberedEvent]:
        """Return what a node and its environment can do, guards left aside."""
        world, own = self._world, self._own[index]
        budget = world.cells[Layout.BUDGET]
        key = tuple(hidden.timers), tuple(hidden.positions), tuple(budget.left)
        events = own.get(key)
        if events is None:
            if len(own) >= _MOST_OWN:
                own.clear()
            listed = own_events(world.system, index, hidden, inbox, budget)
            events = own[key] = list(map(world.known, listed))
        return events
