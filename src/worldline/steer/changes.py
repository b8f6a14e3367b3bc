"""Changes of third nodes, of which a message tells that its sender has heard of them.

If b tells a that it has something, and a then tells m, a checkpoint of b that m has from
before says what b is no more, though b has never written to m. So beside a message stands
of whom its sender has heard that they have changed, and after which checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import final

from worldline.steer.unchanged import CHECKPOINT, MOST_NUMBER, SINCE

_ANYBODY, _FIRST = 15, 16
"""Beside a message: the number of a checkpoint after which anybody may have changed, and
the first number about a node: with twice its index added, that of its checkpoint after which
it has, and behind it the life in which it has, if not 1."""

_MOST = 32
"""Nodes that a message tells of; of more it says that anybody may have changed. But one in
another life than its first may have other numbers than before, and is named all the same."""

_MOST_AHEAD = 1 << 32
"""By how much a number may be greater than those before: else it is a lie."""


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

    __slots__ = (
        *("_anybody", "_count", "_doubted", "_against", "_known", "_me", "_most"),
        *("_told", "version"),
    )

    def __init__(self, me: int, count: int) -> None:
        self._me, self._count = me, count
        self._told: dict[int, tuple[int, int]] = {}
        self._known: dict[int, tuple[tuple[int, int], int]] = {}
        self._against: dict[int, float] = {}
        """Since when checkpoints of nodes have been of earlier lives than was told."""
        self._doubted: dict[int, int] = {}
        """The lives of nodes, of later ones than which third nodes are not believed."""
        self._anybody = -1
        self._most = 0
        self.version = 0

    @property
    def has_told(self) -> bool:
        """Whether anybody has told of third nodes, or is doubted."""
        return bool(self._told or self._doubted)

    def hear(self, peer: int, life: int, numbers: Mapping[int, int]) -> bool:
        """Take note of the numbers beside a message; say whether third nodes have changed."""
        number, since = numbers.get(CHECKPOINT), numbers.get(SINCE)
        if number is None or number >= MOST_NUMBER:
            return False
        if number > self._most + _MOST_AHEAD:
            self._most += _MOST_AHEAD  # in steps, as nodes catch up
            return False
        self._most = max(self._most, number)
        self.heard_of(peer, life, number if since is None else min(since - 1, number))
        if max(numbers) < _ANYBODY:
            return False
        # Whoever hears of a number catches up with it: a greater one than its sender's is a
        # lie, which nobody's checkpoints would ever be later than.
        anybody = numbers.get(_ANYBODY, -1)
        is_news = self._anybody < anybody <= number
        if is_news:
            self._anybody = anybody
            self.version += 1
        for index, changed in _told_by(numbers):
            if index >= self._count or changed[1] > number:
                continue
            if changed[0] > self._doubted.get(index, changed[0]):
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

    def doubt(
        self, lives: Mapping[int, int], now: float, lasts: float = math.inf
    ) -> None:
        """Believe nobody any more who has told of lives that checkpoints contradict for long.

        What is known of a node is from before its new life for as long as a checkpoint is
        good, and no longer; if it is then still of an earlier life, that life was a lie.

        Parameters
        ----------
        lives
            Of the nodes, by their checkpoints.
        lasts
            Seconds for which a checkpoint is good.
        """
        for index, life in lives.items():
            if life > self._doubted.get(index, life):
                del self._doubted[index]
            told = self._told.get(index, _NEVER)
            if told[0] <= life:
                self._against.pop(index, None)
            elif now - self._against.setdefault(index, now) > lasts:
                self._doubted[index] = life
                del self._told[index], self._against[index]
                if self._known[index][0] == told:
                    del self._known[index]

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
