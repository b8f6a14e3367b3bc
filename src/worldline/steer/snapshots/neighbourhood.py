"""The neighbourhood of a node: whose states it wants to know."""

from __future__ import annotations

from typing import Any

from worldline.model.checkpointing import checkpointing, neighbours_of
from worldline.model.system import System
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.options import MEMORY_S
from worldline.steer.watched import fields_read_by
from worldline.worlds.companions import Beside


def hops_of(system: System, index: int) -> int:
    """Return how far away those are that a node asks: 1 or 2."""
    return checkpointing(system.types[index]).hops


def says_neighbours(system: System, index: int) -> bool:
    """Say whether the class of a node says who its neighbours are, by its fields."""
    return checkpointing(system.types[index]).neighbours is not None


def fields_of(system: System, index: int) -> frozenset[str] | None:
    """Return the fields, by name, that say who the neighbours are; None for any of them."""
    said = checkpointing(system.types[index]).neighbours
    return frozenset() if said is None else fields_read_by(system, said[1])


def neighbourhood(
    system: System,
    index: int,
    beside: Beside,
    channels: Channels,
    *,
    is_connected: bool,
    careful: bool,
) -> tuple[int, ...]:
    """Return the indices of all neighbours of a node, those first that matter most.

    Parameters
    ----------
    is_connected
        Whether the network has connections: without a word of the class, those with whom
        the node has one are its neighbours; else those with whom it has exchanged
        messages lately.
    careful
        See `neighbours_of`.

    Raises
    ------
    ModelError
        If the method that says them does not.
    """
    node: Any = beside.node
    said = neighbours_of(system, index, node, careful=careful)
    if said is None:
        before = beside.now - MEMORY_S
        found = [
            (-channel.last, peer)
            for peer, channel in channels.items()
            if peer != index
            and (
                beside.life_of(system.ids[peer]) is not None
                if is_connected
                else channel.last >= before
            )
        ]
        said = tuple(peer for _, peer in sorted(found))
    return said
