"""Companions in a run by the clock: what they see, and what happens instead of events.

What they say and send is no event of the run, and draws no random number of the system.
So runs with and without companions are the same one until something is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.node import Handler
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.workload import Invocation
from worldline.worlds.agenda import Agenda, AgendaEntry
from worldline.worlds.carrying import Carriage, Carried
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import ClockedWorld, SetDelay, fired
from worldline.worlds.companions import Companion, Instead, overriding
from worldline.worlds.conditions import Conditions
from worldline.worlds.control_frames import ControlFrames, FrameUnderWay
from worldline.worlds.courier import Courier
from worldline.worlds.refusing import Undo, Vetted, in_place_of
from worldline.worlds.virtual_life import CallSoon, LaterAction, VirtualLife

PUT_OFF_S = 1.0
"""Seconds for which a message, a call or a timer is put off, if its delay is not less."""

_BEGINS = frozenset({Kind.START, Kind.RESET, Kind.RESTART})

Postpone: TypeAlias = Callable[[], None]
"""Lets what was refused come again."""


@final
class PutOffCall(NamedTuple):
    """A call that was put off, and is made at its time if it may then."""

    call: Invocation


class CourseOfRun(Protocol):
    """The run that companions stand in."""

    world: ClockedWorld
    agenda: Agenda
    courier: Courier

    def run(
        self,
        entry: AgendaEntry,
        handler: Handler,
        arguments: tuple[Any, ...],
        undo: Undo | None = None,
    ) -> bool:
        """Run a plain handler, if nobody undoes it."""

    def happen(self, event: Event | None, index: int) -> bool:
        """Let an event happen, unless a companion says otherwise."""

    def let(self, event: Event, index: int, undo: Undo | None = None) -> bool:
        """Let an event happen, if nobody undoes it."""

    def call(self, index: int, call: Invocation) -> bool:
        """Make a call, if it may be made."""


@final
class Accompaniment:
    """The companions of a run.

    Parameters
    ----------
    run
        The run that they stand in.
    companions
        One object each for all nodes.
    """

    def __init__(
        self,
        run: CourseOfRun,
        system: System,
        conditions: Conditions,
        chance: Chance,
        companions: Sequence[Companion],
    ) -> None:
        self._run, self._system = run, system
        self._world, self._agenda = run.world, run.agenda
        self._companions = companions
        # To whom something means nothing, nothing is said.
        self._gates = overriding(companions, "gate")
        self._notice = overriding(companions, "noticed")
        self._numbers = overriding(companions, "extensions")
        self._see = overriding(companions, "seen")
        self._vet = [one for one in companions if one.vets]
        self._lives: list[VirtualLife | None] = [None] * len(system.ids)
        self._frames = ControlFrames(
            system, chance, run.agenda, run.courier, self._lives
        )
        self._carriage = Carriage(
            run.courier.entries, may_double=conditions.duplicate > 0
        )
        self._put_off: set[int] = set()
        self._noted: tuple[Event | None, str] = None, ""
        # Of a plain handler nobody has to know the event, if nobody wants to.
        self._is_plain = not system.observers
        self._asks = bool(self._gates or self._see or self._vet)
        run.courier.accompany = self._send

    def sorts(self) -> dict[type, Callable[[Any, AgendaEntry], bool]]:
        """Return what lets happen what an entry is, where companions have a say."""
        return {
            PendingTimer: self._timer,
            OpenEnvelope: self._message,
            Envelope: self._message,
            PutOffCall: self._put_off_call,
            FrameUnderWay: self._frame,
            LaterAction: self._later,
            CallSoon: self._call_soon,
        }

    def note_of(self, event: Event | None) -> str | None:
        """Return why an event happened in place of another; None if it did not."""
        noted, text = self._noted
        return text if event is not None and noted is event else None

    def happen(
        self,
        event: Event,
        index: int,
        put_off: Postpone | None = None,
        timer: PendingTimer | None = None,
    ) -> bool:
        """Let an event happen that runs a handler, or something instead of it.

        Parameters
        ----------
        put_off
            Lets it come again; None for what cannot be refused.
        timer
            The timer that has ended, if one has: it is set until it fires.

        Returns
        -------
        bool
            Whether anything happened.
        """
        if event.kind in _BEGINS:
            self._join(index)
        run = partial(self._run.let, event, index)
        return self._ask(self._life(index), event, run, put_off, timer)

    def call(self, event: Event, index: int, again: Any) -> bool:
        """Make a call, or put it off; say whether anything happened.

        Parameters
        ----------
        again
            What is noted then for a second later.
        """
        later = partial(self._agenda.note, self._agenda.now + PUT_OFF_S, index, again)
        return self.happen(event, index, later)

    def take_note(self, event: Event) -> None:
        """Take note of an event that happened, if it ends a life or a connection."""
        if event.kind is Kind.CRASH and event.node is not None:
            self._life(self._system.index[event.node]).is_up = False
        elif event.kind.breaks != "none" or event.kind is Kind.TRANSPORT_ERROR:
            self._frames.break_(event)

    # ---------------------------------------------------------- what lives have to know

    def life_of(self, index: int, peer: int) -> int | None:
        """Return the life of a peer with which a connection is open; None without one."""
        system, life = self._system, self._lives[peer]
        if not self._frames.connects or life is None:
            return None
        link = self._world.mailbox(index).connections().get(system.ids[peer])
        return life.incarnation if link is not None and link.is_whole() else None

    def tell(self, life: VirtualLife, to: int, companion: str, body: bytes) -> None:
        """Send a control frame."""
        self._frames.tell(life, to, companion, body)

    # ------------------------------------ what entries come to; False if nothing happens

    def _message(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        index, envelope = entry[2], entry[3]
        handler = self._system.types[index].plain_on.get(type(envelope.message))
        is_plain = (
            handler is not None and self._is_plain and run.courier.is_plain(entry)
        )
        event: Event | None = None
        if not is_plain:
            event = run.courier.arrive(entry)
            if event is None or event.kind is not Kind.DELIVER:
                return run.happen(event, index)
        life, carried = self._lives[index], self._carriage.take(envelope)
        assert life is not None
        _, sent_in, lamport, numbers, is_known = carried
        if not is_known:
            for companion in self._notice:
                companion.noticed(life, envelope.src, sent_in, numbers)
        if lamport > life.lamport:
            life.lamport = lamport
        if event is not None:
            return self.happen(event, index, partial(self._come_again, index, carried))
        assert handler is not None
        arguments = envelope.src, envelope.message
        if not self._asks:
            life.lamport += 1
            return run.run(entry, handler, arguments)
        event, put_off = (
            delivery(life.me, envelope),
            partial(self._come_again, index, carried),
        )
        plain = partial(run.run, entry, handler, arguments)
        return self._ask(life, event, plain, put_off)

    def _timer(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        _, _, index, timer, which = entry
        hidden = self._world.hidden[index]
        timers = hidden.timers
        if timers.get(timer) is not which:
            return False  # cancelled, set again, or forgotten in a crash
        if self._system.timed and index in self._put_off and timer not in hidden.due():
            self._agenda.wait(entry)  # for one that was put off, as the rule says
            return False
        life = self._lives[index]
        assert life is not None
        handler = self._system.types[index].plain_timers.get(timer.name)
        put_off = partial(self._set_again, index, timer)
        if handler is None or not self._is_plain:
            return self.happen(fired(life.me, timer), index, put_off, timer)
        payload = (timer.payload,) if handler.mark.takes_payload else ()
        if not self._asks:
            self._fire(index, timer)
            life.lamport += 1
            return run.run(entry, handler, payload)
        plain = partial(run.run, entry, handler, payload)
        return self._ask(life, fired(life.me, timer), plain, put_off, timer)

    def _put_off_call(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        return run.call(entry[2], entry[3].call)

    def _frame(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        to, frame = entry[2], entry[3]
        if self._frames.comes(frame, to):
            for companion in self._companions:
                if companion.name == frame.companion:
                    companion.heard(self._life(to), frame.sender.me, frame.body)
        return False

    def _later(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        entry[3].do()
        return False

    def _call_soon(self, run: CourseOfRun, entry: AgendaEntry) -> bool:
        index, planned = entry[2], entry[3]
        assert type(planned) is CallSoon
        if not planned.is_due:
            return False
        if run.courier.must_wait(index, planned.event):
            self._agenda.wait(entry)
            return False
        # A companion may ask for the next one while this one happens.
        planned.is_over = True
        planned.is_over = self.call(planned.event, index, planned)
        return planned.is_over

    # ------------------------------------------------------------------------ inside

    def _fire(self, index: int, timer: PendingTimer) -> None:
        """Take out a timer that has ended."""
        world = self._world
        del world.hidden[index].timers[timer]
        world.touched.add(self._system.layout.hidden(index))

    def _ask(
        self,
        life: VirtualLife,
        event: Event,
        run: Callable[[Undo | None], bool],
        put_off: Postpone | None,
        timer: PendingTimer | None = None,
    ) -> bool:
        """Run the handler of an event, if no companion refuses it before or after."""
        refusal = self._gate(life, event)
        if refusal is None:
            vetted = Vetted(self._world, life, event, self._vet) if self._vet else None
            if timer is not None:
                self._fire(life.index, timer)
            life.lamport += 1
            if run(vetted):
                if self._see and self._world.failure is None:
                    for companion in self._see:
                        companion.seen(life, event)
                return True
            assert vetted is not None
            assert vetted.refusal is not None
            refusal = vetted.refusal
            life.lamport -= 1
        return self._refuse(life, event, *refusal, put_off)

    def _join(self, index: int) -> None:
        """Let a life of a node begin."""
        before = self._lives[index]
        if before is not None:
            before.is_up = False
        life = VirtualLife(index, before, self._world, self._agenda, self)
        self._lives[index] = life
        self._put_off.discard(index)
        for companion in self._companions:
            companion.joined(life)

    def _life(self, index: int) -> VirtualLife:
        life = self._lives[index]
        assert life is not None, "only a start is before the first life"
        return life

    def _gate(
        self, life: VirtualLife, event: Event
    ) -> tuple[Companion, Instead] | None:
        for companion in self._gates:
            instead = companion.gate(life, event)
            if instead is not None:
                return companion, instead
        return None

    def _refuse(
        self,
        life: VirtualLife,
        event: Event,
        companion: Companion,
        instead: Instead,
        put_off: Postpone | None,
    ) -> bool:
        """Let happen instead of an event what a companion wants."""
        if put_off is None:
            raise ModelError(
                f"the companion {companion.name!r} refuses {event!r}",
                remedy="refuse messages, timers and calls alone",
            )
        other = in_place_of(self._world, event, instead)
        if other is None:
            put_off()
            return False
        self._noted = other, companion.note(life)
        if other.kind is Kind.DROP:
            self._run.courier.lost += 1
        assert other.node is not None
        return self._run.let(other, self._system.index[other.node])

    def _come_again(self, index: int, carried: Carried) -> None:
        """Let a message come again, as another one under way: its copies go on."""
        old, life, lamport, numbers, _ = carried
        again = OpenEnvelope(old.src, old.part, old.message)
        self._carriage.put((again, life, lamport, numbers, True))
        self._run.courier.renew(index, old, again)
        self._agenda.note(self._agenda.now + PUT_OFF_S, index, again)

    def _set_again(self, index: int, timer: PendingTimer) -> None:
        """Let a timer end again, without any change of the state."""
        timers = self._world.hidden[index].timers
        delay = float(timers[timer])
        which = timers[timer] = SetDelay(delay)
        after = min(delay, PUT_OFF_S) or PUT_OFF_S
        self._agenda.note(self._agenda.now + after, index, timer, which)
        self._put_off.add(index)

    def _send(self, index: int, dst: NodeId, envelope: Envelope) -> None:
        """Put beside a message that is sent what goes with it."""
        life = self._lives[index]
        assert life is not None
        numbers: dict[int, int] = {}
        for companion in self._numbers:
            part, message = envelope.part, envelope.message
            numbers |= companion.extensions(life, dst, part, message) or {}
        self._carriage.put((envelope, life.incarnation, life.lamport, numbers, False))
