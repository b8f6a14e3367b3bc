"""Columns whose values are collections of items: bags, sets, or one queue per sender.

What is put in and taken out needs no user code. So a kernel may work it out by itself,
from pairs ``(item, k)``: with its count in a bag, with 1 in a set, with its position
from 1 on in the queue of its sender.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.engine.interner import GOLDEN, MASK, splitmix

Pair: TypeAlias = tuple[Any, int]


class Shape(enum.IntEnum):
    """The kind of a collection; the kernel knows these numbers."""

    BAG = 0
    SET = 1
    QUEUES = 2


ACTIONS = {"put": 1, "take": 2, "copy": 3}
"""Operations ``(name, item)`` that a kernel knows, with its numbers for them."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """A column whose values are made of items, and how they are.

    Attributes
    ----------
    shape
        What they are.
    split, join
        From a value to its pairs, and back; pairs come in any order, but those of a
        queue in its order.
    fingerprint
        An item's 64-bit content hash.
    sender
        The number of the queue an item goes to; -1 of the one that swallows all others
        and gives nothing: it stands alone in a column of which nothing is known.
    order
        A key that sorts items canonically.
    """

    shape: Shape
    split: Callable[[Any], list[Pair]]
    join: Callable[[list[Pair]], Any]
    fingerprint: Callable[[Any], int]
    sender: Callable[[Any], int]
    order: Callable[[Any], Any]

    def content(self, value: Any) -> int:
        """Return a value's 64-bit content hash, made of those of its items."""
        pairs = self.split(value)
        return content(self.shape, [(self.fingerprint(item), k) for item, k in pairs])


def content(shape: Shape, pairs: Iterable[tuple[int, int]]) -> int:
    """Return the content hash of a collection from the hashes of its items.

    It is a sum, so that pairs may come in any order.
    """
    total = int(shape) + 1
    for item, k in pairs:
        total += splitmix((item + k * GOLDEN) & MASK)
    return splitmix(total & MASK)
