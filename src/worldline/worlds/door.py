"""The door that handlers meet while a system is checked: one meaning for all worlds.

What a handler does becomes operations on columns; what it wants to know becomes a
query. A world says how an operation is applied and where an answer comes from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

from worldline.model.data.identity import NodeId
from worldline.model.data.time import EPOCH, Time
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.message import Envelope
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.outcome import Outcome, TimerChange
from worldline.model.semantics.transitions import Operation
from worldline.model.system import System

Query: TypeAlias = tuple[Any, ...]
"""``("choose", n, weights)``, ``("full", dst, k)``, ``("sequence",)`` or
``("pending", timer)``: the first is answered freely, the others by the state."""

_QUIET = {
    result: Outcome(result, None, sends=(), timers=(), log=(), choices=(), widths=())
    for result in Result
}
"""What most handlers do: nothing but change their node, if that."""

_LONGEST = 10_000
"""Free choices that one handler may make before it counts as a mistake."""


class HandlerDoor(ABC):
    """Turns the calls of a handler into operations and queries.

    Parameters
    ----------
    system
        The system that is run.

    Attributes
    ----------
    clock
        What the clocks of all nodes show, in seconds; None in a world without time.
    clock_read
        Whether a handler has looked at it.
    repeatable
        Whether a handler that is suspected not to return can be run again.
    offered
        Whether the event is known to be enabled, as where a world has looked before.
    """

    repeatable = False
    offered = True

    def __init__(self, system: System) -> None:
        self.system = system
        self.freeze = freeze
        self.clock: float | None = None
        self.clock_read = False
        self.begin(0)

    def begin(self, index: int) -> None:
        """Prepare for a handler at the node of this index."""
        self.index = index
        self.me = self.system.ids[index]
        self._sends: list[tuple[NodeId, str, Any, bool]] = []
        self._timers: list[TimerChange] = []
        self._log: list[str] = []
        self._choices: list[int] = []
        self._widths: list[int] = []
        self._pending: dict[PendingTimer, bool] = {}
        self._taken: dict[int, int] = {}
        self._next_number: int | None = None

    @abstractmethod
    def ask(self, query: Query) -> int:
        """Return the answer to a query; 0 or 1 for a yes-or-no question."""

    @abstractmethod
    def emit(self, column: int, operation: Operation) -> None:
        """Apply an operation to a column, now or later."""

    def outcome(self, result: Result | Failure) -> Outcome:
        """Return what the handler did since `begin`."""
        if type(result) is Result and not (
            self._sends or self._timers or self._log or self._choices
        ):
            return _QUIET[result]
        failure = result if isinstance(result, Failure) else None
        return Outcome(
            result=Result.FAILED if isinstance(result, Failure) else result,
            failure=failure,
            sends=() if failure else tuple(Sent(self.me, *s) for s in self._sends),
            timers=tuple(self._timers) if failure is None else (),
            log=tuple(self._log),
            choices=tuple(self._choices),
            widths=tuple(self._widths),
        )

    def send(self, part: str, dst: NodeId, message: Any) -> bool:
        index = self.system.index[dst]
        if self.system.network.buffer is not None:
            count = self._taken.get(index, 0)
            if self.ask(("full", index, count)):
                self._sends.append((dst, part, message, False))
                return False
            self._taken[index] = count + 1
        envelope = Envelope(self.me, part, message, self.freeze(message))
        self._sends.append((dst, part, message, True))
        self.emit(self.system.layout.inbox(index), ("put", envelope))
        return True

    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None:
        timer = PendingTimer(part, name, payload)
        self._pending[timer] = True
        self._timers.append(TimerChange(timer, after))
        delay = float(after) if self.system.timed else 0.0
        self._on_hidden(("set_timer", timer, delay))

    def cancel_timer(self, part: str, name: str, payload: Any) -> None:
        timer = PendingTimer(part, name, payload)
        self._pending[timer] = False
        self._timers.append(TimerChange(timer, None))
        self._on_hidden(("cancel_timer", timer))

    def is_pending(self, part: str, name: str, payload: Any) -> bool:
        timer = PendingTimer(part, name, payload)
        known = self._pending.get(timer)
        if known is None:
            known = self._pending[timer] = bool(self.ask(("pending", timer)))
        return known

    def choose(self, count: int, weights: Sequence[float] | None) -> int:
        if weights is not None and len(weights) != count:
            raise ModelError(
                f"ctx.choose has {count} options but {len(weights)} weights",
                remedy="give one weight for each option",
            )
        if len(self._choices) >= _LONGEST:
            raise ModelError(
                f"a handler at {self.me} made {_LONGEST} choices in one event",
                remedy="bound the loop around ctx.choose",
            )
        if count == 1:
            return 0
        taken = self.ask(("choose", count, None if weights is None else tuple(weights)))
        self._choices.append(taken)
        self._widths.append(count)
        return taken

    def sequence(self) -> int:
        if self._next_number is None:
            self._next_number = self.ask(("sequence",))
        number = self._next_number
        self._next_number += 1
        self._on_hidden(("count",))
        return number

    def now(self) -> Time:
        if self.clock is None:
            return EPOCH
        self.clock_read = True
        return Time(self.clock)

    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool:
        if self.clock is None or other is None:
            return self.choose(2, None) == 0
        # Written down as the choice that it is in a world without a clock, where the
        # same run must be possible.
        holds = value < other if less else value > other
        holds = holds or (equal and value == other)
        self._choices.append(int(not holds))
        self._widths.append(2)
        return holds

    def log(self, text: str) -> None:
        self._log.append(text)

    def _on_hidden(self, operation: Operation) -> None:
        self.emit(self.system.layout.hidden(self.index), operation)
