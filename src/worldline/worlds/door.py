"""The door that handlers meet while a system is checked: one meaning for all worlds.

What a handler does becomes operations on columns; what it wants to know becomes a
query. A world says how an operation is applied and where an answer comes from.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze
from worldline.model.message import Envelope
from worldline.model.network import Recorded, carrier
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.transitions import Operation
from worldline.model.system import System
from worldline.worlds.collecting import CollectingDoor

Query: TypeAlias = tuple[Any, ...]
"""``("choose", n, weights)``, ``("full", dst, k)``, ``("sequence",)``, ``("pending",
timer)`` or ``("whole", peer)``: the first is answered freely, the others by the state; the
last is asked by no handler, but for what happens instead (`instead`)."""


class HandlerDoor(CollectingDoor):
    """Turns the calls of a handler into operations and queries.

    Parameters
    ----------
    system
        The system that is run.
    """

    def __init__(self, system: System) -> None:
        super().__init__()
        self.system = system
        self.freeze = freeze
        self._inbox, self._index = system.layout.inbox, system.index
        self.bounded = system.network.buffer is not None
        self._refuses_freely = isinstance(system.network, Recorded)
        self.begin(system.ids[0])

    @property
    def index(self) -> int:
        """The index of the node whose handler runs."""
        return self.system.index[self.me]

    @abstractmethod
    def ask(self, query: Query) -> int:
        """Return the answer to a query; 0 or 1 for a yes-or-no question."""

    @abstractmethod
    def emit(self, column: int, operation: Operation) -> None:
        """Apply an operation to a column, now or later."""

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        return self.ask(("choose", count, weights))

    def is_full(self, dst: NodeId, taken: int) -> bool:
        if self._refuses_freely:
            return self.choose(2, None) == 1
        return bool(self.ask(("full", self.system.index[dst], taken)))

    def is_set(self, timer: PendingTimer) -> bool:
        return bool(self.ask(("pending", timer)))

    def first_number(self) -> int:
        return self.ask(("sequence",))

    def send(self, part: str, dst: NodeId, message: Any) -> bool:
        if not self.bounded:
            self.sends.append((dst, part, message, True))
        elif not super().send(part, dst, message):
            return False
        envelope = Envelope(self.me, part, message, self.freeze(message))
        self.emit(self._inbox(self._index[dst]), ("put", envelope))
        return True

    def is_buffered(self, part: str, message: Any) -> bool:
        return carrier(self.system.network, part, type(message)).buffer is not None

    def change(self, timer: PendingTimer, after: float | None) -> None:
        super().change(timer, after)
        if after is None:
            self._on_hidden(("cancel_timer", timer))
        else:
            delay = float(after) if self.system.timed else 0.0
            self._on_hidden(("set_timer", timer, delay))

    def sequence(self) -> int:
        number = super().sequence()
        self._on_hidden(("count",))
        return number

    def _on_hidden(self, operation: Operation) -> None:
        self.emit(self.system.layout.hidden(self.index), operation)
