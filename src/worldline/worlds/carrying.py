"""What messages carry beside them in a run by the clock, which no state of a system has."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, final

from worldline.model.message import Envelope
from worldline.worlds.agenda import AgendaEntry
from worldline.worlds.courier import message_of

_LEAST = 1024
"""Messages of which it is kept, at least, before it is forgotten of those that came."""


@final
class Carried(NamedTuple):
    """What a message carries beside it.

    Attributes
    ----------
    envelope
        The object that is under way.
    life, lamport
        In which life, and at which Lamport time, its sender sent it.
    numbers
        What companions have put there.
    noticed
        Whether companions have been told: it was put off then.
    """

    envelope: Envelope
    life: int
    lamport: int
    numbers: dict[int, int]
    noticed: bool = False


@final
class Carriage:
    """What all messages carry that are under way.

    Parameters
    ----------
    entries
        Returns the entries of the agenda, and what is held back.
    """

    def __init__(self, entries: Callable[[], list[AgendaEntry]]) -> None:
        self._entries = entries
        self._of: dict[int, Carried] = {}
        """By the object; that it is kept here makes its identity its own."""
        self._most = _LEAST

    def __len__(self) -> int:
        return len(self._of)

    def put(self, carried: Carried) -> None:
        """Note what a message carries that is under way from now on."""
        if len(self._of) >= self._most:
            self._sweep()
        self._of[id(carried.envelope)] = carried

    def of(self, envelope: Envelope) -> Carried:
        """Return what a message carries."""
        return self._of[id(envelope)]

    def _sweep(self) -> None:
        """Forget what messages have carried that are under way no more."""
        # Seldom enough for each message to cost no more than some entries looked at.
        entries, of = self._entries(), self._of
        under_way = [id(message_of(entry)) for entry in entries]
        self._of = {which: of[which] for which in under_way if which in of}
        self._most = max(_LEAST, 2 * len(entries))
