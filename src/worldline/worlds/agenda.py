"""What is to come in a run by the clock, and what waits for its chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappush
from typing import Any, TypeAlias, final

AgendaEntry: TypeAlias = tuple[float, int, int, Any, Any]
"""Time, number, index of the node, what it is (its type says which sort), and of a timer
the delay with which it was set, of a message what becomes of it on its way."""


@final
class Agenda:
    """Entries by time; of two at one time the one that was noted first comes first.

    Attributes
    ----------
    heap
        The entries that have a time, in heap order.
    now
        Seconds since the run began.
    waiting
        Those whose time is over, by the node where something must happen first.
    """

    __slots__ = ("_number", "heap", "now", "waiting")

    def __init__(self) -> None:
        self.heap: list[AgendaEntry] = []
        self.now = 0.0
        self.waiting: dict[int, list[AgendaEntry]] = {}
        self._number = 0

    def note(self, time: float, index: int, what: Any, extra: Any = None) -> None:
        """Note what is to come at a node; -1 stands for none."""
        self._number = number = self._number + 1
        heappush(self.heap, (time, number, index, what, extra))

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
            heappush(self.heap, (self.now, number, index, what, extra))

    def all(self) -> Iterator[AgendaEntry]:
        """Yield every entry, in no order."""
        yield from self.heap
        for waiting in self.waiting.values():
            yield from waiting
