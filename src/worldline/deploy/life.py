"""One life of a node: what comes to it, one event after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

from worldline.deploy.accompanied import AccompaniedExecution
from worldline.deploy.beside import BesideLife
from worldline.deploy.clock import HostClock
from worldline.deploy.counts import NodeCounts
from worldline.deploy.executing import PUT_OFF_S, NodeExecution, PutOff
from worldline.deploy.keeping import KeptBack, stopped
from worldline.deploy.passing import DirectWays, direct_ways
from worldline.deploy.recovery import Restored
from worldline.deploy.saving import Saving
from worldline.deploy.turn import PresentTurn
from worldline.deploy.watching import Watching
from worldline.deploy.wire import Wire
from worldline.model.data.identity import NodeId
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.node import Handler
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.offers import direct_calls, is_allowed
from worldline.model.system import System
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import FURTHEST, MessageFrame
from worldline.trace.journal.lasting import put
from worldline.trace.journal.records import (
    CalledRecord,
    ErredRecord,
    FiredRecord,
    RetriedRecord,
    StartedRecord,
)
from worldline.worlds.companions import Attention, Companion


@final
class NodeLife:
    """A life of a node.

    Parameters
    ----------
    restored
        The state in which it begins.
    now, seed
        See `NodeExecution`.
    positions
        Says where the scripts of this life stand.
    ended
        Is told why the life is over, if it ends by itself: a handler failed, or used
        its context wrongly.
    say
        Takes a line for whoever watches.

    Attributes
    ----------
    me, index, incarnation
        Which node, its index, and which of its lives.
    node
        The node object.
    execution
        Runs its events.
    kept
        What waits for guards, and who waits for the node.
    watching
        The companions that look at its events; None if none does.
    saving
        Takes checkpoints of it.
    beside
        It, as companions see it.
    is_up
        Whether it takes events.
    """

    def __init__(
        self,
        system: System,
        index: int,
        restored: Restored,
        *,
        codec: Codec,
        wire: Wire,
        turn: PresentTurn,
        now: HostClock,
        seed: int,
        positions: Callable[[NodeId], Sequence[int]],
        companions: Sequence[Companion],
        counts: NodeCounts,
        ended: Callable[[Failure | BaseException], None],
        say: Callable[[str], None],
    ) -> None:
        self.system, self.index, self.me = system, index, system.ids[index]
        self.kind = kind = system.types[index]
        self.incarnation = restored.incarnation
        self.node = kind.thaw(system.initial[index], system.prototypes[index])
        if restored.durable is not None:
            put(self.node, restored.durable)
        self._restored = restored
        self._wire, self._turn, self._now = wire, turn, now
        self._counts, self._ended = counts, ended
        found = Watching(system, kind, self.node, companions)
        self.watching = watching = found if found.companions else None
        self._attention: Attention | None = None
        self.execution = NodeExecution(
            system,
            index,
            restored,
            self.node,
            codec=codec,
            wire=wire,
            turn=turn,
            now=now,
            seed=seed,
            counts=counts,
            fire=self.fire,
            ended=self.end,
            say=say,
        )
        self._pending = self.execution.door.pending
        self._direct = {} if watching else direct_calls(system, index)
        self._ways: DirectWays = {} if watching else direct_ways(self.execution)
        self._direct_timers = {} if watching else kind.direct_timers
        self._loop = asyncio.get_running_loop()
        self.kept: KeptBack = KeptBack(self)
        self.saving = Saving(self, codec, wire, turn)
        self.is_up = False  # until it starts: nothing happens before that
        self.beside = BesideLife(self, wire, companions, positions)
        self._accompanied = None if watching is None else self._beside(watching)
        self._runs = self._accompanied or self.execution

    # ------------------------------------------------------------- what comes to it

    def start(self) -> None:
        """Run the handlers of the start."""
        restored = self._restored
        record = StartedRecord(
            self.incarnation,
            restored.lamport,
            restored.counter,
            restored.durable,
            self._now(),
        )
        self.is_up = True
        self.beside.begin()
        if self._accompanied is not None:
            self._attend(self._accompanied)
        kind = Kind.START if restored.durable is None else Kind.RESTART
        self._take(record, Event(kind, self.me))
        self.saving.has_begun = True

    def receive(self, messages: Iterable[tuple[bytes, MessageFrame]]) -> None:
        """Take messages, each with its packet."""
        turn, breaking = self._turn, self._wire.breaking
        try:
            attention, accompanied = self._attention, self._accompanied
            if attention is not None:
                attention.begin(self._loop.time())
            with self.execution.series:
                for packet, frame in messages:
                    if not self.is_up:
                        break
                    if breaking and self._wire.is_breaking(frame):
                        continue
                    self._deliver(packet, frame)
                    if turn.is_durable:
                        turn.end_if_long(accompanied and accompanied.unaware)
            if accompanied is not None:
                accompanied.took(turn.leaving)
            turn.end_if_due()
        except BaseException as error:
            self.end(error)

    def fire(self, timer: PendingTimer) -> None:
        """Take a timer that has ended."""
        _, after = self._pending.pop(timer)
        part, name, payload = timer.part, timer.name, timer.payload
        record = FiredRecord(part, name, payload)
        handler = None if part else self._direct_timers.get(name)
        if handler is not None:
            arguments = (payload,) if handler.mark.takes_payload else ()
            if self._lets_in(handler, arguments):
                self._run(record, handler, arguments)
                return
        event = Event(Kind.TIMER, self.me, part=part, name=name, payload=payload)
        self._take(record, event, (timer, min(after, PUT_OFF_S) or PUT_OFF_S))

    def hear(self, peer: int, kind: str, reason: str) -> None:
        """Take an error of the connection with a peer."""
        name, other = LOST if kind == LOST else UNREACHABLE, self.system.ids[peer]
        event = Event(Kind.TRANSPORT_ERROR, self.me, name=name, peer=other)
        self._take(ErredRecord(peer, kind, reason), event)

    def call(self, event: Event, answer: asyncio.Future[Any]) -> bool:
        """Take a call, if its guards are true; say whether they are."""
        self.execution.door.answer = None
        record, arguments = CalledRecord(event.name, event.payload), event.payload
        handler = self._direct.get(event.name)
        with self.execution.series:
            allowed = handler and is_allowed(handler, self.node, arguments)
        if allowed is False:
            return False
        if handler is not None and allowed:
            self._run(record, handler, arguments, answer)
            return True
        result = self._take(record, event, answer=answer)
        if result is None and self.is_up:  # put off
            self.kept.put_off(PUT_OFF_S, event, answer)
        return result is not Result.WAITS

    def try_again(self, which: int, event: Event) -> bool:
        """Take a message that waited, by its place; say whether it was its time."""
        return self._take(RetriedRecord(which), event) is not Result.WAITS

    # ------------------------------------------------------------------ how it ends

    def after(self) -> Restored:
        """Return the state in which the next life would begin, without a journal."""
        return Restored(
            incarnation=self.incarnation + 1,
            lamport=self.execution.lamport,
            counter=self.execution.door.counter,
            durable=self.execution.following.durable,
        )

    def stop(self) -> None:
        """Take nothing more."""
        self.is_up = False
        for handle, _ in self._pending.values():
            handle.cancel()
        self.kept.give_up()

    def end(
        self,
        why: Failure | BaseException,
        answer: asyncio.Future[Any] | None = None,
    ) -> None:
        """End, as something has failed; whoever made a call is told."""
        if self.is_up:
            self.is_up = False
            self._ended(why)
        if answer is not None:
            self._answer(answer)

    # ------------------------------------------------------------------------ inside

    def _beside(self, watching: Watching) -> AccompaniedExecution:
        """Return what runs the events beside companions."""
        return AccompaniedExecution(
            self.execution,
            self.beside,
            watching,
            wire=self._wire,
            turn=self._turn,
            rest=lambda event: self.kept.rest(PUT_OFF_S, event),
        )

    def _attend(self, accompanied: AccompaniedExecution) -> None:
        """Let companions see no more of plain events than they attend to."""
        attention = self._attention = accompanied.attend()
        if attention is not None:
            self._ways = accompanied.ways
            attention.arrivals = self._counts

    def _deliver(self, packet: bytes, frame: MessageFrame) -> None:
        self._counts.received += 1
        execution, attention = self.execution, self._attention
        sender, life, lamport, _, beside, part, message = frame
        src = self.system.ids[sender]
        if attention is not None:
            if beside is None:
                if sender != attention.quiet:
                    attention.came(sender, life, beside)
            elif beside == attention.following and (
                sender == attention.sender and life == attention.life
            ):
                attention.following = beside + 1
            else:
                attention.came(sender, life, beside)
        elif self.watching is not None:
            self.watching.came(self.beside, frame)
        if execution.lamport < lamport < FURTHEST:
            execution.lamport = lamport
        way = None if part else self._ways.get(type(message))
        if way is not None and (attention is None or not attention.is_gated):
            handler, run = way
            waits = run(self._turn.receive(packet), handler, (src, message))
            if waits is not None:
                self.kept.keep(packet, waits)
        else:
            event = delivery(self.me, OpenEnvelope(src, part, message))
            if self._runs.happen(packet, event) is Result.WAITS:
                self.kept.keep(packet, event)
        if not self.kept.is_idle:
            self.kept.look()

    def _lets_in(self, handler: Handler, arguments: tuple[Any, ...]) -> bool:
        """Say whether the guard of a handler lets it have an event."""
        if handler.mark.when is None:
            return True
        try:
            with self.execution.series:
                return self.execution.lets_in(handler, arguments)
        except BaseException as error:
            self.end(error)
            return False

    def _run(
        self,
        record: Any,
        handler: Handler,
        arguments: tuple[Any, ...],
        answer: asyncio.Future[Any] | None = None,
    ) -> None:
        """Run a handler of which nothing has to be asked any more."""
        try:
            with self.execution.series:
                self.execution.run(self._turn.event(record), handler, arguments)
                if answer is not None:
                    self._answer(answer)
                if not self.kept.is_idle:
                    self.kept.look()
            self._turn.end_if_due()
        except BaseException as error:
            self.end(error, answer)

    def _take(
        self,
        record: Any,
        event: Event,
        put_off: PutOff | None = None,
        answer: asyncio.Future[Any] | None = None,
    ) -> Result | None:
        """Let an event happen that is no new message; return what became of it."""
        if not self.is_up:
            return None
        result: Result | None = None
        try:
            with self.execution.series:
                result = self._runs.happen(record, event, put_off)
                if result is not Result.WAITS:
                    if answer is not None and not (result is None and self.is_up):
                        self._answer(answer)
                    self.kept.look()
            self._turn.end_if_due()
        except BaseException as error:
            self.end(error, answer)
        return result

    def _answer(self, answer: asyncio.Future[Any]) -> None:
        """Let whoever made a call have its answer at the end of the turn."""
        if self.is_up:
            self.kept.was_made(answer)
            self._turn.leaving.answers.append((answer, self.execution.door.answer))
            self._turn.end_if_long()
        elif not answer.done():
            answer.set_exception(stopped(self.me))
            answer.exception()  # perhaps nobody waits any more
