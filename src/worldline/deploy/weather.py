"""Weather at a host: what becomes of what its nodes send, before it leaves.

The loss, delay, duplication and cuts that are injected; what the real network does comes
on top. Random numbers are those of `worlds.chance`: each depends on the seed, the
sender, what it is for and how many of that sort the sender has drawn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import final

from worldline.model.data.identity import NodeId
from worldline.worlds.chance import Chance
from worldline.worlds.latency import Latency, LatencyBetween

_LIVES = 2**40
"""Draws that are set aside for each life of a node, so that no two draw the same."""

_AT_ONCE = (0.0,)


@final
class LinkWeather:
    """The injected conditions of all links from the nodes of this host.

    Nodes are given by their index in the system. What a node sends to itself meets no
    weather.

    Parameters
    ----------
    ids
        All nodes of the system.
    seed
        Of the run.
    loss, duplicate
        The share of datagrams that is lost, or arrives twice.
    latency
        Of each message; None for nothing but what the network takes.
    between
        Another latency in its place, which depends on the nodes as well.
    life
        Which life of the sending nodes this is, if they are other processes each time.

    Attributes
    ----------
    lost
        How many datagrams were lost, by the index of the sender.
    """

    def __init__(
        self,
        ids: Sequence[NodeId],
        seed: int,
        *,
        loss: float = 0.0,
        duplicate: float = 0.0,
        latency: Latency | None = None,
        between: LatencyBetween | None = None,
        life: int = 1,
    ) -> None:
        self._ids = tuple(ids)
        self._index = {node: index for index, node in enumerate(self._ids)}
        self._chance = Chance(seed, self._ids)
        self._loss, self._duplicate = loss, duplicate
        self._latency, self._between = latency, between
        self._delay = 1.0
        self._side: frozenset[int] | None = None
        self._counts = array("Q", [_LIVES * life]) * len(self._ids)
        self._changed: list[Callable[[], None]] = []
        self._is_slow = latency is not None or between is not None
        self.lost = [0] * len(self._ids)

    @property
    def loss(self) -> float:
        """The share of datagrams that is lost."""
        return self._loss

    @loss.setter
    def loss(self, share: float) -> None:
        self._loss = share
        self._tell()

    @property
    def delay(self) -> float:
        """By what latencies are multiplied."""
        return self._delay

    @delay.setter
    def delay(self, factor: float) -> None:
        self._delay = factor
        self._tell()

    @property
    def side(self) -> frozenset[NodeId] | None:
        """The nodes that are cut from the others; None if none are."""
        return (
            None if self._side is None else frozenset(self._ids[i] for i in self._side)
        )

    def cut(self, side: frozenset[NodeId]) -> None:
        """Cut nodes from the others."""
        self._side = frozenset(self._index[node] for node in side)
        self._tell()

    def heal(self) -> None:
        """Undo the cut, if there is one."""
        self._side = None
        self._tell()

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have something called whenever conditions have changed."""
        self._changed.append(callback)

    def is_cut(self, src: int, dst: int) -> bool:
        """Say whether a cut is between two nodes."""
        side = self._side
        return side is not None and (src in side) is not (dst in side)

    def copies(self, src: int, dst: int) -> tuple[float, ...]:
        """Return after how many seconds each copy of a datagram leaves; none if it is lost."""
        if src == dst:
            return _AT_ONCE
        if self.is_cut(src, dst):
            self.lost[src] += 1
            return ()
        if not (self._loss or self._duplicate or self._is_slow):
            return _AT_ONCE
        chance, count = self._chance, self._next(src)
        if self._loss > chance.at(Chance.LOSS, src, count):
            self.lost[src] += 1
            return ()
        first = self._delayed(src, dst, Chance.LATENCY, count)
        if self._duplicate > chance.at(Chance.DUPLICATE, src, count):
            return first, self._delayed(src, dst, Chance.COPY, count)
        return (first,)

    def hold(self, src: int, dst: int) -> float | None:
        """Return for how many seconds a stream holds a message back; None while cut.

        Its caller keeps the order.
        """
        if src == dst:
            return 0.0
        if self.is_cut(src, dst):
            return None
        if not self._is_slow:
            return 0.0
        return self._delayed(src, dst, Chance.LATENCY, self._next(src))

    def _next(self, src: int) -> int:
        count = self._counts[src]
        self._counts[src] = count + 1
        return count

    def _delayed(self, src: int, dst: int, kind: int, count: int) -> float:
        if not self._is_slow:
            return 0.0
        drawn = self._chance.at(kind, src, count)
        if self._between is not None:
            return self._between(self._ids[src], self._ids[dst], drawn) * self._delay
        assert self._latency is not None
        return self._latency(drawn) * self._delay

    def _tell(self) -> None:
        for callback in self._changed:
            callback()
