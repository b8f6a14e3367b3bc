"""Interning: each distinct value gets a small integer and a 64-bit content hash."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, final

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
"""An odd number without pattern: 2**64 divided by the golden ratio."""


@final
class Interner:
    """A one-to-one map between hashable values and the integers from 0.

    Parameters
    ----------
    fingerprint
        Returns a value's 64-bit content hash, the same in every process; None where
        nobody asks for contributions to fingerprints.
    columns
        The numbers of the columns whose values live here.

    Attributes
    ----------
    values, numbers
        The value of each integer, and the integer of each value.
    mixes
        For each column, each integer's contribution to a state's fingerprint, worked out
        when it is asked for: of nodes that are alike, few values stand in all columns.
    clock, births
        The depth at which the search is, and at which each value was first met.
    """

    __slots__ = (
        "_contents",
        "_fingerprint",
        "births",
        "clock",
        "mixes",
        "numbers",
        "values",
    )

    def __init__(
        self, fingerprint: Callable[[Any], int] | None, columns: tuple[int, ...]
    ) -> None:
        self._fingerprint = fingerprint
        self.numbers: dict[Hashable, int] = {}
        self.values: list[Any] = []
        self.births: list[int] = []
        self.clock = 1
        self._contents: list[int] = []
        self.mixes = {column: Mixes(self._contents, column) for column in columns}

    def __len__(self) -> int:
        return len(self.values)

    def intern(self, value: Hashable) -> int:
        """Return the integer of a value, a new one at first sight."""
        number = len(self.values)
        present = self.numbers.setdefault(value, number)
        if present != number:
            return present
        self.values.append(value)
        self.births.append(self.clock)
        if self._fingerprint is not None:
            self._contents.append(self._fingerprint(value))
        return number


@final
class Mixes(dict[int, int]):
    """The contributions of the values in one column, by their integers.

    Parameters
    ----------
    contents
        The content hash of each value.
    """

    __slots__ = ("_column", "_contents")

    def __init__(self, contents: list[int], column: int) -> None:
        self._contents, self._column = contents, column

    def __missing__(self, number: int) -> int:
        mix = self[number] = mixed(self._contents[number], self._column)
        return mix


def mixed(content: int, column: int) -> int:
    """Return what a value contributes to a fingerprint when it stands in a column.

    Contributions are combined with exclusive or, so that a change of one column
    updates a fingerprint by two.
    """
    return splitmix((content + (column + 1) * GOLDEN) & MASK)


def splitmix(word: int) -> int:
    """Return a 64-bit word scrambled by the finaliser of splitmix64."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)
