"""Columns whose values are collections of items: bags, sets, queues, or links.

What is put in and taken out needs no user code. So a kernel may work it out by itself,
from pairs ``(item, k)``: with its count in a bag, with 1 in a set, with its position
from 1 on in the queue of its sender. Of links there is at most one with each peer, with
1; each changes for itself, so there are few more changes than there are links.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.engine.interner import GOLDEN, MASK, splitmix

Pair: TypeAlias = tuple[Any, int]


class Shape(enum.IntEnum):
    """The kind of a collection; the kernel knows these numbers."""

    BAG = 0
    SET = 1
    QUEUES = 2
    LINKS = 3


ACTIONS = {"put": 1, "take": 2, "copy": 3}
"""Operations ``(name, item)`` that a kernel knows, with its numbers for them."""


AT_PEER, AT_ALL = 4, 5
"""A kernel's numbers for what changes one link, or each link for itself."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Linkage:
    """A collection of links, beside what others are, too.

    Attributes
    ----------
    kind
        The canonical bytes of the class of its frozen values, which are followed by
        those of the links.
    encoded
        The canonical bytes of a link.
    messages
        How many messages are under way on a link.
    aspect
        What own events of its node depend on of a link; None if nothing.
    concerned
        The number of the peer whose link an operation changes; None if each.
    """

    kind: bytes
    encoded: Callable[[Any], bytes]
    messages: Callable[[Any], int]
    aspect: Callable[[Any], Hashable]
    concerned: Callable[[Any], int | None]


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
        queue in its order, and links in order of peers.
    fingerprint
        An item's 64-bit content hash.
    sender
        The number of the queue an item goes to, or of a link's peer; -1 of the one that swallows all others
        and gives nothing: it stands alone in a column of which nothing is known.
    order
        A key that sorts items canonically.
    links
        If it is one of links, what else is known of it.
    """

    shape: Shape
    split: Callable[[Any], list[Pair]]
    join: Callable[[list[Pair]], Any]
    fingerprint: Callable[[Any], int]
    sender: Callable[[Any], int]
    order: Callable[[Any], Any]
    links: Linkage | None = None

    def content(self, value: Any) -> int:
        """Return a value's 64-bit content hash, made of those of its items."""
        if self.links is not None:
            return self.fingerprint(value)
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
