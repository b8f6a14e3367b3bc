"""The journals of all nodes in one order: that of time, but nothing before its cause.

By Lamport times alone the events of a node that hears little come before most of all
others, whenever they happened, and no time that a run or its predicates speak of would be
right. So of the events that can come next, that of the earliest time does; one that
received a message can come next once the event that sent it has come. A clock that is
behind is taken to be as late as what its node hears of, from then on. On one clock that is
the order in which everything happened, and on any clocks an order in which it could have.

A node may begin amid the run, at a checkpoint or start. Earlier sends of it wait for no
other node; and it begins once all has come that it had received by then, so that the
states from which all have begun are consistent cuts. Of what a node received where its
journal has a gap nothing is known: there the clocks alone say when it goes on.

References
----------
L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 1978:
happens-before, of which this is a linear extension; physical clocks that are put forward.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, final

from worldline.model.kinds import Kind
from worldline.runs.recording.beginning import EventName
from worldline.runs.recording.happenings import CHECKPOINT, GAP, Happening

_FIRST = -1.0
"""The time of what comes before everything."""

_BEGINS = frozenset({Kind.START, CHECKPOINT})
_NOTHING: Mapping[int, EventName] = {}


@final
class Merging:
    """The happenings of all nodes, to be iterated over once.

    No more is in memory than one of each node.

    Parameters
    ----------
    lanes
        Those of each node, by index.
    starts_first
        Whether all nodes start before anything else happens.
    knows
        Of each node that begins amid the run the last event of each other one of which it
        had heard by then, by index.

    Attributes
    ----------
    now
        The time of the last one, in seconds since the run began; never less than before.
    """

    def __init__(
        self,
        lanes: Iterable[Iterable[Happening]],
        *,
        starts_first: bool,
        knows: Mapping[int, Mapping[int, EventName]] | None = None,
    ) -> None:
        self._lanes = [iter(lane) for lane in lanes]
        self._starts_first = starts_first
        self._knows = dict(knows or {})
        count = len(self._lanes)
        self._behind = [0.0] * count
        self._come: list[EventName] = [(0, 0)] * count
        """Of each node the incarnation and Lamport time of the event that came last."""
        self._waiting: list[list[tuple[Any, Happening]]] = [[] for _ in range(count)]
        """By the sender: what waits for an event of it."""
        self._heads: list[tuple[float, int, Happening]] = []
        self._is_over = [False] * count
        self._is_open = [True] * count
        """Whether nothing is known of a node, before its next beginning."""
        self.now = 0.0

    def __iter__(self) -> Iterator[Happening]:
        for index in range(len(self._lanes)):
            self._advance(index)
        heads = self._heads
        while heads or self._release():
            time, index, one = heappop(heads)
            if time > self.now:
                self.now = time
            yield one
            if one.kind in _BEGINS:
                self._come[index] = (one.what.incarnation, one.lamport)
                self._is_open[index] = False
            elif not self._is_open[index]:
                self._come[index] = (self._come[index][0], one.lamport)
                self._is_open[index] = one.kind is GAP
            if self._waiting[index]:
                self._wake(index, None if one.kind is CHECKPOINT else time)
            self._advance(index)

    def _advance(self, index: int) -> None:
        """Look at what a node says next."""
        one = next(self._lanes[index], None)
        if one is None:
            self._is_over[index] = True
            self._wake(index, None)
            return
        if self._is_open[index] and one.kind in _BEGINS:
            # Nothing more comes of what it did before it begins there.
            before = one.lamport - (one.kind is Kind.START)
            self._come[index] = (one.what.incarnation, before)
            self._wake(index, None)
        self._offer(one)

    def _offer(self, one: Happening) -> None:
        """Let something come in its turn, or wait for what it knows of."""
        index = one.node
        if one.kind is Kind.DELIVER:
            cause = one.what.incarnation, one.what.lamport
            sender = one.what.sender
            if cause > self._come[sender] and not self._is_over[sender]:
                self._waiting[sender].append((cause, one))
                return
        elif self._knows and one.kind in _BEGINS:
            for sender, cause in self._knows.get(index, _NOTHING).items():
                if cause > self._come[sender] and not self._is_over[sender]:
                    self._waiting[sender].append((cause, one))
                    return
            self._knows.pop(index, None)  # where it begins again, a gap came before
        if self._starts_first and one.kind is Kind.START and one.lamport == 1:
            heappush(self._heads, (_FIRST, index, one))
            return
        heappush(self._heads, (one.time + self._behind[index], index, one))

    def _wake(self, sender: int, event: float | None) -> None:
        """Let come what waited for the last event of a node, or for one it never had.

        Parameters
        ----------
        event
            When that was, by the clock of its node; None for a checkpoint.
        """
        waiting, come, is_over = (
            self._waiting[sender],
            self._come[sender],
            self._is_over[sender],
        )
        left, ready = [], []
        for cause, one in waiting:
            if cause > come and not is_over:
                left.append((cause, one))
                continue
            # Of one that waited until more is known of its sender no clock is to blame,
            # nor of what follows it: that comes late, but it happened early.
            if event is not None and cause == come:
                behind = event - one.time
                if behind > self._behind[one.node]:
                    self._behind[one.node] = behind
            ready.append(one)
        self._waiting[sender] = left
        for one in ready:
            self._offer(one)

    def _release(self) -> bool:
        """Let come what waits in vain, as in journals that do not belong together."""
        held = [one for waiting in self._waiting for _, one in waiting]
        for waiting in self._waiting:
            waiting.clear()
        self._heads += [(one.time, one.node, one) for one in held]
        heapify(self._heads)
        return bool(held)
