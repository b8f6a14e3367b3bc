"""One life of a node: each event that comes to it, one after the other.

Handlers are run by the code of all worlds. What they do is collected, and given to the
present turn when they have returned.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

from worldline.deploy.clock import Clock
from worldline.deploy.companions import Companion, Instead
from worldline.deploy.counts import NodeCounts
from worldline.deploy.door import HostDoor
from worldline.deploy.durable import Lasting, put
from worldline.deploy.following import Following
from worldline.deploy.keeping import KeptBack, stopped
from worldline.deploy.recovery import Restored
from worldline.deploy.saving import checkpoint_of
from worldline.deploy.turn import Turn
from worldline.deploy.undoing import Before
from worldline.deploy.wire import Wire
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.node import Handler
from worldline.model.semantics.execute import (
    Failure,
    Result,
    make_context,
    name_at,
    perform,
)
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.plain import run_plain
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.trace.journal.checkpoints import NodeCheckpoint, pack_checkpoint
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import MessageFrame
from worldline.trace.journal.records import (
    CalledRecord,
    CheckpointRecord,
    ErredRecord,
    FailedRecord,
    FateRecord,
    FiredRecord,
    RetriedRecord,
    StartedRecord,
)

SLOW_S = 0.1
"""Seconds after which it is said, once, that a handler took long."""

_PUT_OFF_S = 1.0
"""Seconds for which a timer or a call is put off."""


@final
class Life:
    """A life of a node.

    Parameters
    ----------
    restored
        The state in which it begins.
    now
        The clock of the host.
    seed
        Makes what handlers choose, with the node and the life.
    ended
        Is told why the life is over, if it ends by itself: a handler failed, or used
        its context wrongly.
    say
        Takes a line for whoever watches.

    Attributes
    ----------
    me, index, incarnation, lamport
        Which node, its index, which of its lives, and the Lamport time of its last event.
    node
        The node object.
    is_up
        Whether it takes events.
    kept
        What waits for guards, and who waits for the node.
    """

    def __init__(
        self,
        system: System,
        index: int,
        restored: Restored,
        *,
        codec: Codec,
        wire: Wire,
        turn: Turn,
        now: Clock,
        seed: int,
        companions: Sequence[Companion],
        counts: NodeCounts,
        ended: Callable[[Failure | BaseException], None],
        say: Callable[[str], None],
    ) -> None:
        self.system, self.index, self.me = system, index, system.ids[index]
        self.kind = kind = system.types[index]
        self.incarnation, self.lamport = restored.incarnation, restored.lamport
        self.node = kind.thaw(system.initial[index], system.prototypes[index])
        if restored.durable is not None:
            put(self.node, restored.durable)
        self._restored = restored
        self._codec, self._wire, self._turn = codec, wire, turn
        self._now, self._say, self._ended = now, say, ended
        self._companions, self.counts = companions, counts
        self._vets = [one for one in companions if one.vets]
        rng = random.Random(f"{seed} {self.me.name} {self.incarnation}")
        self.door = HostDoor(system, rng, wire.is_full)
        self.door.counter = restored.counter
        self._context = make_context(system, index, self.door)
        self._context.move(self.me, self.node)
        self._following = Following(
            system,
            index,
            self.incarnation,
            self.door,
            Lasting(kind, self.node),
            self.node,
            codec=codec,
            wire=wire,
            turn=turn,
            fire=self.fire,
            counts=counts,
        )
        self._series = Series()
        self._loop = asyncio.get_running_loop()
        self._named: set[str] = set()
        self._watching = bool(companions)
        self.kept = KeptBack(self)
        self.is_up = True

    # ------------------------------------------------------------- what comes to it

    def start(self) -> None:
        """Run the handlers of the start."""
        restored, clock = self._restored, self._now()
        record = StartedRecord(
            self.incarnation,
            restored.lamport,
            restored.counter,
            restored.durable,
            clock,
        )
        for companion in self._companions:
            companion.joined(self)
        kind = Kind.START if restored.durable is None else Kind.RESTART
        self._take(record, Event(kind, self.me))

    def receive(self, messages: Iterable[tuple[bytes, MessageFrame]]) -> None:
        """Take messages, each with its packet."""
        turn = self._turn
        try:
            with self._series:
                for packet, frame in messages:
                    if not self.is_up:
                        return
                    self._deliver(turn.receive(packet), packet, frame)
            if turn.is_large:
                turn.end()
        except BaseException as error:
            self._end(error)

    def fire(self, timer: PendingTimer) -> None:
        """Take a timer that has ended."""
        _, after = self.door.pending.pop(timer)
        part, name, payload = timer.part, timer.name, timer.payload
        record = FiredRecord(part, name, payload)
        handler = None if part else self.kind.plain_timers.get(name)
        if handler is None or self._watching:
            event = Event(Kind.TIMER, self.me, part=part, name=name, payload=payload)
            self._take(record, event, put_off=(timer, min(after, _PUT_OFF_S)))
            return
        arguments = (payload,) if handler.mark.takes_payload else ()
        try:
            with self._series:
                self._run(self._turn.event(record), handler, arguments)
        except BaseException as error:
            self._end(error)

    def hear(self, peer: int, kind: str, reason: str) -> None:
        """Take an error of the connection with a peer."""
        name = LOST if kind == LOST else UNREACHABLE
        other = self.system.ids[peer]
        event = Event(Kind.TRANSPORT_ERROR, self.me, name=name, peer=other)
        self._take(ErredRecord(peer, kind, reason), event)

    def call(self, event: Event, answer: asyncio.Future[Any]) -> None:
        """Take a call whose guards are true."""
        self.door.answer = None
        result = self._take(CalledRecord(event.name, event.payload), event)
        if result is not None:
            self._turn.leaving.answers.append((answer, self.door.answer))
        elif self.is_up:  # put off
            self._loop.call_later(_PUT_OFF_S, self.kept.make, event, answer)
        elif not answer.done():
            answer.set_exception(stopped(self.me))
            answer.exception()  # perhaps nobody waits any more

    def try_again(self, which: int, event: Event) -> None:
        """Take a message that waited, by its place among those that do."""
        self._take(RetriedRecord(which), event)

    # ------------------------------------------------------------ what is asked of it

    def is_guarded(self, event: Event) -> bool:
        """Say whether a guard may keep a call from being made now."""
        handler = self.kind.calls[event.name]
        if handler.mark.when is not None or self._watching:
            return True
        return any(
            call.name == event.name and when is not None
            for call, when in self.system.whenevers[self.index]
        )

    def checkpoint(self) -> bytes:
        """Return the whole state, and write it into the journal."""
        state = pack_checkpoint(self.saved(), self._codec)
        self._turn.beside(CheckpointRecord(state))
        return state

    def saved(self) -> NodeCheckpoint:
        """Return the whole state, to be written down."""
        return checkpoint_of(self, self._wire, self._loop.time())

    def tell(self, peer: Any, companion: str, body: bytes) -> None:
        """Send a control frame to the companion of that name beside a peer."""
        self._wire.control(self.system.index[peer], companion, body)

    def heard(self, peer: int, name: str, body: bytes) -> None:
        """Hand a control frame to the companion that it is for."""
        for companion in self._companions:
            if companion.name == name:
                companion.heard(self, self.system.ids[peer], body)

    def after(self) -> Restored:
        """Return the state in which the next life would begin, without a journal."""
        return Restored(
            incarnation=self.incarnation + 1,
            lamport=self.lamport,
            counter=self.door.counter,
            durable=self._following.durable,
        )

    def stop(self) -> None:
        """Take nothing more."""
        self.is_up = False
        for handle, _ in self.door.pending.values():
            handle.cancel()
        self.kept.give_up()

    # ------------------------------------------------------------------------ inside

    def _begin(self) -> HostDoor:
        self.lamport += 1
        self.counts.events += 1
        door = self.door
        door.begin(self.me)
        door.clock, door.clock_read = self._now(), False
        return door

    def _deliver(self, number: int, packet: bytes, frame: MessageFrame) -> None:
        self.counts.received += 1
        if frame.lamport > self.lamport:
            self.lamport = frame.lamport
        src, message = self.system.ids[frame.sender], frame.message
        handler = None if frame.part else self.kind.plain_on.get(type(message))
        if handler is not None and not self._watching:
            self._run(number, handler, (src, message))
            return
        if frame.extensions:
            for companion in self._companions:
                companion.noticed(self, src, frame.extensions)
        event = delivery(self.me, OpenEnvelope(src, frame.part, message))
        if self._happen(number, event) is Result.WAITS:
            self.kept.keep(packet, event)
        self.kept.look()

    def _run(self, number: int, handler: Handler, arguments: tuple[Any, ...]) -> None:
        """Run a handler of which nothing has to be asked before."""
        door = self._begin()
        result = run_plain(
            self._series,
            self.kind,
            self.node,
            self._context,
            door,
            handler,
            arguments,
        )
        self._settle(number, result, handler.name)
        if self.kept:
            self.kept.look()

    def _take(
        self,
        record: Any,
        event: Event,
        *,
        put_off: tuple[PendingTimer, float] | None = None,
    ) -> Result | None:
        if not self.is_up:
            return None
        result: Result | None = None
        try:
            number = self._turn.event(record)
            result = self._happen(number, event, put_off=put_off)
            if self.is_up:
                self.kept.look()
        except BaseException as error:
            self._end(error)
        return result

    def _happen(
        self,
        number: int,
        event: Event,
        *,
        put_off: tuple[PendingTimer, float] | None = None,
    ) -> Result | None:
        """Let an event happen, unless a companion says otherwise; return what became of it."""
        door = self._begin()
        for companion in self._companions:
            instead = companion.gate(self, event)
            if instead is not None:
                self._refuse(number, event, "blocked", instead, put_off)
                return None
        before = Before(self.kind, self.node) if self._vets else None
        result = perform(self.system, self.index, self.node, self._context, door, event)
        if type(result) is Failure:
            self._settle(number, result, event.name)
            return None
        for companion in self._vets:
            instead = companion.vet(self, event, door)
            if instead is not None:
                assert before is not None
                before.put_back(self.node)
                self._refuse(number, event, "undone", instead, put_off)
                return None
        self._settle(number, result, event.name)
        if self._watching:
            self._turn.leaving.seen.append((self, event))
        assert type(result) is Result
        return result

    def _settle(self, number: int, result: Result | Failure, name: str) -> None:
        """Let follow what a handler has done, or end with its failure."""
        if type(result) is Failure:
            said = result.kind, result.name, result.where, result.message
            self._turn.note(FailedRecord(number, *said))
            self._end(result)
            return
        door = self.door
        numbers = self._extensions() if self._watching and door.sends else None
        self._following.settle(number, result, self.lamport, numbers)
        assert door.clock is not None
        took = self._now() - door.clock
        if took > SLOW_S and name not in self._named:
            self._named.add(name)
            what = f"{name_at(self.kind, name)} at {self.me}"
            self._say(f"{what} took {took:.2f} s; all else of its host waited")

    def _extensions(self) -> dict[int, int] | None:
        numbers: dict[int, int] = {}
        for companion in self._companions:
            numbers |= companion.extensions(self) or {}
        return numbers or None

    def _refuse(
        self,
        number: int,
        event: Event,
        fate: str,
        instead: Instead,
        put_off: tuple[PendingTimer, float] | None,
    ) -> None:
        """Let happen instead of an event what a companion wants."""
        self._turn.note(FateRecord(number, fate, instead.value))
        if put_off is not None:
            self._following.set_timer(*put_off)
        elif instead is Instead.BROKEN and event.peer is not None:
            self._wire.break_connection(self.system.index[event.peer])

    def _end(self, why: Failure | BaseException) -> None:
        if self.is_up:
            self.is_up = False
            self._ended(why)
