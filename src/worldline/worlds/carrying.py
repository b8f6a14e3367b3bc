"""Data that messages carry beside their content by the clock, outside all states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from worldline.model.message import Envelope
from worldline.worlds.agenda import AgendaEntry
from worldline.worlds.courier import message_of

_LEAST = 1024
"""Messages of which it is kept, at least, before it is forgotten of those that came."""


Carried: TypeAlias = tuple[Envelope, int, int, dict[int, int], bool]
"""What a message carries beside it: the object that is under way; in which life, and at
which Lamport time, its sender sent it; what companions have put there; and whether they
have been told of it at its receiver, where it was put off then."""


@final
class Carriage:
    """What all messages carry that are under way.

    Parameters
    ----------
    entries
        Returns the entries of the agenda, and what is held back.
    may_double
        Whether one object may arrive twice.
    """

    def __init__(
        self, entries: Callable[[], list[AgendaEntry]], *, may_double: bool
    ) -> None:
        self._entries = entries
        self._of: dict[int, Carried] = {}
        """By the object; that it is kept here makes its identity its own."""
        self._most = _LEAST
        self._may_double = may_double

    def __len__(self) -> int:
        return len(self._of)

    def put(self, carried: Carried) -> None:
        """Note what a message carries that is under way from now on."""
        if len(self._of) >= self._most:
            self._sweep()
        self._of[id(carried[0])] = carried

    def take(self, envelope: Envelope) -> Carried:
        """Return what a message carries that has come."""
        if self._may_double:
            return self._of[id(envelope)]
        return self._of.pop(id(envelope))

    def _sweep(self) -> None:
        """Forget what messages have carried that are under way no more."""
        # Seldom enough for each message to cost no more than some entries looked at.
        entries, of = self._entries(), self._of
        under_way = [id(message_of(entry)) for entry in entries]
        self._of = {which: of[which] for which in under_way if which in of}
        self._most = max(_LEAST, 2 * len(entries))
