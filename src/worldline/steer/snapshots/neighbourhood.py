"""The neighbourhood of a node: whose states it wants to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from worldline.model.checkpointing import checkpointing, neighbours_of
from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.options import MEMORY_S
from worldline.worlds.companions import Beside


def hops_of(system: System, index: int) -> int:
    """Return how far away those are that a node asks: 1 or 2."""
    return checkpointing(system.types[index]).hops


@final
class Neighbourhood:
    """The neighbours of one node, from one of its lives to the next.

    Parameters
    ----------
    is_connected
        Whether the network has connections: without a word of the class, those with whom
        the node has one are its neighbours; else those with whom it has exchanged
        messages lately.
    troubled
        Takes, in words, how the method that says them fails; it is asked no more then.
        None to raise that.
    """

    def __init__(
        self,
        system: System,
        index: int,
        channels: Channels,
        *,
        is_connected: bool,
        troubled: Callable[[str], None] | None,
    ) -> None:
        self._system, self._index, self._channels = system, index, channels
        self._is_connected, self._troubled = is_connected, troubled
        self._asks_class = True

    def all(self, beside: Beside) -> tuple[int, ...]:
        """Return the indices of all neighbours, those first that matter most.

        Raises
        ------
        ModelError
            If the method that says them does not, and nobody is told.
        """
        said = self._said(beside.node) if self._asks_class else None
        return self._peers(beside) if said is None else said

    def _said(self, node: Any) -> tuple[int, ...] | None:
        try:
            return neighbours_of(self._system, self._index, node)
        except ModelError as error:
            if self._troubled is None:
                raise
            self._asks_class = False
            self._troubled(f"{error.what}; its peers are taken for its neighbours")
            return None

    def _peers(self, beside: Beside) -> tuple[int, ...]:
        ids, before = self._system.ids, beside.now - MEMORY_S
        found = [
            (-channel.last, peer)
            for peer, channel in self._channels.items()
            if peer != self._index
            and (
                beside.life_of(ids[peer]) is not None
                if self._is_connected
                else channel.last >= before
            )
        ]
        return tuple(peer for _, peer in sorted(found))
