"""Messages on their way in a run by the clock: when they arrive, and what becomes of them.

A message whose network keeps the order arrives no earlier than those before it. What
cannot arrive at its time waits: for a node that is down and comes back, for a guard to
become true, for a partition to heal.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections import Counter
from collections.abc import Callable
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.faults import FaultBudget, Partition
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Capability, Mailbox, carrier
from worldline.model.network.datagrams import concerning, delivery
from worldline.model.semantics.execute import waits
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.transitions import arrivals
from worldline.model.system import System
from worldline.worlds.access_links import AccessLinks, AtDownlink
from worldline.worlds.agenda import Agenda, AgendaEntry
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import ClockedWorld, DrawingDoor
from worldline.worlds.conditions import Conditions
from worldline.worlds.dry_run import DryRuns, is_noop

_UP = Status.UP  # to look up the member of an enumeration takes as long as a call

_ARRIVES, _LOST = None, math.inf
"""What becomes of a message on its way; of one that is doubled, when its copy arrives."""


@final
class Courier:
    """The messages that are under way.

    Attributes
    ----------
    sent, lost
        Messages that were sent, and those of them that the network lost.
    loss, delay
        The share that is lost, and by what latencies are multiplied; weather changes
        them.
    accompany
        Puts something beside each message that is sent: from which node, to whom, and
        the message; None if nobody does.
    """

    def __init__(
        self, system: System, conditions: Conditions, chance: Chance, agenda: Agenda
    ) -> None:
        self.sent = self.lost = 0
        self.loss, self.delay = conditions.loss, 1.0
        self.accompany: Callable[[int, NodeId, OpenEnvelope], None] | None = None
        self._system = system
        self._conditions = conditions
        self._chance = chance
        self._agenda = agenda
        self._counts = array("Q", bytes(8 * len(system.ids)))
        self._errors: Counter[int] = Counter()
        self._held: list[AgendaEntry] = []
        self._last: dict[tuple[int, int], float] = {}
        self._abilities: dict[tuple[str, type], tuple[bool, bool, bool]] = {}
        self._links = (
            AccessLinks(conditions.uplink, conditions.downlink, len(system.ids))
            if conditions.limits_links
            else None
        )
        self._connects = Capability.DISCONNECT in system.network.capabilities
        self._dry_runs = DryRuns(system) if system.ignore_noops else None
        self.world = world = ClockedWorld(
            system, lambda world: DrawingDoor(world, chance), self._fill
        )
        self._partition: Partition = world.around[Layout.PARTITION]
        self._budget: FaultBudget = world.around[Layout.BUDGET]

    def send(self, index: int) -> None:
        """Send what the last handler, at a node, has sent."""
        world, system, conditions = self.world, self._system, self._conditions
        now, me, abilities = self._agenda.now, system.ids[index], self._abilities
        links, accompany, drawn = self._links, self.accompany, self._chance.at
        for dst, part, message, taken in world.door.sends:
            if not taken:
                continue
            self.sent += 1
            count = self._counts[index]
            self._counts[index] = count + 1
            able = abilities.get((part, type(message)))
            ordered, may_be_lost, may_double = able or self._able(part, type(message))
            to, left = system.index[dst], now
            if links is not None and to != index:
                left = links.leave(index, message, left)
            if conditions.between is None:  # which is what `latency` does
                chance = drawn(Chance.LATENCY, index, count)
                at = left + conditions.latency(chance) * self.delay
            else:
                at = left + self.latency(index, to, count)
            if ordered:
                at = self._last[index, to] = max(at, self._last.get((index, to), 0.0))
            fate: float | None = _ARRIVES
            if may_be_lost and self.befalls(Chance.LOSS, index, count, self.loss):
                fate = _LOST
            elif may_double:
                share = conditions.duplicate
                if self.befalls(Chance.DUPLICATE, index, count, share):
                    copy = left + self.latency(index, to, count, Chance.COPY)
                    at, fate = (at, copy) if ordered else sorted((at, copy))
            envelope = OpenEnvelope(me, part, message)
            if accompany is not None:
                accompany(index, dst, envelope)
            if links is None:
                self._agenda.note(at, to, envelope, fate)
            else:
                self._note(at, to, envelope, fate)
            if world.keeps_mail:
                world.post(to, envelope)

    def is_plain(self, entry: AgendaEntry) -> bool:
        """Say whether a message arrives at a node itself, if nothing else has been asked."""
        return (
            entry[4] is _ARRIVES
            and not entry[3].part
            and not self.world.keeps_mail
            and self._partition.cut is None
            and self.world.hidden[entry[2]].status is _UP
        )

    def arrive(self, entry: AgendaEntry) -> Event | None:
        """Return what a message comes to at its time; None if it waits, or is no more."""
        _, _, index, envelope, fate = entry
        cut, node = self._partition.cut, self._system.ids[index]
        if cut is not None and self._partition.separates(envelope.src, node):
            self._held.append(entry)
            return None
        if fate is not _ARRIVES:
            return self._befall(entry)
        place = self._place(index, envelope) if self._connects else 0
        if place is None:
            return None
        event = None if place else self._arrival(index, envelope)
        if event is None:
            self._agenda.wait(entry)
        elif event.kind is Kind.DELIVER:
            if self._system.unhandled == "wait" and self.must_wait(index, event):
                self._agenda.wait(entry)
                return None
            if self._dry_runs is not None and self._is_noop(index, event):
                return None  # it arrives, and that is no event
        return event

    def come(self, entry: AgendaEntry) -> None:
        """Let a message that has come to the link of its receiver wait for its turn."""
        _, _, index, incoming, _ = entry
        assert self._links is not None
        message = incoming.envelope.message
        at = self._links.come(index, message, self._agenda.now)
        self._agenda.note(at, index, incoming.envelope, incoming.fate)

    def renew(self, index: int, old: Envelope, again: Envelope) -> None:
        """Let a message come once more, in the place of itself, at a time of its own."""
        queue = self._queue(index, old) if self._connects else None
        place = self._place(index, old) if queue else None
        if queue and place is not None:
            queue[place] = again

    def heal(self) -> None:
        """Let arrive what a partition has held."""
        self._agenda.again(self._held)
        self._held = []

    def error(self, entry: AgendaEntry) -> Event | None:
        """Return the error of a broken connection, if a node has still to hear of it."""
        index, peer = entry[2], entry[3]
        for event in self._offered(index):
            is_here = event.node == self._system.ids[index] and event.peer == peer
            if is_here and event.kind is Kind.TRANSPORT_ERROR:
                return event
        return None

    def look_for_errors(self) -> None:
        """Note when nodes hear that connections are broken."""
        for index in range(len(self._system.ids)):
            for peer, link in self.world.mailbox(index).connections().items():
                if link.error_here:
                    to = self._system.index[peer]
                    count = self._errors[index]
                    self._errors[index] = count + 1
                    after = self.latency(index, to, count, Chance.ERROR)
                    self._agenda.note(self._agenda.now + after, index, peer)

    def entries(self) -> list[AgendaEntry]:
        """Return all entries, those too that a partition holds; in no order."""
        return [*self._agenda.all(), *self._held]

    def last_in_order(self, index: int, to: int) -> float:
        """Return when the last message arrives that keeps its order between two nodes."""
        return self._last.get((index, to), 0.0)

    def latency(
        self, index: int, to: int, count: int, kind: int = Chance.LATENCY
    ) -> float:
        """Return how long something takes from one node to another."""
        drawn = self._chance.at(kind, index, count)
        between = self._conditions.between
        if between is None:
            return self._conditions.latency(drawn) * self.delay
        ids = self._system.ids
        return between(ids[index], ids[to], drawn) * self.delay

    def befalls(self, kind: int, index: int, count: int, share: float) -> bool:
        """Say whether something befalls that share of what a node sends."""
        return share > self._chance.at(kind, index, count)

    def must_wait(self, index: int, event: Event) -> bool:
        """Say whether a guard keeps a message or a call at a node from happening."""
        world = self.world
        context = world.context(index)
        return waits(self._system, index, world.nodes[index], context, event)

    # ------------------------------------------------------------------------ inside

    def _arrival(self, index: int, envelope: Envelope) -> Event | None:
        """Return what becomes of a message that arrives; None if nothing does yet."""
        world, node = self.world, self._system.ids[index]
        hidden = world.hidden[index]
        is_up = hidden.status is Status.UP
        if not world.keeps_mail:
            if is_up:
                return delivery(node, envelope)
            if hidden.status is Status.NEW or not self._budget.allows("restarts"):
                return None
            return concerning(Kind.REFUSE, node, envelope)
        if is_up and world.mailbox(index).is_ready(envelope):
            return delivery(node, envelope)
        for event in self._offered(index):
            if event.kind in (Kind.DELIVER, Kind.REFUSE) and event.envelope == envelope:
                return event
            is_error = event.kind is Kind.TRANSPORT_ERROR
            # Who sent it learns that nobody is there.
            if is_error and event.node == envelope.src and event.node != node:
                return event
        return None

    def _offered(self, index: int) -> list[Event]:
        """Return what the network can do at a node, by the rules of all worlds."""
        hidden, inbox = self.world.hidden[index], self.world.mailbox(index)
        budget, partition = self._budget, self._partition
        return arrivals(self._system, index, hidden, inbox, budget, partition)

    def _befall(self, entry: AgendaEntry) -> Event | None:
        """Let a message be lost or doubled, once it is its turn to arrive."""
        _, _, index, envelope, fate = entry
        kind = Kind.DROP if fate == _LOST else Kind.DUPLICATE
        world, node = self.world, self._system.ids[index]
        if world.keeps_mail and envelope not in world.mailbox(index).befallen(kind):
            self._agenda.wait(entry)
            return None
        if kind is Kind.DROP:
            self.lost += 1
            return concerning(kind, node, envelope)
        arriving = (*entry[:4], _ARRIVES)
        ordered, _, _ = self._able(envelope.part, type(envelope.message))
        if ordered:  # right behind: the next message may not come between
            self._agenda.again([arriving, arriving])
        else:
            self._agenda.again([arriving])
            self._note(max(fate, self._agenda.now), index, envelope, _ARRIVES)
        return concerning(kind, node, envelope)

    def _note(
        self, at: float, index: int, envelope: Envelope, fate: float | None
    ) -> None:
        """Note when a message comes to its receiver, or to the link of it."""
        limited = self._links is not None and self._links.limits_down
        # What is lost does not get so far.
        if limited and fate != _LOST and envelope.src != self._system.ids[index]:
            self._agenda.note(at, index, AtDownlink(envelope, fate))
        else:
            self._agenda.note(at, index, envelope, fate)

    def _is_noop(self, index: int, event: Event) -> bool:
        world = self.world
        environment = functools.partial(world.look_up, index)
        assert self._dry_runs is not None
        return is_noop(self._dry_runs, index, world.nodes[index], event, environment)

    def _place(self, index: int, envelope: Envelope) -> int | None:
        """Return how many messages are before one; None if its connection has lost it.

        It is looked for by identity: one that says the same may be under way on the next
        connection, and arrives at its own time.
        """
        queue = self._queue(index, envelope)
        if queue is None:
            return 0
        return next((n for n, one in enumerate(queue) if one is envelope), None)

    def _queue(self, index: int, envelope: Envelope) -> list[Envelope] | None:
        """Return what is under way with a message on a connection; None if it is on none."""
        can = carrier(self._system.network, envelope.part, type(envelope.message))
        if Capability.DISCONNECT not in can.capabilities:
            return None
        link = self.world.mailbox(index).connections().get(envelope.src)
        return [] if link is None else link.queue

    def _fill(self, mail: list[Mailbox]) -> None:
        """Put what is under way into mailboxes."""
        for entry in sorted(self.entries(), key=lambda entry: entry[1]):
            envelope = message_of(entry)
            if envelope is not None:
                mail[entry[2]].put(envelope)

    def _able(self, part: str, message: type) -> tuple[bool, bool, bool]:
        """Say whether messages of a class keep their order, may be lost, or doubled."""
        able = self._abilities.get((part, message))
        if able is None:
            can = carrier(self._system.network, part, message).capabilities
            able = self._abilities[part, message] = (
                Capability.ORDERED in can,
                Capability.DROP in can and self._conditions.may_lose,
                Capability.DUPLICATE in can and self._conditions.duplicate > 0,
            )
        return able


def message_of(entry: AgendaEntry) -> Envelope | None:
    """Return the message that an entry is; None if it is something else."""
    what = entry[3].envelope if type(entry[3]) is AtDownlink else entry[3]
    return what if isinstance(what, Envelope) else None
