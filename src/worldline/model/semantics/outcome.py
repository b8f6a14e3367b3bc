"""The outcome of one event, as every world reports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from worldline.model.drawn import is_drawn, taken
from worldline.model.events import Choices, Event
from worldline.model.gauges import TimedStep
from worldline.model.kinds import Kind
from worldline.model.observers import Sent, Step
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import PendingTimer


@final
@dataclass(frozen=True, slots=True)
class TimerChange:
    """A timer that a handler set or cancelled; `after` is None for a cancellation."""

    timer: PendingTimer
    after: float | None


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an event, beside the new state.

    Attributes
    ----------
    result, failure
        Whether a handler took it, and how the handler failed, if it did.
    sends, timers, log
        What the handler did, in order.
    choices, widths
        The options it took, and how many there were each time.
    """

    result: Result
    failure: Failure | None
    sends: tuple[Sent, ...]
    timers: tuple[TimerChange, ...]
    log: tuple[str, ...]
    choices: Choices
    widths: tuple[int, ...]

    def as_step(self, event: Event) -> Step:
        """Return what an observer sees of it: of a call, the arguments it was made with."""
        handled = self.result is Result.HANDLED
        return Step(as_made(event, self.choices), handled, self.sends, self.choices)

    def as_timed(self, event: Event, time: float, lamport: int | None) -> TimedStep:
        """Return what a gauge sees of it."""
        return TimedStep(
            as_made(event, self.choices),
            handled=self.result is Result.HANDLED,
            sends=lambda: self.sends,
            choices=self.choices,
            time=time,
            lamport=lamport,
        )


def as_made(event: Event, choices: Sequence[int]) -> Event:
    """Return an event; of a call, with the arguments it was made with."""
    if event.kind is Kind.CALL and is_drawn(event.payload):
        arguments = taken(event.payload, choices)
        return Event(event.kind, event.node, name=event.name, payload=arguments)
    return event
