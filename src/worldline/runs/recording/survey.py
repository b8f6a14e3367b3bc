"""A first look through all journals: which messages somebody received, and how often.

A message that nobody received is lost directly after it is sent. So who runs a recording
again has to know beforehand; eight bytes for each that was received tell it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple, final

from worldline.runs.recording.journaled import Life, Names
from worldline.trace.journal.records import ReceivedRecord

_PLACES = 20
"""Bits of the place of a send among those of its event."""


class SendName(NamedTuple):
    """The name of a send: whose, in which incarnation and event, and which of its sends."""

    sender: int
    incarnation: int
    lamport: int
    place: int


@final
class Survey:
    """What was received, by the sender.

    Attributes
    ----------
    began
        Nanoseconds of the wall clock at the first block of all; 0 if there is none.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._of: dict[tuple[int, int], array[int]] = {}
        self.began = 0

    def look(self, lives: Iterable[Life]) -> None:
        """Look through the journal of a node."""
        for life in lives:
            for _, wall, records in life.turns():
                if not self.began or wall < self.began:
                    self.began = wall
                for record in records:
                    if type(record) is ReceivedRecord:
                        self._note(record.packets)

    def receipts(self) -> dict[tuple[int, int], Receipts]:
        """Return what was received of each incarnation, after the last look."""
        return {
            whose: Receipts(array("Q", sorted(keys)))
            for whose, keys in self._of.items()
        }

    def _note(self, packets: bytes) -> None:
        for sender, incarnation, lamport, place in self._names(packets):
            whose = sender, incarnation
            keys = self._of.get(whose)
            if keys is None:
                keys = self._of[whose] = array("Q")
            keys.append(lamport << _PLACES | place)


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
