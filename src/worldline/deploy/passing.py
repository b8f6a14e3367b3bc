"""Ways of messages: past guards that let them in, and past companions.

Nearly each event of a node goes this way, so each is a function that has at hand what it needs.
Companions that stand there attend to some of what messages change, or undo it.
A handler that is *apart*, since its code can change nothing that they look at, goes past them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

from worldline.deploy.attended import AttendedEvents
from worldline.deploy.counts import NodeCounts
from worldline.deploy.executing import NodeExecution
from worldline.deploy.turn import PresentTurn
from worldline.model.events import Event
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.node import Handler
from worldline.model.semantics.execute import Failure, Result
from worldline.worlds.companions import Instead
from worldline.worlds.touching.touched import Touched
from worldline.worlds.undoing import Before

RunsHandler: TypeAlias = Callable[[int, Handler, tuple[Any, ...]], Event | None]
"""Runs the handler of a message, by the number of the event; returns a message that is to
come again, as its guard does not let it in or it was undone."""

LetsHappen: TypeAlias = Callable[[int, Event], Result | None]
"""Lets a message happen, by the number of the event; see `NodeExecution`."""

DirectWays: TypeAlias = dict[type, tuple[Handler, RunsHandler]]
"""By their classes, messages, each with its handler and what runs that."""


def guarded(
    handler: Handler, run: RunsHandler, execution: NodeExecution, happen: LetsHappen
) -> RunsHandler:
    """Return what runs the handler of a message, if its guard lets it in.

    Parameters
    ----------
    run
        Runs it then.
    happen
        Lets happen what becomes of the message otherwise.
    """
    if handler.mark.when is None:
        return run
    me, lets_in = execution.me, execution.lets_in

    def asked(
        number: int, handler: Handler, arguments: tuple[Any, ...]
    ) -> Event | None:
        if lets_in(handler, arguments):
            return run(number, handler, arguments)
        src, message = arguments
        event = delivery(me, OpenEnvelope(src, "", message))
        return event if happen(number, event) is Result.WAITS else None

    return asked


def direct_ways(execution: NodeExecution) -> DirectWays:
    """Return the ways of messages at a node beside which no companion stands."""
    run, happen = execution.run, execution.happen
    return {
        cls: (handler, guarded(handler, run, execution, happen))
        for cls, handler in execution.kind.direct_on.items()
    }


@final
class Keeping:
    """What keeps the fields of a node, where handlers run of which it is not told.

    Parameters
    ----------
    untold
        What those may change.

    Attributes
    ----------
    upto
        How many events there had been when it last kept them.
    """

    __slots__ = ("_before", "_counts", "_untold", "upto")

    def __init__(self, before: Before, counts: NodeCounts, untold: Touched) -> None:
        self._before, self._counts, self.upto = before, counts, -1
        self._untold = untold

    def catch_up(self) -> None:
        """Keep what others have changed that have run since, before an event."""
        if self.upto != self._counts.events:
            self._before.catch_up(self._untold)

    def kept(self) -> None:
        """Take note that all fields are kept, behind an event."""
        self.upto = self._counts.events

    def told(self, run: RunsHandler) -> RunsHandler:
        """Return what runs handlers of which it is told, besides those of which it is not."""
        counts = self._counts

        def ran(
            number: int, handler: Handler, arguments: tuple[Any, ...]
        ) -> Event | None:
            if self.upto != counts.events:
                self.catch_up()
            again = run(number, handler, arguments)
            self.upto = counts.events
            return again

        return ran


def noticed(
    execution: NodeExecution,
    before: Before,
    attended: AttendedEvents,
    turn: PresentTurn,
    tire: Callable[[], None],
) -> RunsHandler:
    """Return what runs messages that a companion is told of, and that nobody undoes.

    Parameters
    ----------
    tire
        Is called when to know what they change has cost more than most events.
    """
    attention = attended.attention

    def run(number: int, handler: Handler, arguments: tuple[Any, ...]) -> Event | None:
        result = execution.handle(handler, arguments)
        if type(result) is Failure:
            execution.fail(number, result)
            return None
        written = before.changes_after(handler)
        before.renew(written, handler)
        execution.settle(number, result, handler.name, written)
        if written is not attended.idle or attention.is_due:
            attended.passed(turn.leaving, written)
        if before.is_costly and before.is_spared:
            tire()
        return None

    return run


def vetted(
    execution: NodeExecution,
    before: Before,
    attended: AttendedEvents,
    turn: PresentTurn,
    undo: Callable[[int, Event, Instead], Event | None],
) -> RunsHandler:
    """Return what runs messages that a companion may have undone.

    Parameters
    ----------
    undo
        Does so, by the number of the event.
    """
    attention, door, series = attended.attention, execution.door, execution.series
    handle, settle, known = execution.handle, execution.settle, before.expected
    vet = attention.vet
    assert vet is not None

    def run(number: int, handler: Handler, arguments: tuple[Any, ...]) -> Event | None:
        result = handle(handler, arguments)
        if type(result) is Failure:
            execution.fail(number, result)
            return None
        expected = known.get(handler) or before.expect(handler)
        # What is idle is kept at once, as nobody asks about it.
        idle = None if door.timers else attended.idle
        written = expected.changes(idle)
        if written is None:
            written = before.changes()
        if written is idle:
            settle(number, result, handler.name, written)
            if attention.is_due:
                attended.passed(turn.leaving, written)
            return None
        # Who has agreed to the same fields before is asked whether that is so again.
        is_known = idle is not None and type(written) is tuple
        again = attention.again.get(written) if is_known else None
        if again is None or not again(series):
            door.written = written
            if attended.is_about(written, None):
                src, message = arguments
                refusal = vet(src, message, door, series)
                if refusal is not None:
                    return undo(number, *refusal)
        if written is expected.names:
            expected.keep()
        else:
            before.renew(written, handler)
        settle(number, result, handler.name, written)
        if turn.leaving.attention is not attention:
            attended.passed(turn.leaving, written)
        return None

    return run
