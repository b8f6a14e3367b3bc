"""The circle of keys on which the nodes stand.

A node is called after its key, which is the hash of its address: ``n13`` stands at 13.
Distances are measured in the direction in which keys grow, so that of two keys one
may be a short way before the other and a long way behind it.
"""

from __future__ import annotations

from typing import TypeAlias

import worldline as wl

Address: TypeAlias = wl.NodeId | int
"""Where messages go. An int is a hash that was put in an address's place: nobody's."""

_SPREAD = (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03)
"""Odd, so that to multiply by them puts keys into another order."""


def nodes(size: int, bits: int) -> tuple[wl.NodeId, ...]:
    """Return `size` nodes at different keys, which look as if drawn at random."""
    return wl.ids(*[f"n{_hash(number, bits)}" for number in range(size)])


def _hash(number: int, bits: int) -> int:
    """Return the key of a node by its number: a permutation of all keys."""
    key = number
    for factor in _SPREAD:
        key = key * factor % (1 << bits)
        key ^= key >> (bits + 1) // 2
    return key


def key_of(address: Address) -> int:
    """Return where an address stands."""
    return address if isinstance(address, int) else int(address.name[1:])


def distance(start: int, end: int, bits: int) -> int:
    """Return how far it is from one key on to another; 0 if they are the same."""
    return (end - start) % (1 << bits)


def is_between(key: int, start: int, end: int, bits: int) -> bool:
    """Say whether a key lies behind `start` and before `end`.

    From a key to itself is once around: all other keys are between.
    """
    around = distance(start, end, bits) or 1 << bits
    return 0 < distance(start, key, bits) < around


def is_owned(key: int, start: int, end: int, bits: int) -> bool:
    """Say whether `end` is the first at or after a key, if `start` comes before it."""
    return key == end or is_between(key, start, end, bits)
