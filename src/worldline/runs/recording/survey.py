"""A first look through all journals: the messages that were received, and how often.

A message that was never received is lost once it is sent, or with its connection. So
who runs a recording again has to know beforehand; eight bytes for each that was
received tell it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, final

from worldline.runs.recording.beginning import (
    Beginnings,
    EventName,
    NodeBeginning,
    behind,
    place_before,
)
from worldline.runs.recording.journaled import Journals
from worldline.trace.journal.frames import FURTHEST
from worldline.trace.journal.records import (
    CalledRecord,
    CheckpointRecord,
    ErredRecord,
    FiredRecord,
    GapRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
)

_PLACES = 20
"""Bits of the place of a send among those of its event."""


_NONE: EventName = (0, 0)

_TICKS = frozenset({CalledRecord, ErredRecord, FiredRecord, RetriedRecord})
"""What is an event, beside a start and what is received."""

SendName: TypeAlias = tuple[int, int, int, int]
"""The name of a send: whose, in which incarnation and event, and which of its sends."""


class Early(NamedTuple):
    """A message that was under way when its sender began, and was received later."""

    name: SendName
    to: int
    frame: Any


@final
class Survey:
    """What was received, by the sender.

    Parameters
    ----------
    since
        Seconds from the beginning of the run on: each node begins where its state is
        known for the last time before that. None for the whole run.

    Attributes
    ----------
    begins
        Where each node begins, by index; None for the start of a whole journal, or for
        one that says nothing.
    silent
        The indices of the nodes of which no journal says how they began.
    gapped
        The indices of those whose journals lack something.
    began
        Nanoseconds of the wall clock at the first block of all; 0 if there is none.
    early
        What was under way when its sender began, in the order of sending.
    """

    def __init__(
        self, journals: Journals, count: int, since: float | None = None
    ) -> None:
        self._journals = journals
        self._of: dict[tuple[int, int], array[int]] = {}
        self._since: Mapping[int, int] = {}
        self._early: dict[SendName, Early] = {}
        self.gapped: set[int] = set()
        self._heard: dict[int, EventName] = {}
        self._life = self._lamport = 0
        self._is_open = False
        self._ends: dict[EventName, int] = {}
        known = Beginnings()
        for index in range(count):
            self._heard, self._life = {}, 0
            for turn in known.look(index, journals.lives(index) or (), self._heard):
                self._take(index, turn.records)
            self._end(index)
        self._note_cut()
        self.began = known.began
        self.silent = frozenset(range(count)) - known.nodes
        self.begins: Sequence[NodeBeginning | None] = [None] * count
        if since is not None or not known.are_whole:
            begins = known.last_before(since, count)
            if not all(one is None or one.is_first for one in begins):
                self.begins = begins
                self._again(journals)

    @property
    def is_whole(self) -> bool:
        """Whether the run is known from its start on."""
        return not any(self.begins)

    @property
    def knows(self) -> dict[int, Mapping[int, EventName]]:
        """Of which events each node has heard before it begins; see `Merging`."""
        count = len(self.begins)
        return {
            index: {n: event for n, event in begin.knows.items() if n < count}
            for index, begin in enumerate(self.begins)
            if begin is not None and begin.knows
        }

    def last_heard(self) -> dict[EventName, int]:
        """Return the Lamport time of the last event of each life that somebody heard of.

        A life is named by the index of its node and its number.
        """
        return {whose: max(keys) >> _PLACES for whose, keys in self._of.items()}

    @property
    def early(self) -> list[Early]:
        return [self._early[name] for name in sorted(self._early)]

    def receipts(self) -> dict[tuple[int, int], Receipts]:
        """Return what was received of each incarnation, after the last look."""
        return {
            whose: Receipts(array("Q", sorted(keys)))
            for whose, keys in self._of.items()
        }

    def _again(self, journals: Journals) -> None:
        """Look only at what comes behind where nodes begin."""
        self._of.clear()
        places = {
            index: place_before(begin, journals.lives(index) or (), journals.checkpoint)
            for index, begin in enumerate(self.begins)
            if begin is not None
        }
        self._since = {index: lamport for index, (_, lamport) in places.items()}
        for index, begin in enumerate(self.begins):
            if begin is not None:
                self._is_open, self._life = True, places[index][0]
                for records in behind(begin, journals.lives(index) or ()):
                    self._take(index, records)

    def _take(self, index: int, records: Sequence[Any]) -> None:
        for record in records:
            kind = type(record)
            if kind is ReceivedRecord:
                self._note(index, record.packets)
            elif kind in _TICKS:
                self._lamport += 1
            elif kind is StartedRecord or (kind is CheckpointRecord and not self._life):
                self._begin(index, record)
            elif kind is GapRecord:
                self.gapped.add(index)
                self._is_open = True
            elif kind is CheckpointRecord and self._is_open:
                # What waits here was received before, where nobody looks.
                saved = self._journals.checkpoint(record.state)
                self._note(index, saved.waiting)
                self._lamport, self._is_open = saved.lamport, False

    def _begin(self, index: int, record: Any) -> None:
        """Begin with a life of a node, or where what is left of its journal does."""
        if type(record) is CheckpointRecord:
            record = self._journals.checkpoint(record.state)
        if self._life:
            is_next = record.incarnation == self._life + 1
            if not is_next or record.lamport > self._lamport:
                self.gapped.add(index)
            self._end(index)
        self._life = record.incarnation
        self._lamport = record.lamport + (type(record) is StartedRecord)

    def _end(self, index: int) -> None:
        if self._life:
            self._ends[index, self._life] = self._lamport

    def _note_cut(self) -> None:
        """Note the nodes of which others heard what their own journals do not have."""
        first: dict[int, int] = {}
        for index, life in self._ends:
            first.setdefault(index, life)
        for (index, life), lamport in self.last_heard().items():
            if index not in first or life < first[index]:
                continue  # it is silent, or begins later
            if lamport > self._ends.get((index, life), 0):
                self.gapped.add(index)

    def _note(self, index: int, packets: bytes) -> None:
        since, of, heard = self._since, self._of, self._heard
        for sender, incarnation, lamport, place in self._journals.names(packets):
            keys = of.get((sender, incarnation))
            if keys is None:
                keys = of[sender, incarnation] = array("Q")
            keys.append(lamport << _PLACES | place)
            if self._lamport < lamport < FURTHEST:
                self._lamport = lamport
            self._lamport += 1
            event = incarnation, lamport
            if event > heard.get(sender, _NONE):
                heard[sender] = event
            if since and lamport <= since.get(sender, -1):
                self._note_early(index, packets)

    def _note_early(self, index: int, packets: bytes) -> None:
        for frame in self._journals.frames(packets):
            if frame.lamport <= self._since.get(frame.sender, -1):
                name: SendName = frame[:4]
                self._early[name] = Early(name, index, frame)


@final
class Receipts:
    """What was received of one incarnation of a node, asked in the order of sending."""

    __slots__ = ("_keys", "_next")

    def __init__(self, keys: array[int]) -> None:
        self._keys = keys
        self._next = 0

    def of(self, lamport: int, place: int) -> int:
        """Return how often a message was received; earlier ones are asked no more."""
        key, keys, at = lamport << _PLACES | place, self._keys, self._next
        end = len(keys)
        while at < end and keys[at] < key:
            at += 1
        first = at
        while at < end and keys[at] == key:
            at += 1
        self._next = at
        return at - first

    def left_of(self, lamport: int) -> list[int]:
        """Return the places in an event that were received and have not been asked for."""
        keys, at = self._keys, self._next
        beyond = lamport + 1 << _PLACES
        places: list[int] = []
        while at < len(keys) and keys[at] < beyond:
            if keys[at] >> _PLACES == lamport:
                places.append(keys[at] & (1 << _PLACES) - 1)
            at += 1
        self._next = at
        return places
