"""Effects of a handler that has returned: sends, timers, notes in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, final

from worldline.deploy.counts import NodeCounts
from worldline.deploy.door import HostDoor
from worldline.deploy.turn import PresentTurn
from worldline.deploy.wire import Wire
from worldline.model.data.parting import settle_fields
from worldline.model.errors import ModelError
from worldline.model.semantics.execute import Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH, MOST_SENDS, Extensions, MessageFrame
from worldline.trace.journal.lasting import Lasting, lasting_paths
from worldline.trace.journal.patches import apply_all
from worldline.trace.journal.records import (
    ENDED,
    AnswersRecord,
    DeltaRecord,
    FateRecord,
)
from worldline.worlds.companions import Attention, ToldPeers

NumbersBeside = Callable[[int, str, Any], Extensions | None]
"""Says which numbers stand beside a message: to whom, by index, from which part, what."""


@final
class Following:
    """What follows from the handlers of a node, in one of its lives.

    Parameters
    ----------
    door
        Has what a handler did.
    fire
        Takes a timer that has ended.

    Attributes
    ----------
    numbers
        Says what companions put beside a message; None if there are none.
    durable
        Without a journal, the durable and ghost fields, by path, as the last handler left
        them that did not fail.
    """

    def __init__(
        self,
        system: System,
        index: int,
        incarnation: int,
        door: HostDoor,
        lasting: Lasting,
        node: Any,
        *,
        codec: Codec,
        wire: Wire,
        turn: PresentTurn,
        fire: Callable[[PendingTimer], None],
        counts: NodeCounts,
    ) -> None:
        self._places, self._me = system.index, index
        self._incarnation, self._door, self._lasting = incarnation, door, lasting
        self._values = node.__dict__
        self._packet, self._put, self._turn = codec.packet, wire.put, turn
        self._frame = codec.frame
        self._fire, self._counts = fire, counts
        self._call_later = asyncio.get_running_loop().call_later
        self._lasts = bool(lasting)
        kind = system.types[index]
        self._lasting_names = {path.split(".")[0] for path in lasting_paths(kind)}
        self.durable = lasting.all()
        self._told: ToldPeers = {}
        self.numbers: NumbersBeside | None = None

    def attend(self, attention: Attention) -> None:
        """Have a companion say what stands beside messages, but to those it has told."""
        self._told, self.numbers = attention.told, attention.beside

    def settle(
        self,
        number: int,
        result: Result,
        lamport: int,
        written: Collection[str] | None = None,
    ) -> None:
        """Give to the turn what a handler has done.

        Parameters
        ----------
        number
            Of the event, in its turn.
        written
            The fields that it has changed, settled by now; None if nobody has looked.

        Raises
        ------
        ModelError
            If a message or a value is one that nothing can carry.
        """
        door, turn = self._door, self._turn
        if result is not Result.HANDLED:
            turn.note(FateRecord(number, result.value, ""))
        if written is None:
            settle_fields(self._values)
        refused = self._send(lamport) if door.sends else ()
        if door.timers:
            for timer, after in door.timers:
                before = door.pending.pop(timer, None)
                if before is not None:
                    before[0].cancel()
                if after is not None:
                    self.set_timer(timer, after)
        if door.choices or door.clock_read or refused:
            clock = door.clock if door.clock_read else None
            turn.note(AnswersRecord(number, tuple(door.choices), clock, refused))
        lasts = self._lasts
        if lasts and written is not None:
            lasts = not self._lasting_names.isdisjoint(written)
        if lasts or door.next_number is not None:
            self._note_changes(number)

    def undo(self, number: int, lamport: int) -> None:
        """Let nothing follow from an event of which something cannot: its node ends.

        As of a handler that raises nothing leaves, and as nothing of it is written down,
        the journal says that it was undone.
        """

        def is_its(packet: bytes) -> bool:
            frame = self._frame(packet[LENGTH:])
            return type(frame) is MessageFrame and frame.lamport == lamport

        self._turn.undo(number, is_its)
        self._turn.note(FateRecord(number, "undone", ENDED))

    def set_timer(self, timer: PendingTimer, after: float) -> None:
        """Set a timer that is not set."""
        handle = self._call_later(after, self._fire, timer)
        self._door.pending[timer] = handle, after

    def _send(self, lamport: int) -> tuple[int, ...]:
        """Give what was sent to the turn; return which of the sends were refused."""
        packet, put, places = self._packet, self._put, self._places
        me, incarnation, leaving = self._me, self._incarnation, self._turn.leaving
        refused: list[int] = []  # of a handler that is stubborn, very many
        numbers, told, beside = self.numbers, self._told, None
        if len(self._door.sends) > MOST_SENDS:
            raise ModelError(
                f"one event sends {len(self._door.sends):,} messages",
                remedy=f"it may send {MOST_SENDS:,}: let a timer send the rest",
            )
        for place, sent in enumerate(self._door.sends):
            dst, part, message, taken = sent
            if taken:
                to = places[dst]
                if numbers is not None:
                    known = told.get(to)
                    if known is None:
                        beside = numbers(to, part, message)
                    else:
                        keep, number = known
                        keep(sent)
                        beside = number()
                made = packet(me, incarnation, lamport, place, part, message, beside)
                put(leaving, to, part, message, made)
            else:
                refused.append(place)
        self._counts.sent += len(self._door.sends) - len(refused)
        self._counts.refused += len(refused)
        return tuple(refused)

    def _note_changes(self, number: int) -> None:
        """Note how durable and ghost fields and the sequence have changed."""
        door, turn = self._door, self._turn
        changed, patches = self._lasting.changed()
        if door.next_number is not None:
            door.counter = door.next_number
        elif not (changed or patches):
            return
        if not turn.has_journal:
            apply_all(self.durable, changed, patches)
            return
        turn.note(DeltaRecord(number, changed, door.counter, patches))
        is_durable = self._lasting.is_durable(changed, patches)
        if is_durable or door.next_number is not None:
            turn.is_durable = True
