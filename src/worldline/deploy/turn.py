"""A turn: what happens at a node in one round of the event loop.

It is written down as one block before anything of it leaves, so that the receiver of
a message finds in its sender's journal the event that sent it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, final

from worldline.deploy.journal import LASTING, JournalFailure, JournalWriter
from worldline.trace.journal.records import JournalRecord, ReceivedRecord
from worldline.worlds.companions import Attention

LARGEST = 16 << 20
"""Bytes of messages in a turn, from which on it ends."""

LONG = 64
"""Events of a turn that has to be synced, from which on it ends: then the disk begins with
it while the loop goes on with what comes behind it."""

CLOGGED = 1_000
"""Turns that wait for the disk, from which on the node reads nothing more."""


@final
class Leaving:
    """What leaves a node at the end of a turn.

    Attributes
    ----------
    datagrams, streamed
        Packets, each with the index of the node that it is for, in order of sending.
    own
        Packets of the messages to itself.
    answers
        The calls that were made, each with what its handler returned.
    seen
        What companions are to be told of.
    attention
        Of the companion that is to be told that something has passed; None if none is.
    """

    __slots__ = ("answers", "attention", "datagrams", "own", "seen", "streamed")

    def __init__(self) -> None:
        self.datagrams: list[tuple[int, bytes]] = []
        self.streamed: list[tuple[int, bytes]] = []
        self.own: list[bytes] = []
        self.answers: list[tuple[asyncio.Future[Any], Any]] = []
        self.seen: list[Any] = []
        self.attention: Attention | None = None

    def __bool__(self) -> bool:
        """Whether anything leaves."""
        return bool(
            self.streamed
            or self.datagrams
            or self.answers
            or self.own
            or self.seen
            or self.attention is not None
        )

    def join(self, later: Leaving) -> None:
        """Let leave with it what a later turn has brought about."""
        self.datagrams += later.datagrams
        self.streamed += later.streamed
        self.own += later.own
        self.answers += later.answers
        self.seen += later.seen
        self.attention = later.attention or self.attention

    def take_back(self, is_its: Callable[[bytes], bool]) -> None:
        """Keep back some of the packets."""
        self.datagrams = [one for one in self.datagrams if not is_its(one[1])]
        self.streamed = [one for one in self.streamed if not is_its(one[1])]
        self.own = [one for one in self.own if not is_its(one)]


@final
class PresentTurn:
    """The present turn of a node, and those before it that wait for the disk.

    Parameters
    ----------
    journal
        Where events are written; None if they are not.
    leave
        Lets leave what a turn has brought about.
    ended
        Is called at the end of each turn.
    failed
        Is told that the journal cannot be written, though something depends on it; or why
        an event cannot be written down.

    Attributes
    ----------
    leaving
        What leaves at its end.
    events
        How many there were in it.
    is_durable
        Whether a durable field has changed in it.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        journal: JournalWriter | None,
        *,
        leave: Callable[[Leaving], None],
        ended: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._loop, self._journal = loop, journal
        self._leave, self._ended, self._failed = leave, ended, failed
        self._is_recorded = journal is not None and journal.records_events
        self._is_synced = journal is not None and journal.is_synced
        self._size = 0
        self._records: list[JournalRecord] = []
        self._notes: list[JournalRecord] = []
        self._packets: list[bytes] = []
        self._waiting: deque[tuple[int, Leaving]] = deque()
        self._settled: asyncio.Future[None] | None = None
        self._is_due = self._is_planned = False
        self._is_over = False
        self._disk = None if journal is None else journal.disk
        if self._disk is not None:
            self._disk.hear = self._go_on
        self.leaving = Leaving()
        self.events = 0
        self.is_durable = False

    @property
    def has_journal(self) -> bool:
        """Whether what outlives a life is written down."""
        return self._journal is not None

    def is_clogged(self) -> bool:
        """Whether so much waits for the disk that nothing more is to be read."""
        return len(self._waiting) >= CLOGGED

    def receive(self, packet: bytes) -> int:
        """Note a message as it came in; return its number. See `event`."""
        number = self.events
        self.events = number + 1
        if self._is_recorded:
            self._packets.append(packet)
            self._size += len(packet)
        self._is_due = True
        return number

    def event(self, record: JournalRecord) -> int:
        """Note an event that is no message; return its number.

        Whoever lets events happen calls `end_if_due` behind them.
        """
        number = self.events
        self.events = number + 1
        self._add(record)
        self._is_due = True
        return number

    def number(self, record: Any) -> int:
        """Return the number of an event: of a message, of another, or what is given."""
        if type(record) is bytes:
            return self.receive(record)
        return record if type(record) is int else self.event(record)

    def beside(self, record: JournalRecord) -> None:
        """Note something about the node that is no event."""
        self._add(record)
        self._is_due = True
        self._plan()

    def note(self, record: JournalRecord) -> None:
        """Note something about an event of this turn."""
        if self._is_recorded or self._is_kept(record):
            self._notes.append(record)

    def undo(self, number: int, is_its: Callable[[bytes], bool]) -> None:
        """Take back what an event has brought about, and what was noted about it.

        Parameters
        ----------
        is_its
            Says whether a packet is one that it has sent.
        """
        notes = self._notes
        self._notes = [one for one in notes if getattr(one, "event", None) != number]
        self.leaving.take_back(is_its)

    def end_if_long(self, attention: Attention | None = None) -> None:
        """End it between two events, if the disk may begin with it.

        Parameters
        ----------
        attention
            Of the companion that is to be told then that something has passed.
        """
        if self.is_durable and self._is_synced and self.events >= LONG:
            self.leaving.attention = attention or self.leaving.attention
            self.end()

    def end_if_due(self) -> None:
        """End it with its round, or at once.

        That is, if its block would be too large; or if something waits for the disk, which
        has nothing else to do: what comes meanwhile is the next turn.
        """
        if self.is_durable and self._is_synced and self.leaving:
            assert self._disk is not None, "it is synced"
            if not self._disk.is_busy:
                self.end()
                return
        if self._size > LARGEST:
            self.end()
        elif self._is_due:
            self._plan()

    def end(self) -> None:
        """Write it down, and let leave what it has brought about, now or in its order."""
        if self._is_over:
            return
        self._is_due = False
        wait, journal, leaving = 0, self._journal, self.leaving
        if journal is not None:
            try:
                if self._records or self._notes:
                    if self._packets:
                        self._join()
                    records, self._records = self._records, []
                    if self._notes:
                        records += self._notes
                        self._notes = []
                    journal.commit(records, self.is_durable)
                elif self._packets:
                    if told := journal.write_received(self._packets):
                        journal.heed(told, self._packets)
                    self._packets.clear()
            except Exception as error:
                # Also what cannot be spelt: what came after it would be written otherwise.
                self._failed(error)
                return
            if self._is_synced:
                wait = journal.disk.awaited(leaves=leaving)
        self.events, self._size, self.is_durable = 0, 0, False
        self.leaving = Leaving()
        if wait or self._waiting:  # only after all before it
            self._waiting.append((wait, leaving))
        elif leaving:
            self._leave(leaving)
        self._ended()

    def stop(self, why: Exception) -> None:
        """Forget what has not left: the node is no more, as callers are told."""
        self._is_over = True
        for leaving in (*(each for _, each in self._waiting), self.leaving):
            for answer, _ in leaving.answers:
                if not answer.done():
                    answer.set_exception(why)
                    answer.exception()  # perhaps nobody waits any more
        self._waiting.clear()
        self._tell_settled()
        self.leaving = Leaving()

    async def settle(self) -> None:
        """Wait until everything has left."""
        while self._waiting and not self._is_over:
            if self._settled is None:
                self._settled = self._loop.create_future()
            await asyncio.wait([self._settled])

    # ------------------------------------------------------------------------ inside

    def _plan(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            self._loop.call_soon(self._end_round)

    def _end_round(self) -> None:
        self._is_planned = False
        if self._is_due:
            self.end()

    def _is_kept(self, record: JournalRecord) -> bool:
        """Whether a record is written where events are not."""
        return self._journal is not None and type(record) in LASTING

    def _add(self, record: JournalRecord) -> None:
        if self._is_recorded or self._is_kept(record):
            if self._packets:
                self._join()
            self._records.append(record)

    def _join(self) -> None:
        """Make records of the packets that came in one after the other."""
        if self._journal is not None:
            for piece in self._journal.joined(self._packets):
                self._records.append(ReceivedRecord(piece))
            self._packets.clear()

    def _go_on(self, error: OSError | None) -> None:
        """Let leave what has waited for the disk until now."""
        if self._is_over:
            return
        if error is not None:
            said = error.strerror or str(error)
            self._failed(JournalFailure(f"the journal cannot be synced: {said}"))
            return
        assert self._disk is not None, "it has told"
        ended, waiting = self._disk.ended, self._waiting
        joined: Leaving | None = None
        while waiting and waiting[0][0] <= ended:
            _, leaving = waiting.popleft()
            if joined is None:
                joined = leaving
            else:
                joined.join(leaving)
        if joined:
            self._leave(joined)
        if not waiting:
            self._tell_settled()

    def _tell_settled(self) -> None:
        if self._settled is not None:
            self._settled.set_result(None)
            self._settled = None
