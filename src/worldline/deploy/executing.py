"""Execution of events at a deployed node: handlers, verdicts of companions, effects."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import Any, final

from worldline.deploy.attended import AttendedEvents
from worldline.deploy.clock import HostClock
from worldline.deploy.counts import NodeCounts
from worldline.deploy.door import HostDoor
from worldline.deploy.following import Following, NumbersBeside
from worldline.deploy.recovery import Restored
from worldline.deploy.turn import PresentTurn
from worldline.deploy.watching import Watching
from worldline.deploy.wire import Wire
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import Handler
from worldline.model.semantics.execute import (
    Failure,
    Result,
    make_context,
    name_at,
    perform,
    waits,
)
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.plain import run_plain
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.lasting import Lasting
from worldline.trace.journal.records import FailedRecord, FateRecord
from worldline.worlds.companions import Attention, Beside, Instead
from worldline.worlds.undoing import Before

SLOW_S = 0.1
"""Seconds after which it is said, once, that a handler took long."""

PUT_OFF_S = 1.0
"""Seconds for which a timer, a call or a message is put off."""

PutOff = tuple[PendingTimer, float]
"""A timer that fires, and the seconds until it would again."""


@final
class NodeExecution:
    """The execution of events at one node, in one of its lives.

    Parameters
    ----------
    node
        The node object.
    now
        The clock of the host.
    seed
        Makes what handlers choose, with the node and the life.
    fire
        Takes a timer that has ended.
    rest
        Takes a message that is put off.
    ended
        Is told how a handler failed; nothing may be run after that.

    Attributes
    ----------
    lamport
        The Lamport time of the last event.
    door
        What handlers ask.
    series
        Entered by who lets several events happen.
    watching
        The companions that look at its events; None if none does.
    unaware
        Is to be told that messages have passed, since nobody looks at what they change.
    """

    def __init__(
        self,
        system: System,
        index: int,
        restored: Restored,
        node: Any,
        *,
        codec: Codec,
        wire: Wire,
        turn: PresentTurn,
        now: HostClock,
        seed: int,
        watching: Watching | None,
        counts: NodeCounts,
        fire: Callable[[PendingTimer], None],
        rest: Callable[[Event], None],
        ended: Callable[[Failure], None],
        say: Callable[[str], None],
    ) -> None:
        self.lamport = restored.lamport
        self._system, self._index, self._me = system, index, system.ids[index]
        self._kind, self._node = system.types[index], node
        rng = random.Random(f"{seed} {self._me.name} {restored.incarnation}")
        self.door = door = HostDoor(system, rng, wire.is_full)
        door.counter = restored.counter
        self._context = make_context(system, index, door)
        self._context.move(self._me, node)
        self.following = Following(
            system,
            index,
            restored.incarnation,
            door,
            Lasting(self._kind, node, restored.durable or ()),
            node,
            codec=codec,
            wire=wire,
            turn=turn,
            fire=fire,
            counts=counts,
        )
        self._turn, self._wire, self._now = turn, wire, now
        self.watching, self._counts = watching, counts
        self._before = None if watching is None else watching.before
        self._attended: AttendedEvents | None = None
        self.unaware: Attention | None = None
        self._numbers: NumbersBeside | None = None
        self._rest, self._ended, self._say = rest, ended, say
        self._named: set[str] = set()
        self.series = Series()

    def attend(self, attention: Attention) -> None:
        """Let companions see no more of events than they attend to."""
        self._attended = AttendedEvents(attention, self.door)
        self._numbers = attention.beside
        self.following.attend(attention)
        kind, before = self._kind, self._before
        if before is None:  # what has changed is then known without asking them
            self._before = before = Before(kind, self._node, is_spared=True)
        for handler in (*kind.on.values(), *kind.timers.values()):
            before.changes_after(handler)  # the first time takes long

    def run(
        self, number: int, handler: Handler, arguments: tuple[Any, ...]
    ) -> Event | None:
        """Run a handler of which nothing has to be asked before.

        Where somebody watches, it is that of a message, and no event is to be gated.

        Returns
        -------
        Event or None
            A message that was undone, and is to come again.
        """
        door, series = self._begin(), self.series
        series.enter(handler.number)
        try:
            result = run_plain(
                self._kind, self._node, self._context, door, handler, arguments
            )
        finally:
            series.leave()
        if type(result) is Failure:
            self._fail(number, result)
        elif self._before is not None:
            return self._pass(self._before, number, result, handler, arguments)
        else:
            self._settle(number, result, handler.name, self._numbers)
        return None

    def happen(
        self, life: Beside, record: Any, event: Event, put_off: PutOff | None = None
    ) -> Result | None:
        """Let an event happen, unless a companion says otherwise.

        Parameters
        ----------
        life
            The life that it happens in, for companions.
        record
            What the journal says of it: a record, or the packet of a message; or its number
            if it does already. A call or a message that goes on waiting leaves no trace.

        Returns
        -------
        Result or None
            What became of it; None if it was refused, or its handler failed. A message
            that is put off waits.
        """
        if self.watching is not None:
            return self._happen_beside(self.watching, life, record, event, put_off)
        door = self._begin()
        result = perform(
            self._system, self._index, self._node, self._context, door, event
        )
        if result is Result.WAITS and type(record) not in _ARRIVES:
            return self._go_on_waiting()
        number = self._turn.number(record)
        if type(result) is Failure:
            self._fail(number, result)
            return None
        assert type(result) is Result
        self._settle(number, result, event.name, None)
        return result

    # ------------------------------------------------------------------------ inside

    def _begin(self) -> HostDoor:
        self.lamport += 1
        self._counts.events += 1
        door = self.door
        door.begin(self._me)
        door.clock, door.clock_read = self._now(), False
        return door

    def _handler_of(self, event: Event) -> Handler | None:
        """Return the only handler that an event may run; None if there may be others."""
        if event.part or self._kind.parts:
            return None
        if event.kind is Kind.DELIVER:
            return self._kind.on.get(type(event.payload))
        return self._kind.timers.get(event.name) if event.kind is Kind.TIMER else None

    def _run_plain(
        self, handler: Handler, door: HostDoor, event: Event
    ) -> Result | Failure:
        """Run such a handler, which is far faster than to look for it."""
        arguments: tuple[Any, ...] = (event.peer, event.payload)
        if event.kind is Kind.TIMER:
            arguments = (event.payload,) if handler.mark.takes_payload else ()
        series = self.series
        series.enter(handler.number)
        try:
            return run_plain(
                self._kind, self._node, self._context, door, handler, arguments
            )
        finally:
            series.leave()

    def _happen_beside(
        self,
        watching: Watching,
        life: Beside,
        record: Any,
        event: Event,
        put_off: PutOff | None,
    ) -> Result | None:
        """Let an event happen beside which there are companions; see `happen`."""
        attended, turn, handler = self._attended, self._turn, self._handler_of(event)
        plain = None if handler is None or handler.mark.when is not None else handler
        instead: Instead | None = None
        if attended is None or attended.attention.is_gated or event.kind not in _OFTEN:
            attended, instead = None, self._gate(watching, life, event, plain)
        door = self._begin()
        if instead is not None:
            return self._refuse(record, event, "blocked", instead, put_off)
        result = (
            perform(self._system, self._index, self._node, self._context, door, event)
            if plain is None
            else self._run_plain(plain, door, event)
        )
        if result is Result.WAITS and type(record) not in _ARRIVES:
            return self._go_on_waiting()
        if type(result) is Failure:
            self._fail(turn.number(record), result)
            return None
        assert type(result) is Result
        before, is_over = self._before, result is not Result.WAITS
        written: Collection[str] | None = None
        if before is not None and is_over:
            door.written = written = before.changes_after(handler)
            fired = None if put_off is None else put_off[0]
            if attended is None or attended.is_about(written, fired):
                instead = watching.vet(life, event, door)
            if instead is not None:
                before.put_back(self._node)
                return self._refuse(record, event, "undone", instead, put_off)
            before.renew(written, handler)
        number, numbers = turn.number(record), watching.numbers(life, event.kind)
        if event.kind in _BEGINS:
            written = None  # at its start a node is looked at as a whole
        self._settle(number, result, event.name, numbers, written)
        if attended is not None:
            self._pass_on(attended, written)
        elif is_over:
            turn.leaving.seen.append((life, event))
        return result

    def _pass(
        self, before: Before, number: int, result: Result, handler: Handler, given: Any
    ) -> Event | None:
        """Let follow what the handler of a message has done, if nobody undoes it."""
        attended = self._attended
        assert attended is not None
        door, attention = self.door, attended.attention
        door.written = written = before.changes_after(handler)
        is_kept = False
        if not door.timers:
            is_kept = written is attended.idle
            if not is_kept and type(written) is tuple:
                again = attention.again.get(written)
                is_kept = again is not None and again(self.series)
        if not is_kept and attention.vet and attended.is_about(written, None):
            src, message = given
            refusal = attention.vet(src, message, door, self.series)
            if refusal is not None:
                event, instead = refusal
                before.put_back(self._node)
                waits = self._refuse(number, event, "undone", instead, None)
                return event if waits is Result.WAITS else None
        before.renew(written, handler)
        self._settle(number, result, handler.name, self._numbers, written)
        if written is not attended.idle or attention.is_due:
            self._pass_on(attended, written)
        return None

    def _pass_on(
        self, attended: AttendedEvents, written: Collection[str] | None
    ) -> None:
        before = self._before
        if before is not None and before.is_costly and attended.attention.vet is None:
            self._before = self.door.written = None  # it looks at the node by itself
            self.unaware = attended.attention
        attended.passed(self._turn.leaving, written)

    def _gate(
        self, watching: Watching, life: Beside, event: Event, plain: Handler | None
    ) -> Instead | None:
        # What waits in any case is no event yet, and is tried again and again.
        may_wait = plain is None and event.kind in _MAY_WAIT
        if may_wait and waits(
            self._system, self._index, self._node, self._context, event
        ):
            return None
        return watching.gate(life, event)

    def _settle(
        self,
        number: int,
        result: Result,
        name: str,
        numbers: NumbersBeside | None,
        written: Collection[str] | None = None,
    ) -> None:
        """Let follow what a handler has done."""
        self.following.settle(number, result, self.lamport, numbers, written)
        began = self.door.clock
        assert began is not None
        took = self._now() - began
        if took > SLOW_S and name not in self._named:
            self._named.add(name)
            what = f"{name_at(self._kind, name)} at {self._me}"
            self._say(f"{what} took {took:.2f} s; all else of its host waited")

    def _fail(self, number: int, failure: Failure) -> None:
        said = failure.kind, failure.name, failure.where, failure.message
        self._turn.note(FailedRecord(number, *said))
        self._ended(failure)

    def _go_on_waiting(self) -> Result:
        """Take back that something has happened."""
        self.lamport -= 1
        self._counts.events -= 1
        return Result.WAITS

    def _refuse(
        self,
        record: Any,
        event: Event,
        fate: str,
        instead: Instead,
        put_off: PutOff | None,
    ) -> Result | None:
        """Let happen instead of an event what a companion wants; see `happen`."""
        turn = self._turn
        rests = event.kind is Kind.DELIVER and instead is Instead.PUT_OFF
        if rests:
            self._rest(event)
            if type(record) not in _ARRIVES:
                return self._go_on_waiting()
            fate = Result.WAITS.value  # as a replay has it, too: it comes again
        turn.note(FateRecord(turn.number(record), fate, instead.value))
        if put_off is not None:
            self.following.set_timer(*put_off)
        elif instead is Instead.BROKEN and event.peer is not None:
            self._wire.break_connection(self._system.index[event.peer])
        return Result.WAITS if rests else None


_MAY_WAIT = frozenset({Kind.CALL, Kind.DELIVER})
_BEGINS = frozenset({Kind.START, Kind.RESTART})
_OFTEN = frozenset({Kind.DELIVER, Kind.TIMER})
"""What companions need not see, as far as they attend to something else."""

_ARRIVES = frozenset({int, bytes})
"""Of what comes for the first time, the journal says that it came, even if it waits."""
