"""The neighbourhood of a node: whose states it wants to know."""

from __future__ import annotations

from typing import Any, final

from worldline.model.checkpointing import checkpointing, neighbours_of
from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.options import MEMORY_S
from worldline.steer.snapshots.setting import Setting
from worldline.steer.watched import fields_read_by
from worldline.worlds.companions import Beside

_FIRST, _ONE_IN = 4, 64
"""The method that names neighbours is watched the first times, and one in so many: to see
that it has not changed its node takes far longer than the method."""


def hops_of(system: System, index: int) -> int:
    """Return how far away those are that a node asks: 1 or 2."""
    return checkpointing(system.types[index]).hops


@final
class Neighbourhood:
    """The neighbours of one node, from one of its lives to the next.

    Without a word of the class, they are those with whom the node has a connection, or
    where the network has none, has exchanged messages lately. So they are once a method
    that says them has failed, if nodes go on then.

    Attributes
    ----------
    is_told
        Whether it is told to `forget` when something has changed that says who they are.
    """

    def __init__(self, setting: Setting, index: int, channels: Channels) -> None:
        self._setting, self._system = setting, setting.system
        self._index, self._channels = index, channels
        self._asks_class = True
        self._known: tuple[int, ...] | None = None
        self._times = 0
        self.is_told = False

    def news(self) -> frozenset[str] | None:
        """Return the fields that call for a snapshot if they change; None for any."""
        kind = self._system.types[self._index]
        said, fields = checkpointing(kind).neighbours, self._setting.options.fields
        near = (
            frozenset[str]() if said is None else fields_read_by(self._system, said[1])
        )
        if fields is None or near is None or fields & checkpointing(kind).kept_out:
            return None  # what is left out is made from any of the others
        return fields | near

    def forget(self) -> None:
        """Ask anew who they are when somebody wants to know."""
        self._known = None

    def all(self, beside: Beside) -> tuple[int, ...]:
        """Return the indices of all neighbours, those first that matter most.

        Raises
        ------
        ModelError
            If the method that says them does not, and nodes do not go on.
        """
        if self._known is not None:
            return self._known
        said = self._said(beside.node) if self._asks_class else None
        if said is None:
            return self._peers(beside)
        if self.is_told:
            self._known = said
        return said

    def asked(self, beside: Beside) -> tuple[int, ...]:
        """Return the indices of those that are asked: so many, and not the node itself.

        Raises
        ------
        ModelError
            As `all` does.
        """
        near = self.all(beside)[: self._setting.options.most_neighbours]
        return tuple(peer for peer in near if peer != self._index)

    def _said(self, node: Any) -> tuple[int, ...] | None:
        self._times += 1
        is_watched = self._times < _FIRST or not self._times % _ONE_IN
        try:
            return neighbours_of(self._system, self._index, node, careful=is_watched)
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
