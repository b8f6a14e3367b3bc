"""The agenda of a run by the clock: events to come, and those that wait for a chance.

Entries are kept in slots of time, and put in order when the time of their slot comes: of
a million nodes each entry is then compared with few others, which are near in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, TypeAlias, final

AgendaEntry: TypeAlias = tuple[float, int, int, Any, Any]
"""Time, number, index of the node, what it is (its type says which sort), and of a timer
what stands for it while it is set, of a message what becomes of it on its way."""

_SLOTS_A_SECOND = 1024.0

_FAR_S = 2.0**50
"""What comes later than this is in one slot, as seconds are not exact any more."""


@final
class Agenda:
    """Entries by time; of two at one time the one that was noted first comes first.

    Attributes
    ----------
    now
        Seconds since the run began.
    waiting
        Those whose time is over, by the node where something must happen first.
    """

    __slots__ = (
        "_due",
        "_later",
        "_number",
        "_slot",
        "_slots",
        "_sudden",
        "now",
        "waiting",
    )

    def __init__(self) -> None:
        self.now = 0.0
        self.waiting: dict[int, list[AgendaEntry]] = {}
        self._number = 0
        self._slot = -1
        self._due: list[AgendaEntry] = []
        """Those of the present slot when it began, the next one last."""
        self._sudden: list[AgendaEntry] = []
        """Those that were noted since for the present slot or before, as a heap."""
        self._later: dict[int, list[AgendaEntry]] = {}
        self._slots: list[int] = []
        """The slots of `_later`, as a heap."""

    def note(self, time: float, index: int, what: Any, extra: Any = None) -> None:
        """Note what is to come at a node; -1 stands for none."""
        self._number = number = self._number + 1
        slot = int((time if time < _FAR_S else _FAR_S) * _SLOTS_A_SECOND)
        if slot <= self._slot:
            heappush(self._sudden, (time, number, index, what, extra))
            return
        later = self._later.get(slot)
        if later is None:
            self._later[slot] = [(time, number, index, what, extra)]
            heappush(self._slots, slot)
        else:
            later.append((time, number, index, what, extra))

    def take(self, until: float) -> AgendaEntry | None:
        """Take out what comes next; None if that is after a time, which it then is."""
        due = self._due
        if self._sudden or not due:
            return self._take_otherwise(until)
        if due[-1][0] > until:
            self.now = until
            return None
        entry = due.pop()
        self.now = entry[0]
        return entry

    def next_time(self) -> float:
        """Return when the next entry comes; infinity if none does."""
        if not self._due and not self._sudden and not self._begin_slot():
            return math.inf
        due, sudden = self._due, self._sudden
        if not sudden:
            return due[-1][0]
        return min(due[-1][0], sudden[0][0]) if due else sudden[0][0]

    def wait(self, entry: AgendaEntry) -> None:
        """Keep an entry until something has happened at its node."""
        self.waiting.setdefault(entry[2], []).append(entry)

    def go_on(self, index: int) -> None:
        """Let it be the turn of what waits at a node: something has happened there."""
        if index in self.waiting:
            self.again(self.waiting.pop(index))

    def again(self, entries: Iterable[AgendaEntry]) -> None:
        """Let it be the turn of entries now, in the order in which they were noted."""
        for _, number, index, what, extra in entries:
            heappush(self._sudden, (self.now, number, index, what, extra))

    def all(self) -> Iterator[AgendaEntry]:
        """Yield every entry, in no order."""
        for entries in (self._due, self._sudden, *self._later.values()):
            yield from entries
        for waiting in self.waiting.values():
            yield from waiting

    def _take_otherwise(self, until: float) -> AgendaEntry | None:
        """Take out what comes next where it may be in another slot, or sudden."""
        if not self._due and not self._sudden and not self._begin_slot():
            self.now = until
            return None
        due, sudden = self._due, self._sudden
        is_sudden = bool(sudden) and not (due and due[-1] < sudden[0])
        if (sudden[0] if is_sudden else due[-1])[0] > until:
            self.now = until
            return None
        entry = heappop(sudden) if is_sudden else due.pop()
        self.now = entry[0]
        return entry

    def _begin_slot(self) -> bool:
        """Put the next slot in order; say whether there is one."""
        if not self._slots:
            return False
        self._slot = heappop(self._slots)
        self._due = self._later.pop(self._slot)
        self._due.sort(reverse=True)
        return True
