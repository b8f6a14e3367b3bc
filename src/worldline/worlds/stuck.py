"""Handlers that the clock has convicted, so that each is waited for once only."""

from __future__ import annotations

from typing import Any

from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.model.usercode import beat
from worldline.model.usercode.divergence import BY_THE_CLOCK


def before(system: System, event: Event, nodes: list[Any]) -> tuple[int, Frozen] | None:
    """Return an event's node, frozen, where it may be worth to remember or look up."""
    is_start = event.kind is Kind.START
    if not (is_start or system.stuck or beat.gives_up()):
        return None
    if event.node is None or event.node not in system.index:
        return None
    index = system.index[event.node]
    if is_start:
        return index, system.initial[index]
    return index, system.types[index].freeze(nodes[index])


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
    outcome: Outcome | None = system.stuck.get((index, before, event, choices))
    return outcome
