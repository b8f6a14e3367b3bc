"""The plan of a search with random walks: options, and what a system makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.engine.bounds import Bounds
from worldline.engine.schedulers.protocol import Scheduler
from worldline.model.events import Event
from worldline.model.properties import Property
from worldline.search.walks.options import RunsOptions


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The subject of a search, and its settings.

    Attributes
    ----------
    options
        As the user gave them.
    wanted
        The properties that matter.
    weigh
        Gives events their weights.
    bounds
        On seconds and memory, and on the depth of a search before walks.
    goals
        What to come to first.
    events
        How many steps to make on all walks; None for no bound.
    """

    options: RunsOptions
    wanted: list[Property]
    weigh: Callable[[Event], int]
    threads: int
    bounds: Bounds
    goals: list[Property]
    events: int | None

    def spent(self, walks: int, steps: int) -> str | None:
        """Return the budget that is used up, if one is.

        Each walk counts as a step at least: else walks from live states, which have
        none, would go on for ever.
        """
        most = self.options.walks
        if most is not None and walks >= most:
            return "walks"
        if self.events is not None and max(walks, steps) >= self.events:
            return "events"
        return None


@final
@dataclass(frozen=True, kw_only=True)
class RunsPlan(Plan):
    """The plan of random runs for safety; of liveness properties they say nothing.

    Attributes
    ----------
    scheduler
        How all runs are made; None for the portfolio's turns.
    """

    scheduler: Scheduler | None


@final
@dataclass(frozen=True, kw_only=True)
class LivePlan(Plan):
    """The plan of walks for liveness.

    Attributes
    ----------
    most_steps
        Steps on a walk.
    faults
        Whether faults happen in walks.
    probes, most_states
        How many walks decide about a state, and the most states of a proof.
    emit_live
        How many live runs are wanted; with any, the search ends when it has them.
    from_live
        Whether the search begins where a walk became live.
    """

    most_steps: int
    faults: bool
    probes: int
    most_states: int
    emit_live: int
    from_live: bool
