"""A run by the clock: what happens, and when.

An agenda holds what is to come: timers that end, messages that arrive, calls, weather. Of
two things at one time the one that was written down first happens first. What cannot
happen at its time waits until something has happened at its node: a message whose guard
is false, or that a partition holds; a call.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section 3:
events of a simulation in the order of a logical clock, predicates after each.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.faults import Budget, Partition
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Capability, carrier
from worldline.model.network.datagrams import concerning, delivery
from worldline.model.semantics.execute import Failure, Result, waits
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.outcome import Outcome
from worldline.model.semantics.transitions import arrivals
from worldline.model.system import System
from worldline.model.workload import Invocation
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import ClockedWorld, SetDelay
from worldline.worlds.dry_run import DryRuns, is_noop
from worldline.worlds.latency import Latency
from worldline.worlds.weather import WeatherEvent, event_of

Entry: TypeAlias = tuple[float, int, int, Any, Any]
"""Time, number, index of the node, what it is (its type says which sort), and of a timer
the delay with which it was set, of a message what becomes of it on its way."""

_ARRIVES, _LOST, _DOUBLED = range(3)

_BREAK = frozenset(
    {Kind.CRASH, Kind.RESET, Kind.DISCONNECT, Kind.PARTITION, Kind.REFUSE}
)
"""After these a node may have to hear that a connection is broken."""

_STOP = frozenset({Kind.CRASH, Kind.RESET})


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """The conditions of a run: what is not in the system.

    Attributes
    ----------
    latency
        Of each message.
    loss, duplicate
        The share of messages that a network which can loses or doubles.
    rate
        Calls a second: of each script, and of each call that may be made at any time.
    weather
        What befalls nodes and network at given times.
    """

    latency: Latency
    loss: float = 0.0
    duplicate: float = 0.0
    rate: float = 1.0
    weather: Sequence[WeatherEvent] = ()


@final
class Simulation:
    """One run, event by event.

    Parameters
    ----------
    system
        What runs; the faults of the conditions are without limit in it.
    seed
        Makes the random numbers, with nothing but what each is for.

    Attributes
    ----------
    world
        The state after the last event.
    now
        Seconds since the run began.
    sent, lost
        Messages that were sent, and those of them that the network lost.
    """

    def __init__(self, system: System, conditions: Conditions, seed: int) -> None:
        self.now = 0.0
        self.sent = self.lost = 0
        self._system = system
        self._conditions = conditions
        self._chance = Chance(seed, system.ids)
        self._agenda: list[Entry] = []
        self._number = 0
        self._sent = array("Q", bytes(8 * len(system.ids)))
        self._called = array("Q", bytes(8 * len(system.ids)))
        self._waiting: dict[int, list[Entry]] = {}
        self._held: list[Entry] = []
        self._last: dict[tuple[int, int], float] = {}
        self._finished: dict[int, list[int]] = {}
        self._abilities: dict[tuple[str, type], tuple[bool, bool, bool]] = {}
        self._connects = Capability.DISCONNECT in system.network.capabilities
        self._dry_runs = DryRuns(system) if system.ignore_noops else None
        self._delay, self._loss = 1.0, conditions.loss
        self._result: Result | Failure = Result.HANDLED
        self.world = ClockedWorld(system, self._chance, self._under_way)
        for index, node in enumerate(system.ids):
            self._note(0.0, index, Event(Kind.START, node))
        self._plan()

    def next(self, until: float) -> Event | None:
        """Let the next thing happen; None if nothing does before a time is over.

        Parameters
        ----------
        until
            Seconds since the run began.
        """
        agenda = self._agenda
        while agenda and agenda[0][0] <= until and self.world.failure is None:
            entry = heappop(agenda)
            self.now = entry[0]
            event = self._event(entry)
            if event is not None:
                self._happen(event, entry[2])
                return event
        if self.world.failure is None:
            self.now = until
        return None

    def outcome(self) -> Outcome:
        """Return what became of the last event."""
        return self.world.outcome(self._result)

    # ------------------------------------------------------------ what is written down

    def _note(self, time: float, index: int, what: Any, extra: Any = None) -> None:
        self._number += 1
        heappush(self._agenda, (time, self._number, index, what, extra))

    def _plan(self) -> None:
        """Write down the weather, and the first calls."""
        for one in self._conditions.weather:
            self._note(one.time, -1, one)
        system = self._system
        for index in range(len(system.ids)):
            if not self._conditions.rate:
                break
            for number in range(len(system.scripts[index])):
                self._note(self._next_call(index), index, number)
            for call, _ in system.whenevers[index]:
                self._note(self._next_call(index), index, call)

    def _next_call(self, index: int) -> float:
        count = self._called[index]
        self._called[index] = count + 1
        drawn = self._chance.at(Chance.CALL, index, count)
        return self.now - math.log1p(-drawn) / self._conditions.rate

    def _under_way(self) -> Iterator[tuple[int, Envelope]]:
        entries = [*self._agenda, *self._held]
        for waiting in self._waiting.values():
            entries += waiting
        for entry in sorted(entries, key=lambda entry: entry[1]):
            if isinstance(entry[3], Envelope):
                yield entry[2], entry[3]

    # ------------------------------------------------------------------- what happens

    def _happen(self, event: Event, index: int) -> None:
        """Let an event happen, and write down what follows from it."""
        world, kind = self.world, event.kind
        if index < 0 or kind is Kind.TRANSPORT_ERROR:
            # Weather is noted at no node, and an error perhaps at the other end.
            index = 0 if event.node is None else self._system.index[event.node]
        result = self._result = world.happen(event, index, self.now)
        if type(result) is Failure:
            return
        door = world.door
        if door.timers:
            self._set_timers(index)
        if door.sends:
            self._send(index)
        if kind is Kind.HEAL:
            self._try_again(self._held)
            self._held = []
        if kind in _STOP:
            for script in self._finished.pop(index, ()):
                self._note(self._next_call(index), index, script)
        if self._connects and (kind in _BREAK or kind is Kind.TRANSPORT_ERROR):
            self._look_for_errors()
        if self._waiting and index in self._waiting:
            self._try_again(self._waiting.pop(index))

    def _try_again(self, entries: list[Entry]) -> None:
        for _, number, index, what, extra in entries:
            heappush(self._agenda, (self.now, number, index, what, extra))

    def _set_timers(self, index: int) -> None:
        timers = self.world.hidden[index].timers
        for change in self.world.door.timers:
            timers.pop(change.timer, None)
            if change.after is not None:
                delay = timers[change.timer] = SetDelay(change.after)
                self._note(self.now + change.after, index, change.timer, delay)

    def _send(self, index: int) -> None:
        world, chance, me = self.world, self._chance, self._system.ids[index]
        for dst, part, message, taken in world.door.sends:
            if not taken:
                continue
            self.sent += 1
            count = self._sent[index]
            self._sent[index] = count + 1
            ordered, drops, doubles = self._able(part, type(message))
            to = self._system.index[dst]
            at = self.now + self._latency(index, count)
            if ordered:
                at = self._last[index, to] = max(at, self._last.get((index, to), 0.0))
            fate = _ARRIVES
            if drops and self._loss > chance.at(Chance.LOSS, index, count):
                fate = _LOST
            elif doubles and self._conditions.duplicate > chance.at(
                Chance.DUPLICATE, index, count
            ):
                fate = _DOUBLED
            envelope = OpenEnvelope(me, part, message)
            self._note(at, to, envelope, fate)
            if world.keeps_mail:
                world.post(to, envelope)

    def _latency(self, index: int, count: int) -> float:
        drawn = self._chance.at(Chance.LATENCY, index, count)
        return self._conditions.latency(drawn) * self._delay

    def _able(self, part: str, message: type) -> tuple[bool, bool, bool]:
        """Say whether messages of a class keep their order, may be lost, or doubled."""
        able = self._abilities.get((part, message))
        if able is None:
            can = carrier(self._system.network, part, message).capabilities
            able = self._abilities[part, message] = (
                Capability.ORDERED in can,
                Capability.DROP in can and self._loss_is_possible(),
                Capability.DUPLICATE in can and self._conditions.duplicate > 0,
            )
        return able

    def _loss_is_possible(self) -> bool:
        weather = self._conditions.weather
        return self._conditions.loss > 0 or any(one.what == "loss" for one in weather)

    # --------------------------------------------------- from the agenda to an event

    def _event(self, entry: Entry) -> Event | None:
        """Return what an entry comes to at its time; None if nothing, or if it waits."""
        _, _, index, what, extra = entry
        find = _SORTS.get(type(what))
        if find is not None:
            return find(self, entry)
        if type(what) is Event:
            return what  # a start
        return self._weather(what) if type(what) is WeatherEvent else None

    def _timer(self, entry: Entry) -> Event | None:
        _, _, index, timer, delay = entry
        timers = self.world.hidden[index].timers
        if timers.get(timer) is not delay:
            return None  # cancelled, set again, or forgotten in a crash
        del timers[timer]
        return Event(
            Kind.TIMER,
            self._system.ids[index],
            part=timer.part,
            name=timer.name,
            payload=timer.payload,
        )

    def _message(self, entry: Entry) -> Event | None:
        _, number, index, envelope, fate = entry
        system, node = self._system, self._system.ids[entry[2]]
        if self._partition.cut is not None:
            if self._partition.separates(envelope.src, node):
                self._held.append(entry)
                return None
        if fate is not _ARRIVES:
            return self._befall(entry)
        event = self._arrival(index, envelope)
        if event is None:
            if self._is_under_way(index, envelope):
                self._wait(entry)
            return None
        if event.kind is Kind.DELIVER:
            if system.unhandled == "wait" and self._must_wait(index, event):
                self._wait(entry)
                return None
            if self._dry_runs is not None and self._is_noop(index, event):
                return None  # it arrives, and that is no event
        return event

    def _is_noop(self, index: int, event: Event) -> bool:
        world, node = self.world, self.world.nodes[index]
        environment = functools.partial(world.look_up, index)
        assert self._dry_runs is not None
        return is_noop(self._dry_runs, index, node, event, environment)

    def _arrival(self, index: int, envelope: Envelope) -> Event | None:
        """Return what becomes of a message that arrives; None if nothing does yet."""
        world, system = self.world, self._system
        node, hidden = system.ids[index], world.hidden[index]
        is_up = hidden.status is Status.UP
        if not world.keeps_mail:
            if is_up:
                return delivery(node, envelope)
            if hidden.status is Status.NEW or not self._budget.allows("restarts"):
                return None
            return concerning(Kind.REFUSE, node, envelope)
        inbox = world.mailbox(index)
        if is_up and inbox.is_ready(envelope):
            return delivery(node, envelope)
        for event in arrivals(
            system, index, hidden, inbox, self._budget, self._partition
        ):
            if event.envelope == envelope and event.kind in (Kind.DELIVER, Kind.REFUSE):
                return event
            if event.kind is Kind.TRANSPORT_ERROR and event.node == envelope.src:
                if event.node != node:  # who sent it learns that nobody is there
                    return event
        return None

    def _befall(self, entry: Entry) -> Event | None:
        """Let a message be lost or doubled, once it is its turn to arrive."""
        _, number, index, envelope, fate = entry
        kind = Kind.DROP if fate is _LOST else Kind.DUPLICATE
        world, node = self.world, self._system.ids[index]
        if world.keeps_mail:
            inbox = world.mailbox(index)
            if envelope not in inbox.befallen(kind):
                self._wait(entry)
                return None
        if kind is Kind.DROP:
            self.lost += 1
            return concerning(kind, node, envelope)
        src = self._system.index[envelope.src]
        heappush(self._agenda, (self.now, number, index, envelope, _ARRIVES))
        ordered, _, _ = self._able(envelope.part, type(envelope.message))
        count = self._sent[src]
        self._sent[src] = count + 1
        if ordered:  # right behind: the next message may not come between
            heappush(self._agenda, (self.now, number, index, envelope, _ARRIVES))
        else:
            at = self.now + self._latency(src, count)
            self._note(at, index, envelope, _ARRIVES)
        return concerning(kind, node, envelope)

    def _error(self, entry: Entry) -> Event | None:
        """Return the error of a broken connection, if a node has still to hear of it."""
        index, peer = entry[2], entry[3]
        hidden, inbox = self.world.hidden[index], self.world.mailbox(index)
        events = arrivals(
            self._system, index, hidden, inbox, self._budget, self._partition
        )
        me = self._system.ids[index]
        for event in events:
            if event.kind is Kind.TRANSPORT_ERROR and event.node == me:
                if event.peer == peer:
                    return event
        return None

    def _look_for_errors(self) -> None:
        """Write down when nodes hear that connections are broken."""
        for index in range(len(self._system.ids)):
            for peer, link in self.world.mailbox(index).connections().items():
                if link.error_here:
                    count = self._sent[index]
                    self._sent[index] = count + 1
                    self._note(self.now + self._latency(index, count), index, peer)

    def _script(self, entry: Entry) -> Event | None:
        """Return the next call of a script."""
        _, _, index, script, _ = entry
        call = self.world.hidden[index].next_call(script)
        if call is None:
            self._finished.setdefault(index, []).append(script)
            return None
        event = self._call(index, call)
        if event is None:
            self._wait(entry)
        else:
            self._note(self._next_call(index), index, script)
        return event

    def _repeated(self, entry: Entry) -> Event | None:
        """Return a call that may be made at any time, if it may now."""
        _, _, index, call, _ = entry
        self._note(self._next_call(index), index, call)
        return self._call(index, call)

    def _call(self, index: int, call: Invocation) -> Event | None:
        if self.world.hidden[index].status is not Status.UP:
            return None
        node = self._system.ids[index]
        event = Event(Kind.CALL, node, name=call.name, payload=call.arguments)
        return None if self._must_wait(index, event) else event

    def _must_wait(self, index: int, event: Event) -> bool:
        world = self.world
        context = world.context(index)
        return waits(self._system, index, world.nodes[index], context, event)

    def _weather(self, one: WeatherEvent) -> Event | None:
        if one.every is not None:
            self._note(self.now + one.every, -1, one)
        if one.what == "loss":
            self._loss = one.amount
        if one.what == "delay":
            self._delay = one.amount
        return event_of(one, self.world)

    def _wait(self, entry: Entry) -> None:
        self._waiting.setdefault(entry[2], []).append(entry)

    def _is_under_way(self, index: int, envelope: Envelope) -> bool:
        """Say whether a message is there still: a reset may have taken it away."""
        if not self.world.keeps_mail:
            return True
        return envelope in self.world.mailbox(index).envelopes()

    @property
    def _partition(self) -> Partition:
        return self.world.around[Layout.PARTITION]  # type: ignore[no-any-return]

    @property
    def _budget(self) -> Budget:
        return self.world.around[Layout.BUDGET]  # type: ignore[no-any-return]


_SORTS: dict[type, Callable[[Simulation, Entry], Event | None]] = {
    PendingTimer: Simulation._timer,
    OpenEnvelope: Simulation._message,
    Envelope: Simulation._message,
    NodeId: Simulation._error,
    int: Simulation._script,
    Invocation: Simulation._repeated,
}
"""What finds the event of an entry."""
