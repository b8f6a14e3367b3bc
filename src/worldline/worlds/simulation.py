"""A run by the clock: what happens, and when.

An agenda holds what is to come: timers that end, messages that arrive, calls, weather.
What cannot happen at its time waits until something has happened at its node: a message
or a call whose guard is false.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section 3:
events of a simulation in the order of a logical clock, predicates after each.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from heapq import heappop
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Capability
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.model.workload import Invocation
from worldline.worlds.agenda import Agenda, AgendaEntry
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import SetDelay
from worldline.worlds.conditions import Conditions
from worldline.worlds.courier import Courier
from worldline.worlds.weather import WeatherEvent, event_of

_BREAK = frozenset(
    {Kind.CRASH, Kind.RESET, Kind.DISCONNECT, Kind.PARTITION, Kind.REFUSE}
    | {Kind.TRANSPORT_ERROR}
)
"""After these a node may have to hear that a connection is broken."""

_STOP = frozenset({Kind.CRASH, Kind.RESET})


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
    courier
        The messages that are under way.
    """

    def __init__(self, system: System, conditions: Conditions, seed: int) -> None:
        self._system = system
        self._conditions = conditions
        self._chance = chance = Chance(seed, system.ids)
        self._agenda = agenda = Agenda()
        self.courier = Courier(system, conditions, chance, agenda)
        self.world = self.courier.world
        self._called = array("Q", bytes(8 * len(system.ids)))
        self._finished: dict[int, list[int]] = {}
        self._connects = Capability.DISCONNECT in system.network.capabilities
        self._result: Result | Failure = Result.HANDLED
        for index, node in enumerate(system.ids):
            agenda.note(0.0, index, Event(Kind.START, node))
        for one in conditions.weather:
            agenda.note(one.time, -1, one)
        if conditions.rate:
            self._plan_calls()

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self._agenda.now

    def next(self, until: float) -> Event | None:
        """Let the next thing happen; None if nothing does before a time is over.

        Parameters
        ----------
        until
            Seconds since the run began.
        """
        agenda = self._agenda
        heap, sorts = agenda.heap, _SORTS
        while heap and heap[0][0] <= until and self.world.failure is None:
            entry = heappop(heap)
            agenda.now = entry[0]
            event = sorts[type(entry[3])](self, entry)
            if event is not None:
                self._happen(event, entry[2])
                return event
        if self.world.failure is None:
            agenda.now = until
        return None

    def outcome(self) -> Outcome:
        """Return what became of the last event."""
        return self.world.outcome(self._result)

    def _happen(self, event: Event, index: int) -> None:
        """Let an event happen, and note what follows from it."""
        world, kind, agenda = self.world, event.kind, self._agenda
        if index < 0 or kind is Kind.TRANSPORT_ERROR:
            # Weather is noted at no node, and an error perhaps at the other end.
            index = 0 if event.node is None else self._system.index[event.node]
        result = self._result = world.happen(event, index, agenda.now)
        if type(result) is Failure:
            return
        if world.door.timers:
            self._set_timers(index)
        if world.door.sends:
            self.courier.send(index)
        if kind is Kind.HEAL:
            self.courier.heal()
        if kind in _STOP:
            for script in self._finished.pop(index, ()):
                agenda.note(self._next_call(index), index, script)
        if self._connects and kind in _BREAK:
            self.courier.look_for_errors()
        if index in agenda.waiting:
            agenda.again(agenda.waiting.pop(index))

    def _set_timers(self, index: int) -> None:
        timers, now = self.world.hidden[index].timers, self._agenda.now
        for change in self.world.door.timers:
            timers.pop(change.timer, None)
            if change.after is not None:
                delay = timers[change.timer] = SetDelay(change.after)
                self._agenda.note(now + change.after, index, change.timer, delay)

    def _plan_calls(self) -> None:
        system = self._system
        for index in range(len(system.ids)):
            for number in range(len(system.scripts[index])):
                self._agenda.note(self._next_call(index), index, number)
            for call, _ in system.whenevers[index]:
                self._agenda.note(self._next_call(index), index, call)

    def _next_call(self, index: int) -> float:
        count = self._called[index]
        self._called[index] = count + 1
        drawn = self._chance.at(Chance.CALL, index, count)
        return self.now - math.log1p(-drawn) / self._conditions.rate

    # ------------------- what entries come to at their time; None if nothing, or later

    def _start(self, entry: AgendaEntry) -> Event | None:
        event: Event = entry[3]
        return event

    def _message(self, entry: AgendaEntry) -> Event | None:
        return self.courier.arrive(entry)

    def _error(self, entry: AgendaEntry) -> Event | None:
        return self.courier.error(entry)

    def _timer(self, entry: AgendaEntry) -> Event | None:
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

    def _script(self, entry: AgendaEntry) -> Event | None:
        """Return the next call of a script."""
        _, _, index, script, _ = entry
        call = self.world.hidden[index].next_call(script)
        if call is None:
            self._finished.setdefault(index, []).append(script)
            return None
        event = self._call(index, call)
        if event is None:
            self._agenda.wait(entry)
        else:
            self._agenda.note(self._next_call(index), index, script)
        return event

    def _repeated(self, entry: AgendaEntry) -> Event | None:
        """Return a call that may be made at any time, if it may now."""
        _, _, index, call, _ = entry
        self._agenda.note(self._next_call(index), index, call)
        return self._call(index, call)

    def _call(self, index: int, call: Invocation) -> Event | None:
        if self.world.hidden[index].status is not Status.UP:
            return None
        node = self._system.ids[index]
        event = Event(Kind.CALL, node, name=call.name, payload=call.arguments)
        return None if self.courier.must_wait(index, event) else event

    def _weather(self, entry: AgendaEntry) -> Event | None:
        one: WeatherEvent = entry[3]
        if one.every is not None:
            self._agenda.note(self.now + one.every, -1, one)
        if one.what == "loss":
            self.courier.loss = one.amount
        if one.what == "delay":
            self.courier.delay = one.amount
        return event_of(one, self.world, self._chance)


_SORTS: dict[type, Callable[[Simulation, AgendaEntry], Event | None]] = {
    PendingTimer: Simulation._timer,
    OpenEnvelope: Simulation._message,
    Envelope: Simulation._message,
    NodeId: Simulation._error,
    int: Simulation._script,
    Invocation: Simulation._repeated,
    Event: Simulation._start,
    WeatherEvent: Simulation._weather,
}
"""What finds the event of an entry."""
