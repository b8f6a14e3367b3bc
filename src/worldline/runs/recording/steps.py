"""The steps of a recorded run, and who is told of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from worldline.model.events import Event
from worldline.model.semantics.execute import Failure, Result


class RunStep(NamedTuple):
    """A step of the run: an event of the journals, or one that the network needs.

    Attributes
    ----------
    number
        Counted from 1; those before state 0 end at 0.
    event, choices
        What happened, and the options that its handler took.
    time, lamport
        Seconds since the run began, never less than before; and the Lamport time.
    result
        What became of it.
    answers
        What its sends were told; see `RecordedDoor`.
    steer
        Why it happens in the place of a message that was refused; None if it does not.
    """

    number: int
    event: Event
    choices: tuple[int, ...]
    time: float
    lamport: int
    result: Result | Failure
    answers: tuple[tuple[int, bool], ...]
    steer: str | None


new_step = tuple.__new__
"""Makes one of a million in half of the time that its class takes."""


class Listener(Protocol):
    """Is told of what happens."""

    def stepped(self, step: RunStep) -> None:
        """Take note of a step that has happened."""

    def jumped(self) -> None:
        """Take note that the state has changed without a step: a node began in another."""
