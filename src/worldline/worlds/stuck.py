"""Handlers that the clock has convicted, so that each is waited for once only."""

from __future__ import annotations

from worldline.model.content import Frozen
from worldline.model.divergence import BY_THE_CLOCK
from worldline.model.events import Choices, Event
from worldline.model.outcome import Outcome
from worldline.model.system import System


def note(
    system: System, index: int, before: Frozen, event: Event, outcome: Outcome
) -> None:
    """Remember the outcome of an event at a node, if the clock has stopped it."""
    failure = outcome.failure
    if failure is not None and failure.where.endswith(BY_THE_CLOCK):
        system.stuck[index, before, event, outcome.choices] = outcome


def known(
    system: System, index: int, before: Frozen, event: Event, choices: Choices
) -> Outcome | None:
    """Return the outcome that was remembered; None if there is none."""
    found: Outcome | None = system.stuck.get((index, before, event, choices))
    return found
