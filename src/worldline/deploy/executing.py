"""Execution of events at a deployed node: handlers, and what follows from them."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from typing import Any, final

from worldline.deploy.clock import HostClock
from worldline.deploy.counts import NodeCounts
from worldline.deploy.door import HostDoor
from worldline.deploy.following import Following
from worldline.deploy.recovery import Restored
from worldline.deploy.turn import PresentTurn
from worldline.deploy.wire import Wire
from worldline.model.events import Event
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
from worldline.model.semantics.plain import lets_in, run_plain
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.lasting import Lasting
from worldline.trace.journal.records import FailedRecord

SLOW_S = 0.1
"""Seconds after which it is said, once, that a handler took long."""

_SHARE = 100
"""So many times what it takes to see that a guard only looks lies between two such looks."""

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
    ended
        Is told how a handler failed; nothing may be run after that.

    Attributes
    ----------
    me
        The id of the node.
    lamport
        The Lamport time of the last event.
    door
        What handlers ask.
    counts
        Counts its events, as others do.
    series
        Entered by who lets several events happen.
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
        counts: NodeCounts,
        fire: Callable[[PendingTimer], None],
        ended: Callable[[Failure], None],
        say: Callable[[str], None],
    ) -> None:
        self.lamport = restored.lamport
        self.system, self._index, self.me = system, index, system.ids[index]
        self.kind, self.node = system.types[index], node
        rng = random.Random(f"{seed} {self.me.name} {restored.incarnation}")
        self.door = door = HostDoor(system, rng, wire.is_full)
        door.counter = restored.counter
        self._context = make_context(system, index, door)
        self._context.move(self.me, node)
        self.following = Following(
            system,
            index,
            restored.incarnation,
            door,
            Lasting(self.kind, node, restored.durable or ()),
            node,
            codec=codec,
            wire=wire,
            turn=turn,
            fire=fire,
            counts=counts,
        )
        self._turn, self._now, self.counts = turn, now, counts
        self._ended, self._say = ended, say
        self._named: set[str] = set()
        self.series = Series(_SHARE)

    # ------------------------------------------------------------ what life has happen

    def run(
        self, number: int, handler: Handler, arguments: tuple[Any, ...]
    ) -> Event | None:
        """Run a handler of which nothing has to be asked before.

        Returns
        -------
        None
            Since nobody undoes it; see `AccompaniedExecution.run`.
        """
        result = self.handle(handler, arguments)
        if type(result) is Failure:
            self.fail(number, result)
        else:
            self.settle(number, result, handler.name)
        return None

    def happen(
        self, record: Any, event: Event, put_off: PutOff | None = None
    ) -> Result | None:
        """Let an event happen.

        Parameters
        ----------
        record
            What the journal says of it: a record, or the packet of a message; or its number
            if it does already. A call or a message that goes on waiting leaves no trace.
        put_off
            For who may put it off.

        Returns
        -------
        Result or None
            What became of it; None if it was refused, or its handler failed. A message
            that is put off waits.
        """
        result = self.perform(event)
        if result is Result.WAITS and type(record) not in ARRIVES:
            return self.go_on_waiting()
        number = self._turn.number(record)
        if type(result) is Failure:
            self.fail(number, result)
            return None
        assert type(result) is Result
        self.settle(number, result, event.name)
        return result

    # ----------------------------------------------------------------------- its steps

    def begin(self) -> HostDoor:
        """Begin an event."""
        self.lamport += 1
        self.counts.events += 1
        door = self.door
        door.begin(self.me)
        door.clock, door.clock_read = self._now(), False
        return door

    def handle(self, handler: Handler, arguments: tuple[Any, ...]) -> Result | Failure:
        """Run a handler, far faster than to look for it."""
        door, series = self.begin(), self.series
        series.enter(handler.number)
        try:
            return run_plain(
                self.kind, self.node, self._context, door, handler, arguments
            )
        finally:
            series.leave()

    def lets_in(self, handler: Handler, arguments: tuple[Any, ...]) -> bool:
        """Say whether the guard of a handler lets it have an event."""
        return lets_in(handler, self.node, arguments, self.series)

    def perform(self, event: Event) -> Result | Failure:
        """Run the handlers of an event, if their guards let it happen."""
        door, system = self.begin(), self.system
        return perform(system, self._index, self.node, self._context, door, event)

    def waits(self, event: Event) -> bool:
        """Say whether a guard does not let an event happen."""
        return waits(self.system, self._index, self.node, self._context, event)

    def settle(
        self,
        number: int,
        result: Result,
        name: str,
        written: Collection[str] | None = None,
    ) -> None:
        """Let follow what a handler has done, or, if that cannot be, undo it all."""
        try:
            self.following.settle(number, result, self.lamport, written)
        except BaseException:
            self.following.undo(number, self.lamport)
            raise
        began = self.door.clock
        assert began is not None
        took = self._now() - began
        if took > SLOW_S and name not in self._named:
            self._named.add(name)
            what = f"{name_at(self.kind, name)} at {self.me}"
            self._say(f"{what} took {took:.2f} s; all else of its host waited")

    def fail(self, number: int, failure: Failure) -> None:
        """Note that a handler failed; nothing may be run after that."""
        said = failure.kind, failure.name, failure.where, failure.message
        self._turn.note(FailedRecord(number, *said))
        self._ended(failure)

    def go_on_waiting(self) -> Result:
        """Take back that something has happened."""
        self.lamport -= 1
        self.counts.events -= 1
        return Result.WAITS


ARRIVES = frozenset({int, bytes})
"""Of what comes for the first time, the journal says that it came, even if it waits."""
