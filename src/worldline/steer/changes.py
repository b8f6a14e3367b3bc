"""Changes of third nodes, of which a message tells that its sender has heard of them.

If b tells a that it has something, and a then tells m, a checkpoint of b that m has from
before says what b is no more, though b has never written to m. So beside a message stands
of whom its sender has heard that they have changed, and after which checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import final

from worldline.steer.unchanged import CHECKPOINT, SINCE

_ANYBODY, _FIRST = 15, 16
"""Beside a message: the number of a checkpoint after which anybody may have changed, and
the first number about a node: with twice its index added, that of its checkpoint after which
it has, and behind it the life in which it has, if not 1."""

_MOST = 32
"""Nodes that a message tells of; of more it says that anybody may have changed. But one in
another life than its first may have other numbers than before, and is named all the same."""

_MOST_AHEAD = 1 << 32
"""By how much a number may be greater than that of the sender: else it is a lie."""


NO_NEWS: Mapping[int, int] = {}
"""What stands beside a message if there is nothing to tell."""


@final
class HeardChanges:
    """What one node has heard of changes of others.

    Attributes
    ----------
    version
        Greater whenever it has heard something new.
    """

    __slots__ = ("_anybody", "_count", "_known", "_me", "_told", "version")

    def __init__(self, me: int, count: int) -> None:
        self._me, self._count = me, count
        self._told: dict[int, tuple[int, int]] = {}
        self._known: dict[int, tuple[tuple[int, int], int]] = {}
        self._anybody = -1
        self.version = 0

    def hear(self, peer: int, life: int, numbers: Mapping[int, int]) -> bool:
        """Take note of the numbers beside a message; say whether third nodes have changed."""
        number, since = numbers.get(CHECKPOINT), numbers.get(SINCE)
        if number is None:
            return False
        self.heard_of(peer, life, number if since is None else since - 1)
        if max(numbers) < _ANYBODY:
            return False
        anybody, most = numbers.get(_ANYBODY, -1), number + _MOST_AHEAD
        is_news = self._anybody < anybody <= most
        if is_news:
            self._anybody = anybody
            self.version += 1
        for index, changed in _told_by(numbers):
            if index >= self._count or changed[1] > most:
                continue
            if index not in (self._me, peer) and changed > self._of(index):
                self._told[index] = changed
                self._note(index, changed)
                is_news = True
        return is_news

    def heard_of(self, peer: int, life: int, number: int) -> bool:
        """Take note that a peer has changed after a checkpoint; say whether that is new."""
        changed = life, max(number, 0)  # of one before, only a liar tells
        known = self._known.get(peer)
        if peer == self._me or (known is not None and changed <= known[0]):
            return False
        self._note(peer, changed)
        return True

    def is_later(self, index: int, life: int, number: int) -> bool:
        """Say whether a third node has changed after a checkpoint, as others have told."""
        return self._of(index) >= (life, number) or self._anybody >= number

    def numbers(self, to: int, after: int = 0) -> Mapping[int, int]:
        """Return what to put beside a message to a node, of what was new after a version."""
        if self.version <= after:
            return NO_NEWS
        new = [
            (index, changed)
            for index, (changed, version) in self._known.items()
            if version > after and index != to
        ]
        anybody = self._anybody
        if len(new) > _MOST:
            of_first = [number for _, (life, number) in new if life == 1]
            anybody = max((anybody, *of_first))
            new = [one for one in new if one[1][0] != 1]
        numbers = {_ANYBODY: anybody} if anybody >= 0 else {}
        for index, (life, number) in new:
            numbers[_FIRST + 2 * index] = number
            if life != 1:
                numbers[_FIRST + 2 * index + 1] = life
        return numbers

    def _of(self, index: int) -> tuple[int, int]:
        return self._told.get(index, _NEVER)

    def _note(self, index: int, changed: tuple[int, int]) -> None:
        known = self._known.get(index)
        if known is None or changed > known[0]:
            self.version += 1
            self._known[index] = changed, self.version


_NEVER = (0, -1)


def _told_by(numbers: Mapping[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the nodes that a message tells of, each with the life and the number."""
    for key, value in numbers.items():
        if key >= _FIRST and not (key - _FIRST) % 2:
            yield (key - _FIRST) // 2, (numbers.get(key + 1, 1), value)
