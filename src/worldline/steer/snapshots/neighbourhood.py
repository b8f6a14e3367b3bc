"""The neighbourhood of a node: whose states it wants to know."""

from __future__ import annotations

from typing import Any, final

from worldline.model.checkpointing import checkpointing, neighbours_of
from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.options import MEMORY_S
from worldline.steer.snapshots.post import Setting
from worldline.worlds.companions import Beside


def hops_of(system: System, index: int) -> int:
    """Return how far away those are that a node asks: 1 or 2."""
    return checkpointing(system.types[index]).hops


@final
class Neighbourhood:
    """The neighbours of one node, from one of its lives to the next.

    Without a word of the class, they are those with whom the node has a connection, or
    where the network has none, has exchanged messages lately. So they are once a method
    that says them has failed, if nodes go on then.
    """

    def __init__(self, setting: Setting, index: int, channels: Channels) -> None:
        self._setting, self._system = setting, setting.system
        self._index, self._channels = index, channels
        self._asks_class = True

    def all(self, beside: Beside) -> tuple[int, ...]:
        """Return the indices of all neighbours, those first that matter most.

        Raises
        ------
        ModelError
            If the method that says them does not, and nodes do not go on.
        """
        said = self._said(beside.node) if self._asks_class else None
        return self._peers(beside) if said is None else said

    def _said(self, node: Any) -> tuple[int, ...] | None:
        try:
            return neighbours_of(self._system, self._index, node)
        except ModelError as error:
            if not self._setting.goes_on:
                raise
            self._asks_class = False
            said = f"{error.what}; its peers are taken for its neighbours"
            self._setting.troubled(said)
            return None

    def _peers(self, beside: Beside) -> tuple[int, ...]:
        ids, before = self._system.ids, beside.now - MEMORY_S
        found = [
            (-channel.last, peer)
            for peer, channel in self._channels.items()
            if peer != self._index
            and (
                beside.life_of(ids[peer]) is not None
                if self._setting.carriers.is_connected
                else channel.last >= before
            )
        ]
        return tuple(peer for _, peer in sorted(found))
