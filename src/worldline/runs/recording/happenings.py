"""Events in the journal of one node, in order, each with its Lamport time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, final

from worldline.model.errors import InputError
from worldline.model.kinds import Kind
from worldline.runs.recording.beginning import NodeBeginning, TurnClock
from worldline.runs.recording.journaled import Journals
from worldline.trace.journal.checkpoints import NodeCheckpoint
from worldline.trace.journal.frames import FURTHEST
from worldline.trace.journal.patches import FieldPatch
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    CheckpointRecord,
    DeltaRecord,
    ErredRecord,
    FailedRecord,
    FateRecord,
    FiredRecord,
    GapRecord,
    JournalRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
    StoppedRecord,
)

CHECKPOINT, GAP = "checkpoint", "gap"
"""What a journal says beside events: the state of its node, and that something is missing."""

_NS = 1e-9


class Notes(NamedTuple):
    """What a journal says of one event beside what it was.

    Attributes
    ----------
    choices, clock, refused
        The options that the handler took, what the clock showed if it was read, and which
        of its sends were refused.
    fate, how
        What became of the event where no handler took it; empty where one did.
    delta, patches, counter
        The durable and ghost fields that it changed, as a whole or in part, by path, and where the sequence stood
        then; None where it changed none.
    failed
        How the handler failed, if it did.
    """

    choices: tuple[int, ...] = ()
    clock: float | None = None
    refused: tuple[int, ...] = ()
    fate: str = ""
    how: str = ""
    delta: Mapping[str, Any] | None = None
    patches: tuple[FieldPatch, ...] = ()
    counter: int | None = None
    failed: FailedRecord | None = None


NO_NOTES = Notes()


@final
class Happening(NamedTuple):
    """One thing that a journal says.

    Attributes
    ----------
    lamport, node
        The Lamport time, and the index of the node.
    time
        Seconds since the run began, by the clock of the node.
    kind
        The kind of the event, or what else it is.
    what
        The frame, the record, or nothing.
    """

    lamport: int
    node: int
    time: float
    kind: Any
    what: Any
    notes: Notes


_new_happening = tuple.__new__
"""Makes one of a million in half of the time that its class takes."""


@final
class Lane:
    """The happenings of one node, in order, to be iterated over once.

    Parameters
    ----------
    journals
        Those of the run.
    index
        That of the node.
    began
        Nanoseconds of the wall clock at which the run began.
    begin
        Where to begin; None for the start.
    heard
        The Lamport time of the last event of each of its lives that others heard of, by
        the number of the life. A journal that ends before it was cut: what is sent was
        written before.

    Attributes
    ----------
    events, incarnations
        How many there were so far.
    stopped
        How the last incarnation ended: its reason, or empty if it was killed.
    torn
        Bytes of torn tails so far.
    gaps
        What is missing so far, in words.
    """

    def __init__(
        self,
        journals: Journals,
        index: int,
        began: int,
        begin: NodeBeginning | None = None,
        heard: Mapping[int, int] | None = None,
    ) -> None:
        self._begin = begin
        self._lives = journals.lives(index) or ()
        self._checkpoint = journals.checkpoint
        self._frames = journals.frames
        self._index = index
        self._began = began
        self._heard = heard or {}
        self._life = 0
        self._lamport = 0
        self._waiting: list[Any] = []
        self.events = self.incarnations = self.torn = 0
        self.stopped = ""
        self.gaps: list[str] = []

    def __iter__(self) -> Iterator[Happening]:
        clock, begin = TurnClock(), self._begin
        time: float | None = None
        for number, life in enumerate(self._lives):
            self.incarnations += 1
            is_new = True
            for place, (monotonic, wall, records) in enumerate(life.turns()):
                if not records:
                    continue
                at, skipped = clock.at(monotonic, wall), 0
                if begin is not None:
                    if number < begin.life or place < begin.turn:
                        self._life = life.number - (number == begin.life)
                        continue
                    skipped, begin = begin.record, None
                before: float | None = time
                time = (at - self._began) * _NS
                if is_new:
                    yield from self._between(before, life.number, records[0])
                    self._waiting.clear()
                    self.stopped, is_new = "", False
                    self._life = life.number
                elif type(records[0]) is GapRecord and not skipped:
                    # It was noted when writing went on, and begins where it failed.
                    assert before is not None, "it is not the first of its life"
                    yield self._beside(before, GAP, None)
                    skipped = 1
                yield from self._block(time, records, skipped)
            self.torn += life.torn
        if time is not None:
            yield self._ending(time, 0)
        last = max(self._heard, default=0)
        if self.incarnations and self._life < last:
            yield from self._lost(time or 0.0, range(self._life + 1, last + 1))

    def _between(
        self, time: float | None, life: int, first: JournalRecord
    ) -> Iterator[Happening]:
        """Say how the life before one ended, and which lives between are not there.

        Parameters
        ----------
        time
            When it did; None if there is none before.
        """
        lost = range(self._life + 1, life)
        if time is not None:
            began = first.lamport if type(first) is StartedRecord and not lost else 0
            yield self._ending(time, began)
        if lost:
            yield from self._lost(time, lost)

    def _lost(self, time: float | None, lives: range) -> Iterator[Happening]:
        """Say that some lives are not there; behind another one that is a gap."""
        which = (
            f"life {lives[0]}"
            if len(lives) == 1
            else f"lives {lives[0]} to {lives[-1]}"
        )
        why = f"the journal of {which} is not there"
        if time is None:
            self.gaps.append(why)
        else:
            yield self._gap(time, why)

    def _ending(self, time: float, began: int) -> Happening:
        """Return how a life ended: it stopped, or nobody knows what else it did.

        Parameters
        ----------
        began
            The Lamport time at which the next one began.
        """
        heard = self._heard.get(self._life, 0)
        last = max(heard, began)
        if last <= self._lamport or self.stopped:
            return self._beside(time, Kind.CRASH, self.stopped)
        who = "others received" if heard == last else "its next life knew"
        return self._gap(
            time,
            f"the journal of life {self._life} ends at {time:,.3f} s, Lamport time "
            f"{self._lamport:,}, and {who} what it did up to {last:,}: it was cut, or a part "
            "was lost, as nothing is sent before it is written",
        )

    def _gap(self, time: float, why: str) -> Happening:
        self.gaps.append(why)
        return self._beside(time, GAP, None)

    def _block(
        self, time: float, records: list[Any], skipped: int
    ) -> Iterator[Happening]:
        if len(records) == 1 and type(records[0]) is ReceivedRecord:
            # Most blocks are no more than that.
            for frame in self._frames(records[0].packets):
                yield self._delivery(time, frame, NO_NOTES)
            return
        notes: dict[int, Notes] = {}
        said: list[tuple[int, Any]] = []
        number = 0
        for place, record in enumerate(records):
            kind = type(record)
            if kind in _ON_EVENTS:
                notes[record.event] = _ON_EVENTS[kind](
                    notes.get(record.event, NO_NOTES), record
                )
            elif kind is ReceivedRecord:
                for frame in self._frames(record.packets):
                    said.append((number, frame))
                    number += 1
            elif kind in _BESIDE:
                said.append((-1, record))
            else:
                said.append((number, record))
                number += 1
            if place < skipped:  # it is numbered all the same
                self.gaps += [r.reason for _, r in said if type(r) is GapRecord]
                said.clear()
        for event, what in said:
            yield from self._said(time, what, notes.get(event, NO_NOTES), event)

    def _said(
        self, time: float, what: Any, notes: Notes, event: int
    ) -> Iterator[Happening]:
        kind = type(what)
        if event < 0:
            if kind is StoppedRecord:
                self.stopped = what.reason or "stopped"
            elif kind is GapRecord:
                yield self._gap(time, what.reason)
            else:
                yield self._saved(time, self._checkpoint(what.state))
        elif kind is StartedRecord:
            self._lamport = max(self._lamport, what.lamport)
            yield self._event(time, Kind.START, what, notes)
        elif kind is FiredRecord:
            yield self._event(time, Kind.TIMER, what, notes)
        elif kind is CalledRecord:
            yield self._event(time, Kind.CALL, what, notes)
        elif kind is ErredRecord:
            yield self._event(time, Kind.TRANSPORT_ERROR, what, notes)
        elif kind is RetriedRecord:
            yield self._event(time, Kind.DELIVER, self._waited(what.which), notes)
        elif notes.fate == "waits":
            self._waiting.append(what)
            self._catch_up(what.lamport)
            self._lamport += 1
            self.events += 1
        else:
            yield self._delivery(time, what, notes)

    def _waited(self, which: int) -> Any:
        """Return a message that waited for its guard, and waits no more."""
        if which >= len(self._waiting):
            raise InputError(
                f"a journal has message {which} tried again, and {len(self._waiting)} "
                "that wait",
                remedy="it was damaged, or is none; replay the recording without it",
            )
        return self._waiting.pop(which)

    def _saved(self, time: float, saved: NodeCheckpoint) -> Happening:
        """Go on from a checkpoint, before which something may be missing."""
        self._lamport = max(self._lamport, saved.lamport)
        self._waiting = [*self._frames(saved.waiting)]
        return self._beside(time, CHECKPOINT, saved)

    def _delivery(self, time: float, frame: Any, notes: Notes) -> Happening:
        self._catch_up(frame.lamport)
        return self._event(time, Kind.DELIVER, frame, notes)

    def _catch_up(self, lamport: int) -> None:
        """Put the time forward to that of a message, as its host has done."""
        if self._lamport < lamport < FURTHEST:
            self._lamport = lamport

    def _event(self, time: float, kind: Kind, what: Any, notes: Notes) -> Happening:
        self._lamport += 1
        self.events += 1
        fields = self._lamport, self._index, time, kind, what, notes
        return _new_happening(Happening, fields)

    def _beside(self, time: float, kind: Any, what: Any) -> Happening:
        return Happening(self._lamport, self._index, time, kind, what, NO_NOTES)


def _asked(notes: Notes, record: AnswersRecord) -> Notes:
    return notes._replace(
        choices=tuple(record.choices),
        clock=record.clock,
        refused=tuple(record.refused),
    )


def _fate(notes: Notes, record: FateRecord) -> Notes:
    return notes._replace(fate=record.what, how=record.how)


def _delta(notes: Notes, record: DeltaRecord) -> Notes:
    return notes._replace(
        delta=record.durable, patches=record.patches, counter=record.counter
    )


def _failed(notes: Notes, record: FailedRecord) -> Notes:
    return notes._replace(failed=record)


_ON_EVENTS: dict[type, Callable[[Notes, Any], Notes]] = {
    AnswersRecord: _asked,
    FateRecord: _fate,
    DeltaRecord: _delta,
    FailedRecord: _failed,
}
_BESIDE = frozenset({CheckpointRecord, StoppedRecord, GapRecord})
