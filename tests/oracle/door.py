"""What a handler meets in the oracle: every wish is granted on the spot."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.oracle.networks import Parcel
from tests.oracle.state import State

import worldline as wl
from worldline.model.data.values import freeze
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.outcome import Outcome, TimerChange


class OracleDoor:
    """Changes a state in place, and notes what it did.

    Choices are taken from those given; beyond them they are drawn, or the first option
    where there is nothing to draw with.
    """

    repeatable = False
    offered = False
    answer: Any = None

    def __init__(
        self,
        system: wl.System,
        state: State,
        index: int,
        given: Sequence[int],
        rng: random.Random | None = None,
    ) -> None:
        self.system, self.state = system, state
        self.me, self.node = system.ids[index], state.nodes[index]
        self.given = list(given)
        self.rng = rng
        self.sends: list[Sent] = []
        self.timers: list[TimerChange] = []
        self.lines: list[str] = []
        self.choices: list[int] = []
        self.widths: list[int] = []

    def send(self, part: str, dst: wl.NodeId, message: Any) -> bool:
        parcel = Parcel(self.me, dst, part, message)
        taken = not self.state.wire.is_full(parcel)
        if taken:
            self.state.wire.send(parcel)
        self.sends.append(Sent(self.me, dst, part, message, taken))
        return taken

    def set_timer(self, part: str, name: str, payload: Any, after: float) -> None:
        key = (part, name, freeze(payload))
        self.node.timers.pop(key, None)
        self.node.timers[key] = (payload, float(after))
        self.timers.append(TimerChange(PendingTimer(part, name, payload), after))

    def cancel_timer(self, part: str, name: str, payload: Any) -> None:
        self.node.timers.pop((part, name, freeze(payload)), None)
        self.timers.append(TimerChange(PendingTimer(part, name, payload), None))

    def is_pending(self, part: str, name: str, payload: Any) -> bool:
        return (part, name, freeze(payload)) in self.node.timers

    def choose(self, count: int, weights: Sequence[float] | None) -> int:
        if count == 1:
            return 0
        if len(self.choices) < len(self.given):
            taken = self.given[len(self.choices)]
        else:
            taken = self.rng.randrange(count) if self.rng else 0
        assert taken in range(count)
        self.choices.append(taken)
        self.widths.append(count)
        return taken

    def sequence(self) -> int:
        self.node.counter += 1
        return self.node.counter - 1

    def now(self) -> float:
        return 0.0

    def compare(
        self, value: float, other: float | None, *, less: bool, equal: bool
    ) -> bool:
        return self.choose(2, None) == 0

    def log(self, text: str) -> None:
        self.lines.append(text)

    def outcome(self, result: Result | Failure) -> Outcome:
        failed = isinstance(result, Failure)
        return Outcome(
            result=Result.FAILED if isinstance(result, Failure) else result,
            failure=result if isinstance(result, Failure) else None,
            sends=() if failed else tuple(self.sends),
            timers=() if failed else tuple(self.timers),
            log=tuple(self.lines),
            choices=tuple(self.choices),
            widths=tuple(self.widths),
        )


def next_choices(outcome: Outcome) -> tuple[int, ...] | None:
    """The odometer's next reading after a run; None after the last."""
    taken = list(outcome.choices)
    while taken:
        last = taken.pop()
        if last + 1 < outcome.widths[len(taken)]:
            return (*taken, last + 1)
    return None
