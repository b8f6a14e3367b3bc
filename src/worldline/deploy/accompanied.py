"""Execution of events beside which companions stand: what they let pass, and what not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, final

from worldline.deploy.attended import AttendedEvents
from worldline.deploy.executing import ARRIVES, NodeExecution, PutOff
from worldline.deploy.passing import (
    DirectWays,
    Keeping,
    RunsHandler,
    guarded,
    noticed,
    vetted,
)
from worldline.deploy.turn import Leaving, PresentTurn
from worldline.deploy.watching import Watching
from worldline.deploy.wire import Wire
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import Handler
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.trace.journal.records import FateRecord
from worldline.worlds.companions import Attention, Beside, Instead
from worldline.worlds.touching.touched import touched_by_any
from worldline.worlds.undoing import Before


@final
class AccompaniedExecution:
    """The execution of events at one node, in one of its lives, beside companions.

    Parameters
    ----------
    execution
        Runs handlers, and lets follow what they have done.
    life
        The life, as companions see it.
    watching
        The companions that look at its events.
    rest
        Takes a message that is put off.

    Attributes
    ----------
    ways
        By their classes, messages of which nothing has to be asked before: each with its
        handler and what runs that, as long as they are attended and no event is to be gated.
        Others run it when other handlers are apart.
    unaware
        Is to be told that messages have passed, since nobody looks at what they change.
    """

    def __init__(
        self,
        execution: NodeExecution,
        life: Beside,
        watching: Watching,
        *,
        wire: Wire,
        turn: PresentTurn,
        rest: Callable[[Event], None],
    ) -> None:
        self._execution, self._life, self._watching = execution, life, watching
        self._wire, self._turn, self._rest = wire, turn, rest
        self._system = execution.system
        self._kind, self._node = execution.kind, execution.node
        self._door = execution.door
        self._before = watching.before
        self._attended: AttendedEvents | None = None
        self._run: RunsHandler = execution.run
        # Where any handler is apart.
        self._keeping: Keeping | None = None
        self.ways: DirectWays = {}
        self.unaware: Attention | None = None

    def attend(self) -> Attention | None:
        """Let companions see no more of events than they attend to, if they say that.

        They have been told that the life begins.
        """
        self._watching.begin(self._life)
        attention = self._watching.attention
        if attention is None:
            return None
        execution, turn, before = self._execution, self._turn, self._before
        execution.following.attend(attention)
        attended = self._attended = AttendedEvents(attention, self._door)
        if before is None:  # what has changed is then known without asking them
            kind, node = execution.kind, self._node
            self._before = before = Before(kind, node, is_spared=True)
        for handler in (*self._kind.on.values(), *self._kind.timers.values()):
            before.changes_after(handler)  # the first time takes long
        if attention.vet is None:
            self._run = noticed(execution, before, attended, turn, self._tire)
        else:
            self._run = vetted(execution, before, attended, turn, self._undo)
        looked_at = attended.looked_at()
        if looked_at is None:
            self._find_ways(None)
        else:
            before.watch(looked_at, partial(self._find_ways, before))
            self._find_ways(before)
        return attention

    def happen(
        self, record: Any, event: Event, put_off: PutOff | None = None
    ) -> Result | None:
        """Let an event happen, unless a companion says otherwise; see `NodeExecution`."""
        attended, turn, handler = self._attended, self._turn, self._handler_of(event)
        plain = None if handler is None or handler.mark.when is not None else handler
        instead: Instead | None = None
        if attended is None or attended.attention.is_gated or event.kind not in _OFTEN:
            attended, instead = None, self._gate(event, plain)
        execution, life, watching = self._execution, self._life, self._watching
        if (keeping := self._keeping) is not None:
            keeping.catch_up()
        if instead is not None:
            execution.begin()
            return self._refuse(record, event, "blocked", instead, put_off)
        result = (
            execution.perform(event)
            if plain is None
            else execution.handle(plain, _arguments(plain, event))
        )
        if result is Result.WAITS and type(record) not in ARRIVES:
            return execution.go_on_waiting()
        if type(result) is Failure:
            execution.fail(turn.number(record), result)
            return None
        assert type(result) is Result
        before, is_over = self._before, result is not Result.WAITS
        written: Collection[str] | None = None
        if before is not None and is_over:
            fired = None if put_off is None else put_off[0]
            instead = self._asked(before, handler, event, attended, fired)
            if instead is not None:
                return self._refuse(record, event, "undone", instead, put_off)
            written = self._door.written
        number = turn.number(record)
        execution.following.numbers = watching.numbers(life, event.kind)
        if event.kind in _BEGINS:
            written = None  # at its start a node is looked at as a whole
        execution.settle(number, result, event.name, written)
        if attended is not None:
            attended.passed(turn.leaving, written)
            if before is not None and before.is_costly and before.is_spared:
                self._tire()
        elif is_over:
            turn.leaving.seen.append((life, event))
        return result

    def took(self, leaving: Leaving) -> None:
        """Have the companion told of messages of which nobody has said anything."""
        attended = self._attended
        if attended is not None and (attended.attention.is_due or self.unaware):
            leaving.attention = attended.attention

    # ------------------------------------------------------------------------ inside

    def _find_ways(self, before: Before | None) -> None:
        """Let messages whose handlers are apart go alone; without fields, none is."""
        kind, execution, run = self._kind, self._execution, self._run
        direct = kind.direct_on
        apart = {
            one
            for one in direct.values()
            if before is not None and before.is_apart(one)
        }
        if before is None or not apart:
            self._keeping = None
        else:
            untold = touched_by_any(kind, apart)
            self._keeping = keeping = Keeping(before, execution.counts, untold)
            run = keeping.told(run)
        for cls, one in direct.items():
            runs = execution.run if one in apart else run
            self.ways[cls] = one, guarded(one, runs, execution, self.happen)

    def _asked(
        self,
        before: Before,
        handler: Handler | None,
        event: Event,
        attended: AttendedEvents | None,
        fired: PendingTimer | None,
    ) -> Instead | None:
        """Ask about an event that has happened, and keep its changes, or put them back.

        Parameters
        ----------
        handler
            The only one that it has run; None if there may be others.
        """
        instead, door, keeping = None, self._door, self._keeping
        door.written = written = before.changes_after(handler)
        if attended is None or attended.is_about(written, fired):
            instead = self._watching.vet(self._life, event, door)
        if instead is None:
            before.renew(written, handler)
        else:
            before.put_back(self._node)
        if keeping is not None:
            keeping.kept()
        return instead

    def _handler_of(self, event: Event) -> Handler | None:
        """Return the only handler that an event may run; None if there may be others."""
        if event.part or self._kind.parts:
            return None
        if event.kind is Kind.DELIVER:
            return self._kind.on.get(type(event.payload))
        return self._kind.timers.get(event.name) if event.kind is Kind.TIMER else None

    def _undo(self, number: int, event: Event, instead: Instead) -> Event | None:
        """Undo a message that was handled; return it if it is to come again."""
        assert self._before is not None
        self._before.put_back(self._node)
        waits = self._refuse(number, event, "undone", instead, None)
        return event if waits is Result.WAITS else None

    def _tire(self) -> None:
        """Look no more at what events change: the companion looks at the node by itself."""
        assert self._attended is not None
        self._before = self._door.written = None
        self.unaware, self._run = self._attended.attention, self._execution.run
        self._find_ways(None)

    def _gate(self, event: Event, plain: Handler | None) -> Instead | None:
        # What waits in any case is no event yet, and is tried again and again.
        may_wait = plain is None and event.kind in _MAY_WAIT
        if may_wait and self._execution.waits(event):
            return None
        return self._watching.gate(self._life, event)

    def _refuse(
        self,
        record: Any,
        event: Event,
        fate: str,
        instead: Instead,
        put_off: PutOff | None,
    ) -> Result | None:
        """Let happen instead of an event what a companion wants; see `happen`."""
        turn, execution = self._turn, self._execution
        rests = event.kind is Kind.DELIVER and instead is Instead.PUT_OFF
        if rests:
            self._rest(event)
            if type(record) not in ARRIVES:
                return execution.go_on_waiting()
            fate = Result.WAITS.value  # as a replay has it, too: it comes again
        turn.note(FateRecord(turn.number(record), fate, instead.value))
        if put_off is not None:
            execution.following.set_timer(*put_off)
        elif instead is Instead.BROKEN and event.peer is not None:
            self._wire.break_connection(self._system.index[event.peer])
        return Result.WAITS if rests else None


def _arguments(handler: Handler, event: Event) -> tuple[Any, ...]:
    """Return what the handler of a message or of a timer is given."""
    if event.kind is Kind.TIMER:
        return (event.payload,) if handler.mark.takes_payload else ()
    return event.peer, event.payload


_MAY_WAIT = frozenset({Kind.CALL, Kind.DELIVER})
_BEGINS = frozenset({Kind.START, Kind.RESTART})
_OFTEN = frozenset({Kind.DELIVER, Kind.TIMER})
"""What companions need not see, as far as they attend to something else."""
