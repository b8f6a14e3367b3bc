"""The scheduler of synchronous rounds: one run of a system under one plan of faults.

It decides nothing but the order of events; what they mean, the direct world knows. So
every run is a legal schedule of `System.under_injection`.

Notes
-----
Where the design leaves room: starting belongs to round 1, so what a node sends then
can be lost; after a prologue, what it left under way arrives in round 1 and its timers
are due then. A timer is due in round t + max(1, ceil(after / length)). Each call that
can be made is made once per round; a script goes on after a wait before that, and takes the first
option of what its arguments are drawn from. A message that its receiver does not take yet
(``unhandled="wait"``) is offered again in every later round. On streams a connection
that is not open yet cannot break, so a loss does nothing to its first message.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from worldline.lineage.rounds.plan import FaultPlan
from worldline.model.counts import counted
from worldline.model.events import LOST, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import Capability, permits
from worldline.model.network.datagrams import concerning
from worldline.model.semantics.hidden import Hidden, PendingTimer, Status
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import own_events
from worldline.model.system import System
from worldline.runs.schedule import Steps
from worldline.trace.json_text import show
from worldline.trace.json_values import encode_value
from worldline.worlds.direct import DirectWorld


@final
@dataclass(slots=True, eq=False)
class Mail:
    """A message that was sent; equal ones stay apart.

    Attributes
    ----------
    src, dst
        Positions of nodes.
    round
        In which it was sent; 0 for what a prologue left.
    silenced
        Whether the crash of its sender keeps it from arriving.
    arrived
        In which round it arrived; None if it did not.
    lost
        Whether it was dropped, or refused where its receiver was down; what goes down
        with a connection is not.
    """

    envelope: Envelope
    src: int
    dst: int
    round: int
    silenced: bool
    arrived: int | None = None
    lost: bool = False

    @property
    def text(self) -> str:
        """The message as traces show it."""
        return show(encode_value(self.envelope.message))


@final
class RoundWorld:
    """A system that runs round by round.

    Parameters
    ----------
    system
        From `System.under_injection`.
    plan
        The faults.
    length
        How long a round is, in seconds.

    Attributes
    ----------
    world
        The direct world, in the state after the last round.
    now
        The round that is played; 1 already while nodes start.
    boot, prologue, run
        The schedule so far.
    under_way
        By sender and receiver, what has not arrived, in the order of sending.
    timers
        For each node its pending timers, in the order of setting, with the rounds in
        which they are due.
    sent
        Every message of the run, in order.
    called
        Whether the workload made a call, in any of the rounds that were played.
    """

    def __init__(self, system: System, plan: FaultPlan, *, length: float = 1.0) -> None:
        self.system = system
        self.plan = plan
        self.length = length
        self.world = DirectWorld(system)
        self.now = 1
        self.boot: Steps = []
        self.prologue: Steps = []
        self.run: Steps = []
        self.sent: list[Mail] = []
        self.called = False
        count = len(system.ids)
        self.under_way: list[list[list[Mail]]] = [
            [[] for _ in range(count)] for _ in range(count)
        ]
        self.timers: list[dict[PendingTimer, int]] = [{} for _ in range(count)]
        self.loses = permits(system.network, "drops")
        self.breaks = Capability.DISCONNECT in system.network.capabilities
        self._schedule = self.boot

    @property
    def pending(self) -> str:
        """What can still happen at nodes that are up, in words; empty if nothing can."""
        ups = [self._hidden(n).status is Status.UP for n in range(len(self.timers))]
        messages = sum(
            not mail.silenced
            for waiting in self.under_way
            for is_up, mails in zip(ups, waiting, strict=True)
            for mail in (mails if is_up else ())
        )
        timers = sum(len(own) for own, up in zip(self.timers, ups, strict=True) if up)
        said = [(messages, "message"), (timers, "timer")]
        return " and ".join(counted(count, what) for count, what in said if count)

    def begin(self) -> None:
        """Start the nodes and run the prologue."""
        self.world.door.clock = self.length
        for event in self.world.boot_events():
            self._happen(event)
        if self.system.prologue:
            self.prologue += self.world.prepare(self.system.prologue)
            self._take_stock()
        self._schedule = self.run
        for index, node in enumerate(self.system.ids):
            if self._hidden(index).status is Status.NEW:
                self._happen(Event(Kind.START, node))

    def play(self, number: int) -> None:
        """Let a round happen; a handler that fails ends it, and the run."""
        self.now = number
        self.world.door.clock = number * self.length
        for index, node in enumerate(self.system.ids):
            if self.plan.stops(index, number, at_once=True) and self.is_up(index):
                self._happen(Event(Kind.CRASH, node))
        for index in range(len(self.system.ids)):
            self.turn(index)
        if self.breaks and self.world.failure is None:
            self._break_connections()

    def turn(self, index: int) -> None:
        """Let a node have its turn in the present round."""
        node = self.system.ids[index]
        if not self.is_up(index) and self.plan.restarts(index, self.now):
            self._happen(Event(Kind.RESTART, node))
        if self.is_up(index):
            if self.breaks:
                self._hear_of_errors(index)
            self._arrivals(index)
            self._fire(index)
            self._call(index)
            if self.plan.stops(index, self.now, at_once=False):
                self._happen(Event(Kind.CRASH, node))
        else:
            self._arrivals(index)

    def is_up(self, index: int) -> bool:
        """Say whether a node takes part, and the run goes on."""
        return self.world.failure is None and self._hidden(index).status is Status.UP

    def muted(self) -> list[int]:
        """Return the nodes that count as crashed, though they go on by themselves."""
        nodes = range(len(self.system.ids))
        return [index for index in nodes if self.plan.mutes(index, self.now)]

    def _hidden(self, index: int) -> Hidden:
        hidden: Hidden = self.world.cells[self.system.layout.hidden(index)]
        return hidden

    def _happen(self, event: Event) -> None:
        if self.world.failure is not None:
            return
        outcome = self.world.step(event)
        self.called |= event.kind is Kind.CALL and not self._is_wait(event)
        self._schedule.append((event, outcome.choices))
        self._note(event, outcome)

    def _note(self, event: Event, outcome: Outcome) -> None:
        if event.node is None:
            return
        index = self.system.index[event.node]
        timers = self.timers[index]
        if event.kind is Kind.TIMER:
            timers.pop(PendingTimer(event.part, event.name, event.payload), None)
        elif event.kind is Kind.CRASH:
            timers.clear()
        for change in outcome.timers:
            timers.pop(change.timer, None)
            if change.after is not None:
                rounds = max(1, math.ceil(change.after / self.length))
                timers[change.timer] = self.now + rounds
        for sent in outcome.sends:
            if sent.taken:
                envelope = Envelope(
                    sent.src,
                    sent.part,
                    sent.message,
                    self.world.door.freeze(sent.message),
                )
                can_vanish = self.loses or self.breaks
                silenced = (
                    can_vanish
                    and sent.dst != sent.src
                    and self.plan.silences(self.now, index, sent.dst.name)
                )
                self.post(
                    Mail(
                        envelope, index, self.system.index[sent.dst], self.now, silenced
                    )
                )
        if self.breaks:
            self._flush()

    def post(self, mail: Mail) -> None:
        """Note that a message is under way; its receiver's mailbox has it already."""
        self.under_way[mail.src][mail.dst].append(mail)
        self.sent.append(mail)

    def _arrivals(self, index: int) -> None:
        """Let what was sent in earlier rounds arrive at a node, or be lost."""
        node = self.system.ids[index]
        for waiting in self.under_way:
            for mail in [m for m in waiting[index] if m.round < self.now]:
                if mail not in waiting[index] or self.world.failure is not None:
                    continue
                event = concerning(self._fate(mail), node, mail.envelope)
                if self.world.is_enabled(event):
                    waiting[index].remove(mail)
                    if event.kind is Kind.DELIVER:
                        mail.arrived = self.now
                    else:
                        mail.lost = True
                    self._happen(event)

    def _fate(self, mail: Mail) -> Kind:
        """Return what becomes of a message where it would arrive.

        At a node that is down it is lost in any case, so what was injected does not
        matter; a connection knows by itself what becomes of it.
        """
        if not (self.breaks or self.is_up(mail.dst)):
            return Kind.REFUSE
        injected = mail.silenced or self.plan.loses(mail.round, mail.src, mail.dst)
        return Kind.DROP if self.loses and injected else Kind.DELIVER

    def _hear_of_errors(self, index: int) -> None:
        """Tell a node of connections lost, and of peers that it could not reach."""
        node = self.system.ids[index]
        for event in self.world.enabled():
            if event.kind is not Kind.TRANSPORT_ERROR or event.node != node:
                continue
            if event.peer is None or not self.world.is_enabled(event):
                continue
            tried = self.under_way[index][self.system.index[event.peer]]
            if event.name == LOST or any(mail.round < self.now for mail in tried):
                self._happen(event)

    def _fire(self, index: int) -> None:
        node, timers = self.system.ids[index], self.timers[index]
        for timer in [a for a, due in timers.items() if due <= self.now]:
            if timers.get(timer, self.now + 1) <= self.now:
                event = Event(
                    Kind.TIMER,
                    node,
                    part=timer.part,
                    name=timer.name,
                    payload=timer.payload,
                )
                if self.world.is_enabled(event):
                    self._happen(event)

    def _call(self, index: int) -> None:
        system = self.system
        if not (system.scripts[index] or system.whenevers[index]):
            return
        while (wait := self._first_wait(index)) is not None:
            self._happen(wait)
        for event in self._calls(index):
            if not self._is_wait(event) and self.world.is_enabled(event):
                self._happen(event)

    def _calls(self, index: int) -> list[Event]:
        system, cells, layout = self.system, self.world.cells, self.system.layout
        inbox, budget = cells[layout.inbox(index)], cells[layout.BUDGET]
        own = own_events(system, index, self._hidden(index), inbox, budget)
        return [event for event in own if event.kind is Kind.CALL]

    def _first_wait(self, index: int) -> Event | None:
        """Return a wait of a script that is over now: it takes no turn."""
        waits = (event for event in self._calls(index) if self._is_wait(event))
        return next((wait for wait in waits if self.world.is_enabled(wait)), None)

    def _is_wait(self, event: Event) -> bool:
        """Say whether an event is one with which a script goes on after a wait."""
        if event.kind is not Kind.CALL or event.node is None:
            return False
        return event.name not in self.system.types[self.system.index[event.node]].calls

    def _break_connections(self) -> None:
        """Break the connections on which something that was sent now is to be lost."""
        for src, node in enumerate(self.system.ids):
            for dst, peer in enumerate(self.system.ids):
                sent = any(m.round == self.now for m in self.under_way[src][dst])
                if sent and self.plan.loses(self.now, src, dst):
                    one, other = (node, peer) if src < dst else (peer, node)
                    event = Event(Kind.DISCONNECT, one, peer=other)
                    if self.world.is_enabled(event):
                        self._happen(event)

    def _flush(self) -> None:
        """Forget what went down with a connection: the oldest, as queues are emptied."""
        layout, ids = self.system.layout, self.system.ids
        for src, waiting in enumerate(self.under_way):
            for dst, mails in enumerate(waiting):
                if mails:
                    left = self.world.cells[layout.inbox(dst)].holds(ids[src])
                    del mails[: len(mails) - left]

    def _take_stock(self) -> None:
        """Find out what a prologue has left under way and pending."""
        layout = self.system.layout
        for waiting in self.under_way:
            for mails in waiting:
                mails.clear()
        self.sent.clear()
        for index in range(len(self.system.ids)):
            for envelope in self.world.cells[layout.inbox(index)].envelopes():
                src = self.system.index[envelope.src]
                self.post(Mail(envelope, src, index, 0, silenced=False))
            self.timers[index] = dict.fromkeys(self._hidden(index).timers, 1)
