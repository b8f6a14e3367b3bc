"""The door of the handlers of a deployed node: what they ask, the host answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.network import carrier, members_of
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.worlds.collecting import CollectingDoor


@final
class HostDoor(CollectingDoor):
    """Collects what handlers do at one node, in one of its lives.

    Parameters
    ----------
    rng
        Draws what handlers choose.
    is_full
        Says whether the buffer to a node, by its index, is full if so many more messages
        are put into it.

    Attributes
    ----------
    pending
        The timers that are set.
    counter
        The number of the sequence that comes next.
    """

    def __init__(
        self, system: System, rng: random.Random, is_full: Callable[[int, int], bool]
    ) -> None:
        super().__init__()
        self.bounded = system.network.buffer is not None
        self.pending: dict[PendingTimer, Any] = {}
        self.counter = 0
        self._system = system
        self._is_of_several = len(members_of(system.network)) > 1
        self._rng = rng
        self._is_full = is_full
        self._timer_of: dict[tuple[str, str], PendingTimer] = {}

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        if weights is None:
            return self._rng.randrange(count)
        return self._rng.choices(range(count), weights)[0]

    def is_buffered(self, part: str, message: Any) -> bool:
        if not self._is_of_several:
            return True  # as it is asked where there is a buffer
        return carrier(self._system.network, part, type(message)).buffer is not None

    def is_full(self, dst: NodeId, taken: int) -> bool:
        return self._is_full(self._system.index[dst], taken)

    def is_set(self, timer: PendingTimer) -> bool:
        return timer in self.pending

    def first_number(self) -> int:
        return self.counter

    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None:
        if payload is not None:
            self.change(PendingTimer(part, name, payload), after)
            return
        timer = self._timer_of.get((part, name))  # most have none
        if timer is None:
            timer = self._timer_of[part, name] = PendingTimer(part, name, None)
        self.change(timer, after)
