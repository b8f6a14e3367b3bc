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

import functools
import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.gauges import TimedStep
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Capability
from worldline.model.network.datagrams import delivery
from worldline.model.node import Handler
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.semantics.outcome import Outcome, as_made
from worldline.model.system import System
from worldline.model.workload import Invocation
from worldline.worlds.access_links import AtDownlink
from worldline.worlds.accompanied import Accompaniment, PutOffCall
from worldline.worlds.agenda import Agenda, AgendaEntry
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import SetDelay, fired
from worldline.worlds.companions import Companion
from worldline.worlds.conditions import Conditions
from worldline.worlds.courier import Courier
from worldline.worlds.refusing import Undo, run_vetted
from worldline.worlds.weather import WeatherEvent, event_of

_BREAK = frozenset(
    {Kind.CRASH, Kind.RESET, Kind.DISCONNECT, Kind.PARTITION, Kind.REFUSE}
    | {Kind.TRANSPORT_ERROR}
)
"""After these a node may have to hear that a connection is broken."""

_STOP = frozenset({Kind.CRASH, Kind.RESET})

_LOOK = 4096
"""Entries of which nothing came, between two looks at the time."""


@final
class Simulation:
    """One run, event by event.

    Parameters
    ----------
    system
        What runs; the faults of the conditions are without limit in it.
    seed
        Makes the random numbers, with nothing but what each is for.
    look
        Is called now and then while nothing happens, and raises if it is to end.
    companions
        What stands beside the nodes, one object for all of them.

    Attributes
    ----------
    world
        The state after the last event.
    agenda
        What is to come.
    alone
        The index of the one node that the last event touched, which is not in what the
        world has touched; None if there may be others.
    touched
        Of each node, if it was that one since somebody put zeros here: bytes fit in caches.
    courier
        The messages that are under way.
    """

    def __init__(
        self,
        system: System,
        conditions: Conditions,
        seed: int,
        look: Callable[[], None] = lambda: None,
        *,
        companions: Sequence[Companion] = (),
    ) -> None:
        self._system, self._conditions, self._look = system, conditions, look
        self._chance = chance = Chance(seed, system.ids)
        self.agenda = agenda = Agenda()
        self.courier = Courier(system, conditions, chance, agenda)
        self.world = self.courier.world
        self.befell: dict[WeatherEvent, bool] = {}
        self._called = array("Q", bytes(8 * len(system.ids)))
        self._finished: dict[int, list[int]] = {}
        self._connects = Capability.DISCONNECT in system.network.capabilities
        self._result: Result | Failure = Result.HANDLED
        self._event: Event | None = None
        self.alone: int | None = None
        self.touched = bytearray(len(system.ids))
        self._entry: AgendaEntry | None = None
        self._types, self._observed = system.types, bool(system.observers)
        self._sorts, self._idle = _SORTS, 0
        self._beside: Accompaniment | None = None
        if companions:
            self._beside = Accompaniment(self, system, conditions, chance, companions)
            self._sorts = {**_SORTS, **self._beside.sorts()}
        self._keeps_delays = system.timed or self._beside is not None
        for index in range(len(system.ids)):
            agenda.note(0.0, index, Kind.START)
        for one in conditions.weather:
            agenda.note(one.time, -1, one)
        if conditions.rate:
            self._plan_calls()

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self.agenda.now

    def next(self, until: float) -> Event | None:
        """Let the next thing happen; None if nothing does before a time is over.

        Parameters
        ----------
        until
            Seconds since the run began.
        """
        with self.world.series:
            return self.event if self.advance(until) else None

    def advance(self, until: float) -> bool:
        """Do what `next` does, in the series of the world; say whether anything happened.

        Who does not ask for the event spares the time that it takes to make one.
        """
        if self.world.failure is not None:
            return False
        take, sorts = self.agenda.take, self._sorts
        while (entry := take(until)) is not None:
            if sorts[type(entry[3])](self, entry):
                return True
            self._idle += 1
            if not self._idle % _LOOK:
                self._look()
        return False

    def planned(self, until: float) -> float | None:
        """Return when the next thing may happen; None if nothing before a time is over."""
        time = self.agenda.next_time()
        return time if time <= until else None

    @property
    def event(self) -> Event:
        """The last event."""
        if self._event is None:
            assert self._entry is not None, "nothing has happened"
            _, _, index, what, _ = self._entry
            node = self._system.ids[index]
            is_timer = type(what) is PendingTimer
            self._event = fired(node, what) if is_timer else delivery(node, what)
        return self._event

    @property
    def steer(self) -> str | None:
        """Why the last event happened in place of another; None if it did not."""
        return None if self._beside is None else self._beside.note_of(self._event)

    def timed_step(self, lamport: int | None) -> TimedStep:
        """Return the last event as gauges see it, with its Lamport time if it is known."""
        door = self.world.door
        return TimedStep(
            as_made(self.event, door.choices),
            handled=self._result is Result.HANDLED,
            sends=functools.partial(_sent, door.me, door.sends or ()),
            choices=door.choices or (),
            time=self.now,
            lamport=lamport,
        )

    def outcome(self) -> Outcome:
        """Return what became of the last event."""
        return self.world.outcome(self._result)

    def run(
        self,
        entry: AgendaEntry,
        handler: Handler,
        arguments: tuple[Any, ...],
        undo: Undo | None = None,
    ) -> bool:
        """Run a plain handler, and note what follows from it; False if it is undone."""
        world, index, agenda = self.world, entry[2], self.agenda
        self._event, self._entry, self.alone = None, entry, index
        self.touched[index] = 1
        if undo is None:
            result = self._result = world.run(index, handler, arguments, entry[0])
        else:
            kept = run_vetted(world, index, handler, arguments, entry[0], undo)
            if kept is None:
                return False
            result = self._result = kept
        if type(result) is Failure:
            return True
        door = world.door
        if door.timers:
            self._set_timers(index)
        if door.sends:
            self.courier.send(index)
        if agenda.waiting:
            agenda.go_on(index)
        return True

    def happen(self, event: Event | None, index: int) -> bool:
        """Let an event happen, if there is one, unless a companion says otherwise."""
        if event is None:
            return False
        if index < 0 or event.kind is Kind.TRANSPORT_ERROR:
            # Weather is noted at no node, and an error perhaps at the other end.
            index = 0 if event.node is None else self._system.index[event.node]
        if self._beside is not None and event.kind.runs_handler:
            return self._beside.happen(event, index)
        return self.let(event, index)

    def let(self, event: Event, index: int, undo: Undo | None = None) -> bool:
        """Let an event happen, and note what follows from it; False if it is undone.

        Parameters
        ----------
        undo
            Undoes it, before anything follows from it, and says whether it did.
        """
        self._event, self.alone = event, None
        world, kind, agenda = self.world, event.kind, self.agenda
        if undo is None:
            result = self._result = world.happen(event, index, agenda.now)
        else:
            result = self._result = world.attempt(event, index, agenda.now)
            if type(result) is not Failure:
                if undo():
                    return False
                world.keep(event, index, result)
        if type(result) is Failure:
            return True
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
        if self._beside is not None:
            self._beside.take_note(event)
        agenda.go_on(index)
        return True

    def _set_timers(self, index: int) -> None:
        world, now, note = self.world, self.agenda.now, self.agenda.note
        timers, keeps_delays = world.hidden[index].timers, self._keeps_delays
        for timer, after in world.door.timers:
            if timers:  # one that is set again comes last
                timers.pop(timer, None)
            if after is not None:
                at = now + after
                # An object that is there once, by which the entry is known again.
                which = timers[timer] = SetDelay(after) if keeps_delays else at
                note(at, index, timer, which)

    def _plan_calls(self) -> None:
        system = self._system
        for index in range(len(system.ids)):
            for number in range(len(system.scripts[index])):
                self.agenda.note(self._next_call(index), index, number)
            for call, _ in system.whenevers[index]:
                self.agenda.note(self._next_call(index), index, call)

    def _next_call(self, index: int) -> float:
        count = self._called[index]
        self._called[index] = count + 1
        drawn = self._chance.at(Chance.CALL, index, count)
        return self.now - math.log1p(-drawn) / self._conditions.rate

    # -------------- what entries come to at their time; False if nothing happens (yet)

    def _start(self, entry: AgendaEntry) -> bool:
        return self.happen(Event(Kind.START, self._system.ids[entry[2]]), entry[2])

    def _message(self, entry: AgendaEntry) -> bool:
        index, envelope = entry[2], entry[3]
        handler = self._types[index].direct_on.get(type(envelope.message))
        if handler is not None and not self._observed and self.courier.is_plain(entry):
            arguments = envelope.src, envelope.message
            if self.world.lets_in(index, handler, arguments):
                return self.run(entry, handler, arguments)
        return self.happen(self.courier.arrive(entry), index)

    def _come(self, entry: AgendaEntry) -> bool:
        self.courier.come(entry)
        return False

    def _error(self, entry: AgendaEntry) -> bool:
        return self.happen(self.courier.error(entry), entry[2])

    def _timer(self, entry: AgendaEntry) -> bool:
        _, _, index, timer, which = entry
        timers = self.world.hidden[index].timers
        if timers.get(timer) is not which:
            return False  # cancelled, set again, or forgotten in a crash
        del timers[timer]
        handler = self._types[index].direct_timers.get(timer.name)
        if handler is not None and not self._observed:
            payload = (timer.payload,) if handler.mark.takes_payload else ()
            if self.world.lets_in(index, handler, payload):
                return self.run(entry, handler, payload)
        self.world.touched.add(self._system.layout.hidden(index))
        return self.happen(fired(self._system.ids[index], timer), index)

    def _script(self, entry: AgendaEntry) -> bool:
        """Make the next call of a script."""
        _, _, index, script, _ = entry
        call = self.world.hidden[index].next_call(script)
        if call is None:
            self._finished.setdefault(index, []).append(script)
            return False
        event = self._call(index, call)
        if event is None:
            self.agenda.wait(entry)
            return False
        if self._beside is not None and not self._beside.call(event, index, script):
            return False
        self.agenda.note(self._next_call(index), index, script)
        return self._beside is not None or self.let(event, index)

    def _repeated(self, entry: AgendaEntry) -> bool:
        """Make a call that may be made at any time, if it may now."""
        _, _, index, call, _ = entry
        self.agenda.note(self._next_call(index), index, call)
        return self.call(index, call)

    def call(self, index: int, call: Invocation) -> bool:
        """Make a call, if its guards let it happen now."""
        event = self._call(index, call)
        if event is None:
            return False
        if self._beside is not None:
            return self._beside.call(event, index, PutOffCall(call))
        return self.let(event, index)

    def _call(self, index: int, call: Invocation) -> Event | None:
        if self.world.hidden[index].status is not Status.UP:
            return None
        node = self._system.ids[index]
        event = Event(Kind.CALL, node, name=call.name, payload=call.arguments)
        return None if self.courier.must_wait(index, event) else event

    def _weather(self, entry: AgendaEntry) -> bool:
        one: WeatherEvent = entry[3]
        if one.every is not None:
            self.agenda.note(self.now + one.every, -1, one)
        if one.what == "loss":
            self.courier.loss = one.amount
        if one.what == "delay":
            self.courier.delay = one.amount
        event = event_of(one, self.world, self._chance)
        is_so = event is not None or one.what in ("loss", "delay")
        self.befell[one] = is_so or self.befell.get(one, False)
        return self.happen(event, -1)


def _sent(
    me: NodeId, sends: Sequence[tuple[NodeId, str, Any, bool]]
) -> tuple[Sent, ...]:
    return tuple(Sent(me, *sent) for sent in sends)


_SORTS: dict[type, Callable[[Simulation, AgendaEntry], bool]] = {
    PendingTimer: Simulation._timer,
    OpenEnvelope: Simulation._message,
    Envelope: Simulation._message,
    AtDownlink: Simulation._come,
    NodeId: Simulation._error,
    Kind: Simulation._start,
    int: Simulation._script,
    Invocation: Simulation._repeated,
    WeatherEvent: Simulation._weather,
}
"""What lets happen what an entry is."""
