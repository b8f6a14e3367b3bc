"""A sample of the rows that a search meets, chosen by content alone."""

from __future__ import annotations

from heapq import heappush, heapreplace
from typing import final

from worldline.engine.interner import MASK
from worldline.engine.tables import Row

_SCRAMBLE = 0xD6E8FEB86659FD93


@final
class Sample:
    """Some of the rows that a search expands, chosen by content alone.

    Parameters
    ----------
    size
        How many are kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: list[tuple[int, Row]] = []

    def add(self, fingerprint: int, row: Row) -> None:
        """Keep a row if few others come before it in an order like a random one."""
        # Negated, so that the heap's first is the last in that order.
        key = -((fingerprint * _SCRAMBLE & MASK) ^ (fingerprint >> 32))
        if len(self._kept) < self._size:
            heappush(self._kept, (key, row))
        elif key > self._kept[0][0]:
            heapreplace(self._kept, (key, row))

    def rows(self) -> list[Row]:
        """Return the rows kept, in an order that depends on content alone."""
        return [row for _, row in sorted(self._kept, reverse=True)]
