"""A node of a RandTree that stands on MaceTransport, instead of streams."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.macetransport.protocol import MaceTransport
from worldline.zoo.randtree.protocol import RandTree


@wl.node
class StackedRandTree(RandTree):
    """A RandTree as it is, whose messages go through a part, which tells it of errors."""

    # A part has a default, which type checkers cannot see.
    transport: MaceTransport = wl.part()  # type: ignore[misc]
