"""What the nodes of a Pastry ring say to each other."""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.zoo.pastry.space import Key


@wl.message
class Join:
    """Send `who` the rows from `start_row` on, and your leafset if it is your neighbour."""

    who: wl.NodeId
    start_row: int


@wl.message
class RowInfo:
    """A row of my table, for a node that joins."""

    row: int
    nodes: tuple[wl.NodeId, ...]


@wl.message
class RowRequest:
    """Tell me a row of your table."""

    row: int


@wl.message
class RowInfoReply:
    """A row of my table, for which you have asked."""

    row: int
    nodes: tuple[wl.NodeId, ...]


@wl.message
class LeafsetInfo:
    """My leafset."""

    leaves: tuple[wl.NodeId, ...]


@wl.message
class LeafsetInfoRequest:
    """Tell me your leafset."""


@wl.message
class LeafsetInfoReply:
    """My leafset, for which you have asked, or which you do not know."""

    leaves: tuple[wl.NodeId, ...]


@wl.message
class InformRequest:
    """Say whether you are in the ring, as I am if I have `joined`."""

    joined: bool


@wl.message
class Inform:
    """I am in the ring."""


@wl.message
class Probe:
    """Say whether you are there."""


@wl.message
class ProbeReply:
    """I am here."""


@wl.message
class Repair:
    """Tell me a node for a cell of my table, in which there is nobody left.

    Attributes
    ----------
    row, column
        Where the cell is.
    asked
        The row of the sender's table in which the receiver is.
    """

    row: int
    column: int
    asked: int


@wl.message
class Match:
    """Take this node for the cell."""

    node: wl.NodeId


@wl.message
class NoMatch:
    """I know nobody for the cell of this `Repair`."""

    row: int
    column: int
    asked: int


@wl.message
class Remove:
    """I am not in the ring: forget me."""


@wl.message
class Routed:
    """A message of the application, on its way to the node that owns a key."""

    key: Key
    origin: wl.NodeId
    body: Any
