"""Confirming a violation: the schedule is run again, with the real nodes.

The tables remember what handlers did once. Running the schedule in another world
re-checks them; a handler that now does something else is not deterministic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from worldline.model.data.values import freeze
from worldline.model.errors import Nondeterminism
from worldline.model.events import Choices, Event
from worldline.model.semantics.outcome import Outcome
from worldline.model.usercode import divergence
from worldline.runs.start import Start, lead
from worldline.worlds.world import NotEnabled, Snapshot, World

Expected = Sequence[tuple[Event, Outcome]]
"""Events with what the tables say that they led to."""


def confirm(
    world: World,
    start: Start,
    expected: Expected,
    end: Snapshot | None,
    free: Collection[int] = (),
) -> list[tuple[Event, Choices]]:
    """Run a path in a fresh world and compare with what is expected.

    Parameters
    ----------
    end
        The expected last state; None if the last handler fails.
    free
        The numbers of the steps, from 1, that draw on no budget.

    Returns
    -------
    list
        The schedule from state 0.

    Raises
    ------
    Nondeterminism
        At the first step that goes otherwise; it names both observations.
    """
    lead(world, start.boot, start.prologue, start.begins)
    schedule: list[tuple[Event, Choices]] = []
    for number, (event, outcome) in enumerate(expected, 1):
        where = f"step {number}, {event!r},"
        diverges = outcome.failure is not None and outcome.failure.kind == "divergence"
        try:
            seen = world.step(
                event,
                outcome.choices,
                charge=number not in free,
                lines=divergence.LINE_BUDGET if diverges else None,
            )
        except NotEnabled:
            raise Nondeterminism(where, "was enabled", "was not") from None
        if freeze(_essence(seen)) != freeze(_essence(outcome)):
            raise Nondeterminism(where, _describe(outcome), _describe(seen))
        schedule.append((event, outcome.choices))
    if end is not None and world.snapshot() != end:
        raise Nondeterminism(
            "the last step", f"led to {end}", f"led to {world.snapshot()}"
        )
    return schedule


def _essence(outcome: Outcome) -> Outcome:
    """Return an outcome without its failure's text, which may name addresses.

    Nor is it said which limit ended a divergence: that depends on the machine.
    """
    failure = outcome.failure
    if failure is None:
        return outcome
    where = "" if failure.kind == "divergence" else failure.where
    return replace(outcome, failure=replace(failure, message="", where=where))


def _describe(outcome: Outcome) -> str:
    words = [f"was {outcome.result.value}"]
    if outcome.failure is not None:
        words.append(f"with {outcome.failure}")
    sends = [f"{sent.message!r} to {sent.dst}" for sent in outcome.sends]
    words.append(f"sent {', '.join(sends) or 'nothing'}")
    if outcome.timers:
        words.append(f"changed timers {list(outcome.timers)}")
    return " and ".join(words)
