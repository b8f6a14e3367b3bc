"""Random runs: for safety from the beginning, for liveness from a periphery.

`walk` is what users call. It finds runs that violate a property, or after which what
should become true in the end no longer can; it never proves that there are none.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007:
section 4 (the search), 4.1 (`suspect`, `critical`), 4.2 (`weights`).
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from worldline.engine.bounds import Bounds
from worldline.engine.schedulers.checked import checked
from worldline.engine.schedulers.named import scheduler_named
from worldline.engine.schedulers.protocol import Scheduler
from worldline.loading.opening import SystemTarget, open_system
from worldline.model.errors import refuse_no_asserts
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.options.declaring import verb
from worldline.runs.prefix import Prefix
from worldline.runs.timeless import without_timeless
from worldline.search.asked import asked_by
from worldline.search.engines import threads_of
from worldline.search.question import chosen_properties
from worldline.search.report import Progress
from worldline.search.stages import goals_of
from worldline.search.walks.campaign import Search
from worldline.search.walks.options import FOR_LIVENESS, RunsOptions, WalkOptions
from worldline.search.walks.plan import LivePlan, RunsPlan
from worldline.search.walks.random_runs import RandomRuns
from worldline.search.walks.report import WalkReport
from worldline.search.walks.weights import TO_BECOME_LIVE, TO_GO_DEEP, weigher

EVENTS = 20_000_000
"""The budget of random runs, in steps, where none is given."""

LIVE_STEPS = 10_000
"""Steps on a walk for liveness where nobody says how many."""


@verb(WalkOptions, Prefix, Progress, Scheduler)
def walk(system: SystemTarget, options: WalkOptions) -> WalkReport:
    """Make random runs until one violates a property, or a budget is used up.

    Without liveness properties, runs begin at the beginning, and every property is
    judged at each step. With one, every run is searched to a depth, and from each state
    beyond which nothing new was seen a random walk goes on until all liveness
    properties hold at once. Of one that does not get there, the critical transition is
    looked for.

    Parameters
    ----------
    system
        What to run; see `check`.

    Raises
    ------
    UsageError
        If the options contradict each other, or say nothing of this system.
    """
    refuse_no_asserts()
    opened = open_system(system, options.parameters)
    return without_timeless(opened, options, _walked)


def _walked(made: System, options: WalkOptions) -> WalkReport:
    made = asked_by(made, options.until)
    wanted = chosen_properties(made, options.properties)
    if PropertyKind.LIVENESS not in [prop.kind for prop in wanted]:
        why = f"has no meaning here: no liveness property of {made.name} is judged"
        remedy = "declare one with @wl.liveness, or leave it out"
        options.refuse_given(FOR_LIVENESS, why, remedy=remedy)
        return random_runs(made, wanted, options)
    why = f"has no meaning here: walks for the liveness of {made.name} have none"
    remedy = "name the safety properties to judge, or leave it out"
    options.refuse_given(("scheduler",), why, remedy=remedy)
    steps = LIVE_STEPS if options.max_steps is None else options.max_steps
    bounds = Bounds(options.depth, None, options.max_seconds, options.max_memory)
    plan = LivePlan(
        **_alike(made, wanted, options, TO_BECOME_LIVE),
        bounds=bounds,
        events=options.events,
        most_steps=steps,
        faults=options.walk_faults,
        probes=options.probes,
        most_states=options.certify,
        emit_live=options.emit_live,
        from_live=options.from_live,
    )
    with held(), watched(), contextlib.closing(Search(made, plan)) as search:
        search.run()
        return search.answer(_place(options), traces=options.traces)


def random_runs(
    system: System, wanted: list[Property], options: RunsOptions
) -> WalkReport:
    """Make random runs from the beginning, and judge what is wanted at each step."""
    plan = RunsPlan(
        **_alike(system, wanted, options, TO_GO_DEEP),
        bounds=Bounds(None, None, options.max_seconds, options.max_memory),
        events=_budget(options),
        scheduler=_chosen(options.scheduler),
    )
    with held(), watched(), contextlib.closing(RandomRuns(system, plan)) as runs:
        runs.run()
        return runs.answer(_place(options), traces=options.traces)


def _alike(
    system: System, wanted: list[Property], options: RunsOptions, usual: Any
) -> dict[str, Any]:
    """Return what both kinds of plans have."""
    return {
        "options": options,
        "wanted": wanted,
        "weigh": weigher(
            system, unbiased=options.unbiased, weights=options.weights, usual=usual
        ),
        "threads": threads_of(options.threads),
        "goals": goals_of(system, options.until),
    }


def _place(options: RunsOptions) -> Path | None:
    return None if options.out is None else Path(options.out)


def _budget(options: RunsOptions) -> int | None:
    """Return the budget of steps: one is needed where no other is given."""
    if options.events is not None:
        return options.events
    has_budget = options.walks is not None or options.max_seconds is not None
    return None if has_budget else EVENTS


def _chosen(scheduler: Scheduler | str | None) -> Scheduler | None:
    """Return the scheduler that is given, or named."""
    if isinstance(scheduler, str):
        return scheduler_named(scheduler)
    return None if scheduler is None else checked(scheduler)
