"""A first look through all journals: which messages somebody received, and how often.

A message that nobody received is lost directly after it is sent. So who runs a recording
again has to know beforehand; eight bytes for each that was received tell it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, final

from worldline.runs.recording.beginning import (
    Beginning,
    Beginnings,
    behind,
    lamport_before,
)
from worldline.runs.recording.journaled import Journals
from worldline.trace.journal.records import (
    CalledRecord,
    CheckpointRecord,
    ErredRecord,
    FiredRecord,
    GapRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
    StoppedRecord,
)

_PLACES = 20
"""Bits of the place of a send among those of its event."""


_EVENTS = frozenset({CalledRecord, ErredRecord, FiredRecord, RetriedRecord})
"""The events of one record each, but for a start."""


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
    lost
        The lives of which the end is lost, each with its node's index: somebody received
        what was sent after all that their journals say.
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
        self._ends: dict[tuple[int, int], int] = {}
        self._stopped: set[tuple[int, int]] = set()
        self._life, self._lamport = (0, 0), 0
        self._is_open = False
        known = Beginnings()
        for index in range(count):
            numbers = [life.number for life in journals.lives(index) or ()]
            if numbers and numbers != [*range(numbers[0], numbers[-1] + 1)]:
                self.gapped.add(index)
            self._life, self._lamport = (index, 0), 0
            for turn in known.look(index, journals.lives(index) or ()):
                self._take(index, turn.records)
        self.lost = self._lost_ends({index for index, _ in self._ends})
        self.gapped.update(index for index, _ in self.lost)
        self.began = known.began
        self.silent = frozenset(range(count)) - known.nodes
        self.begins: Sequence[Beginning | None] = [None] * count
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
        self._since = {
            index: lamport_before(
                begin, journals.lives(index) or (), journals.checkpoint
            )
            for index, begin in enumerate(self.begins)
            if begin is not None
        }
        for index, begin in enumerate(self.begins):
            if begin is not None:
                self._is_open = True
                for records in behind(begin, journals.lives(index) or ()):
                    self._take(index, records)

    def _lost_ends(self, told: set[int]) -> frozenset[tuple[int, int]]:
        """Return the lives of which others know more than their own journals."""
        return frozenset(
            life
            for life, keys in self._of.items()
            if life[0] in told - self.gapped
            and life not in self._stopped
            and max(keys) >> _PLACES > self._ends.get(life, -1)
        )

    def _take(self, index: int, records: Sequence[Any]) -> None:
        for record in records:
            kind = type(record)
            if kind is ReceivedRecord:
                self._note(index, record.packets)
            elif kind in _EVENTS:
                self._lamport += 1
            elif kind is StartedRecord:
                self._life = index, record.incarnation
                self._lamport = max(self._lamport, record.lamport) + 1
                self._is_open = False
            elif kind is StoppedRecord:
                self._stopped.add(self._life)
            elif kind is GapRecord:
                self.gapped.add(index)
                self._is_open = True
            elif kind is CheckpointRecord and self._is_open:
                # What waits here was received before, where nobody looks.
                self._note(index, self._journals.checkpoint(record.state).waiting)
                self._is_open = False
        self._ends[self._life] = self._lamport

    def _note(self, index: int, packets: bytes) -> None:
        since, of = self._since, self._of
        for sender, incarnation, lamport, place in self._journals.names(packets):
            self._lamport = max(self._lamport, lamport) + 1
            keys = of.get((sender, incarnation))
            if keys is None:
                keys = of[sender, incarnation] = array("Q")
            keys.append(lamport << _PLACES | place)
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
