"""Weather at a host: what becomes of what its nodes send, before it leaves.

The loss, delay, duplication and cuts that are injected; what the real network does comes
on top. Random numbers are those of `worlds.chance`: each depends on the seed, the
sender, what it is for and how many of that sort the sender has drawn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from worldline.model.amounts import refuse_other_than_amount
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.worlds.chance import Chance
from worldline.worlds.latency import Latency, LatencyBetween

_LIVES = 2**40
"""Draws that are set aside for each life of a node, so that no two draw the same."""

_AT_ONCE = (0.0,)

_MOST_DELAY = 1e9


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConditions:
    """The conditions of links that change in the course of a run.

    Attributes
    ----------
    loss
        The share of datagrams that is lost.
    delay
        By what latencies are multiplied.
    side
        The nodes that are cut from all others; None if none are.

    Raises
    ------
    UsageError
        If the loss is no share, or the delay no number from 0 on.
    """

    loss: float = 0.0
    delay: float = 1.0
    side: frozenset[NodeId] | None = None

    def __post_init__(self) -> None:
        refuse_other_than_amount(1.0, loss=self.loss)
        refuse_other_than_amount(_MOST_DELAY, delay=self.delay)


_CALM = LinkConditions()


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
    conditions
        Those at the beginning.
    duplicate
        The share of datagrams that arrives twice.
    latency
        Of each message; None for nothing but what the network takes.
    between
        Another latency in its place, which depends on the nodes as well.

    Raises
    ------
    UsageError
        If `duplicate` is no share; so is it where conditions are set that cut a node which
        the system does not have.
    """

    def __init__(
        self,
        ids: Sequence[NodeId],
        seed: int,
        *,
        conditions: LinkConditions = _CALM,
        duplicate: float = 0.0,
        latency: Latency | None = None,
        between: LatencyBetween | None = None,
    ) -> None:
        refuse_other_than_amount(1.0, duplicate=duplicate)
        self._ids = tuple(ids)
        self._index = {node: index for index, node in enumerate(self._ids)}
        self._chance = Chance(seed, self._ids)
        self._duplicate = duplicate
        self._latency, self._between = latency, between
        self._counts = array("Q", bytes(8 * len(self._ids)))
        self._changed: list[Callable[[], None]] = []
        self._is_slow = latency is not None or between is not None
        self.conditions = conditions

    @property
    def conditions(self) -> LinkConditions:
        """Those of now."""
        return self._conditions

    @conditions.setter
    def conditions(self, now: LinkConditions) -> None:
        for node in now.side or ():
            if node not in self._index:
                raise UsageError(
                    f"{node} cannot be cut from others: it is no node of theirs",
                    remedy=f"the nodes are {', '.join(map(str, self._ids[:10]))}",
                )
        self._conditions = now
        self._loss, self._delay = now.loss, now.delay
        side = now.side
        self._side = None if side is None else frozenset(self._index[n] for n in side)
        for callback in self._changed:
            callback()

    def begin_life(self, src: int, life: int) -> None:
        """Let a node draw what it drew in no other life, be that of another process."""
        self._counts[src] = max(self._counts[src], _LIVES * life)

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
            return ()
        if not (self._loss or self._duplicate or self._is_slow):
            return _AT_ONCE
        chance, count = self._chance, self._next(src)
        if self._loss > chance.at(Chance.LOSS, src, count):
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
