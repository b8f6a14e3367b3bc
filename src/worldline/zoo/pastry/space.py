"""The circle of keys, which is also a tree of digits.

A node stands at the SHA-1 hash of its address, which is its name and a port. How near two keys are is said in two ways:
by the way between them around the circle, and by the digits with which both begin.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl

Key: TypeAlias = int
"""Where something stands, from 0 to 2^bits - 1."""

Cell: TypeAlias = tuple[int, int]
"""A row and a column of a routing table."""

HASH_BITS, PORT = 160, 3000


@functools.cache
def _hash(name: str) -> int:
    address = f"{name}:{PORT}".encode()
    return int.from_bytes(hashlib.sha1(address, usedforsecurity=False).digest())


@dataclass(frozen=True)
class Space:
    """All keys.

    Attributes
    ----------
    bits, digit
        How many bits a key has, and each of its digits.
    places
        If not 0, nodes stand so far apart that there would be places for so many.
    """

    bits: int = HASH_BITS
    digit: int = 4
    places: int = 0

    @property
    def rows(self) -> int:
        """How many digits a key has, which is how many rows a table has."""
        return self.bits // self.digit

    def key(self, node: wl.NodeId) -> Key:
        """Return where a node stands."""
        if self.places:
            return (int(node.name[1:]) << self.bits) // self.places
        return _hash(node.name) >> (HASH_BITS - self.bits)

    def onward(self, start: Key, end: Key) -> int:
        """Return how far it is from one key on to another, as keys grow."""
        return (end - start) % (1 << self.bits)

    def gap(self, one: Key, other: Key) -> int:
        """Return how far two keys are apart, the shorter way around."""
        return min(self.onward(one, other), self.onward(other, one))

    def is_at_most(self, one: int, other: int, *, overflows: bool = False) -> bool:
        """Say whether a distance is at most another.

        Parameters
        ----------
        overflows
            Take a distance of more than half the circle for one that is below zero
            and has overflowed. Distances are not: this is the bug of ``pastry-3``.
        """
        if overflows:
            half, whole = 1 << (self.bits - 1), 1 << self.bits
            one, other = (d - whole if d > half else d for d in (one, other))
        return one <= other

    def shared(self, one: Key, other: Key) -> int:
        """Return with how many digits both keys begin."""
        different = (one ^ other).bit_length()
        return (self.bits - different) // self.digit

    def cell(self, key: Key, other: Key) -> Cell:
        """Return where `other` stands in the table of who stands at `key`.

        In row r are those that share r digits with it, in column c those whose next
        digit is c.
        """
        row = self.shared(key, other)
        shift = self.bits - (row + 1) * self.digit
        return row, other >> shift & ((1 << self.digit) - 1)

    def nearest(self, key: Key, nodes: Iterable[wl.NodeId]) -> wl.NodeId | None:
        """Return the node nearest to a key; None if there are no nodes."""
        return min(
            nodes,
            key=lambda node: (self.gap(key, self.key(node)), self.key(node)),
            default=None,
        )


def nodes(size: int, space: Space) -> tuple[wl.NodeId, ...]:
    """Return nodes at different keys: n0, n1 and so on, without those that meet one."""
    found: dict[Key, wl.NodeId] = {}
    for number in itertools.count():
        (node,) = wl.ids(f"n{number}")
        found.setdefault(space.key(node), node)
        if len(found) == size:
            return wl.ids(*[node.name for node in found.values()])
    raise AssertionError("unreachable")
