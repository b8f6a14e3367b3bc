"""Messages between the nodes of a Chord ring."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.chord.ring import Address


@wl.message
class FindPred:
    """Find the node before `key`, and let it answer `who`.

    Attributes
    ----------
    key
        The key of `who`, which wants to join, or where one of its fingers begins.
    """

    key: int
    who: wl.NodeId


@wl.message
class FindPredReply:
    """I am the node before `key`.

    Attributes
    ----------
    successors
        The nodes that come after the sender; the first is at `key` or behind it.
    """

    key: int
    successors: tuple[Address, ...]


@wl.message
class UpdatePred:
    """I am your predecessor."""


@wl.message
class GetPred:
    """Tell me your predecessor."""


@wl.message
class GetPredReply:
    """I have this predecessor, if any, and these successors."""

    predecessor: Address | None
    successors: tuple[Address, ...]
