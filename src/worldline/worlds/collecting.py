"""The door that collects what a handler does; nothing of it happens yet.

It knows the node that runs and what a handler may ask, and neither a system nor how its
state is laid out. So a node that is deployed has it alone; a world that is checked
turns what it collects into operations (`door`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.outcome import Outcome, TimerChange


@final
class Collected(NamedTuple):
    """What a handler did, as it was collected: made an outcome if somebody asks.

    Attributes
    ----------
    me
        The node whose handler it was; None where it may be any.
    """

    me: NodeId | None
    result: Result | Failure
    sends: Sequence[tuple[NodeId, str, Any, bool]]
    timers: Sequence[tuple[PendingTimer, float | None]]
    log: Sequence[str]
    choices: Sequence[int]
    widths: Sequence[int]

    def outcome(self) -> Outcome:
        """Return it as everybody else sees it."""
        me, result, sends, timers, log, choices, widths = self
        if me is None:
            return _QUIET_OUTCOMES[result]  # type: ignore[index]
        failure = result if isinstance(result, Failure) else None
        return Outcome(
            result=Result.FAILED if isinstance(result, Failure) else result,
            failure=failure,
            sends=() if failure else tuple(Sent(me, *s) for s in sends),
            timers=() if failure else tuple(TimerChange(*t) for t in timers),
            log=tuple(log),
            choices=tuple(choices),
            widths=tuple(widths),
        )


_QUIET_OUTCOMES = {
    result: Outcome(result, None, sends=(), timers=(), log=(), choices=(), widths=())
    for result in Result
}
_QUIET = {result: Collected(None, result, (), (), (), (), ()) for result in Result}
"""What most handlers do: nothing but change their node, if that."""

_LONGEST = 10_000
"""Free choices that one handler may make before it counts as a mistake."""


class CollectingDoor(ABC):
    """Collects sends, timers, choices and log lines; says what a handler asks.

    Attributes
    ----------
    me
        The node whose handler runs.
    clock
        What the clocks of all nodes show, in seconds; None in a world without time.
    clock_read
        Whether a handler has looked at it.
    next_number
        The number of the sequence that comes next; None if no handler took one.
    answer
        What the last handler returned that returned anything.
    repeatable
        Whether a handler that is suspected not to return can be run again.
    offered
        Whether the event is known to be enabled, as where a world has looked before.
    bounded
        Whether send buffers may be full.
    sends
        To whom, from which part, what, and whether it was taken; in order.
    timers
        Those that were set, each with its delay, or cancelled with None; in order.
    choices
        The options that were taken, in order.
    written
        The fields of the node that the handler has changed, where somebody has looked.
    """

    repeatable = False
    offered = True
    bounded = False

    def __init__(self) -> None:
        self.clock: float | None = None
        self.clock_read = False
        self.answer: Any = None
        self.written: Collection[str] | None = None
        self.sends: list[tuple[NodeId, str, Any, bool]] = []
        self.timers: list[tuple[PendingTimer, float | None]] = []
        self.choices: list[int] = []
        self._log: list[str] = []
        self._widths: list[int] = []

    def begin(self, me: NodeId) -> None:
        """Prepare for a handler at a node."""
        self.me = me
        self.next_number: int | None = None
        self._pending: dict[PendingTimer, bool] | None = None
        # Somebody may have what the last one did, but nobody keeps a list that is empty.
        if self.sends:
            self.sends = []
        if self.timers:
            self.timers = []
        if self.choices:
            self.choices, self._widths = [], []
        if self._log:
            self._log = []
        if self.bounded:
            self._taken: dict[NodeId, int] = {}

    # ------------------------------------------------- what the state has to answer

    @abstractmethod
    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        """Return which of `count` options is taken."""

    def is_buffered(self, part: str, message: Any) -> bool:
        """Say whether a send buffer takes the messages of this class, of a part."""
        return True

    @abstractmethod
    def is_full(self, dst: NodeId, taken: int) -> bool:
        """Say whether the buffer to a node is full, that took so many messages here."""

    @abstractmethod
    def is_set(self, timer: PendingTimer) -> bool:
        """Say whether a timer was pending when the handler began."""

    @abstractmethod
    def first_number(self) -> int:
        """Return the number of the sequence that came next when the handler began."""

    # --------------------------------------------------------- what the handler does

    def send(self, part: str, dst: NodeId, message: Any) -> bool:
        if self.bounded and self.is_buffered(part, message):
            count = self._taken.get(dst, 0)
            if self.is_full(dst, count):
                self.sends.append((dst, part, message, False))
                return False
            self._taken[dst] = count + 1
        self.sends.append((dst, part, message, True))
        return True

    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None:
        self.change(PendingTimer(part, name, payload), after)

    def cancel_timer(self, part: str, name: str, payload: Any) -> None:
        self.change(PendingTimer(part, name, payload), None)

    def change(self, timer: PendingTimer, after: float | None) -> None:
        """Set a timer, or cancel it where `after` is None."""
        self.timers.append((timer, after))
        if self._pending is not None:
            self._pending[timer] = after is not None

    def is_pending(self, part: str, name: str, payload: Any) -> bool:
        if self._pending is None:  # hardly a handler asks
            self._pending = {timer: after is not None for timer, after in self.timers}
        timer = PendingTimer(part, name, payload)
        pending = self._pending.get(timer)
        if pending is None:
            pending = self._pending[timer] = self.is_set(timer)
        return pending

    def choose(self, count: int, weights: Sequence[float] | None) -> int:
        if weights is not None and len(weights) != count:
            raise ModelError(
                f"ctx.choose has {count} options but {len(weights)} weights",
                remedy="give one weight for each option",
            )
        if len(self.choices) >= _LONGEST:
            raise ModelError(
                f"a handler at {self.me} made {_LONGEST} choices in one event",
                remedy="bound the loop around ctx.choose",
            )
        if count == 1:
            return 0
        taken = self.pick(count, None if weights is None else tuple(weights))
        self.choices.append(taken)
        self._widths.append(count)
        return taken

    def sequence(self) -> int:
        number = self.next_number
        if number is None:
            number = self.first_number()
        self.next_number = number + 1
        return number

    def now(self) -> float:
        if self.clock is None:
            return 0.0
        self.clock_read = True
        return self.clock

    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool:
        if self.clock is None or other is None:
            return self.choose(2, None) == 0
        # Written down as the choice that it is in a world without a clock, where the
        # same run must be possible.
        holds = value < other if less else value > other
        holds = holds or (equal and value == other)
        self.choices.append(int(not holds))
        self._widths.append(2)
        return holds

    def log(self, text: str) -> None:
        self._log.append(text)

    # ------------------------------------------------------------- what has been done

    def done(self) -> tuple[int, int, int]:
        """Return how many sends, timers and log lines there have been since `begin`."""
        return len(self.sends), len(self.timers), len(self._log)

    def outcome(self, result: Result | Failure) -> Outcome:
        """Return what the handler did since `begin`."""
        return self.collected(result).outcome()

    def collected(self, result: Result | Failure) -> Collected:
        """Return the same as it stands; the next handler begins another."""
        if type(result) is Result and not (
            self.sends or self.timers or self._log or self.choices
        ):
            return _QUIET[result]
        return Collected(
            self.me,
            result,
            self.sends or (),
            self.timers or (),
            self._log or (),
            self.choices or (),
            self._widths or (),
        )
