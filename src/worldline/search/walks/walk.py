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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from worldline.engine.bounds import Bounds
from worldline.engine.schedulers.checked import checked
from worldline.engine.schedulers.named import scheduler_named
from worldline.engine.schedulers.protocol import Scheduler
from worldline.loading.opening import Target, open_system
from worldline.model.amounts import (
    refuse_other_than_seconds,
    refuse_other_than_seed,
    refuse_other_than_whole,
)
from worldline.model.arguments import check_path
from worldline.model.errors import UsageError, refuse_no_asserts
from worldline.model.events import Event
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.runs.prefix import Prefix
from worldline.search.engines import Engine, threads_of
from worldline.search.question import chosen_properties
from worldline.search.report import Progress
from worldline.search.stages import Goal, goals_of
from worldline.search.walks.campaign import Search
from worldline.search.walks.random_runs import RandomRuns, RunsPlan
from worldline.search.walks.report import WalkReport
from worldline.search.walks.walkers import Plan
from worldline.search.walks.weights import TO_BECOME_LIVE, TO_GO_DEEP, weigher
from worldline.trace.format import Place

EVENTS = 20_000_000
"""The budget of random runs, in steps, where none is given."""

LIVE_STEPS = 10_000
"""Steps on a walk for liveness where nobody says how many."""


def walk(
    system: Target,
    *,
    parameters: Mapping[str, str] | None = None,
    depth: int = 6,
    max_steps: int | None = None,
    probes: int = 60,
    seed: int = 0,
    walks: int | None = None,
    events: int | None = None,
    scheduler: Scheduler | str | None = None,
    unbiased: bool = False,
    weights: Mapping[str, int] | None = None,
    walk_faults: bool = False,
    certify: int = 20_000,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    properties: list[str] | None = None,
    engine: Engine = "auto",
    threads: int | None = None,
    out: Path | str | None = None,
    traces: bool = True,
    progress: Callable[[Progress], None] | None = None,
    from_: Prefix | Place | None = None,
    until: Iterable[Goal] = (),
    emit_live: int = 0,
) -> WalkReport:
    """Make random runs until one violates a property, or a budget is used up.

    Without liveness properties, runs begin at the beginning, and every property is
    judged at each step. With one, every run is searched to a depth, and from each state
    beyond which nothing new was seen a random walk goes on until all liveness
    properties hold at once. Of one that does not get there, the critical transition is
    looked for.

    Parameters
    ----------
    system, parameters
        What to run; see `check`.
    walks, events, max_seconds
        The budgets: how many walks, steps on all of them, and seconds. Without any,
        random runs end after `EVENTS` steps, and walks for liveness after one from each
        state.
    max_steps
        Steps on a walk; None for `USUAL_STEPS`, with turns of longer walks. For
        liveness 10,000 by default, and doubled by itself where that was not enough.
    scheduler
        What decides which event happens next, or its name; by default several take
        turns. For safety only.
    unbiased, weights
        Whether all events are as likely, and the weights of some: by the name of a
        message class, timer or call, or by a kind of event.
    depth
        States on a path of the search before walks for liveness, the initial one
        counted. It grows as long as a budget that is given is not used up.
    probes, certify
        How many walks decide whether a state is dead, and how many states may be
        visited to prove it instead; 0 for no proofs.
    walk_faults
        Whether the faults that are left happen in walks for liveness, too. In random
        runs for safety they do.
    max_memory_mb
        A bound; see `check`. Random runs go on with less speed when it is near.
    seed, threads
        Same seed, same result, with any engine on any number of threads.
    from_, until
        Where to begin; see `check`. There, every fault may happen again.
    emit_live
        Writes the traces of so many runs that become live into the folder `out`, to
        search on from, and ends the search then.
    """
    refuse_no_asserts()
    made = open_system(system, parameters)
    refuse_other_than_whole(depth=depth, probes=probes, max_steps=max_steps)
    refuse_other_than_whole(least=0, certify=certify, emit_live=emit_live)
    _refuse_budgets(walks, events, max_seconds, max_memory_mb)
    refuse_other_than_seed(seed)
    check_path("out", out)
    wanted = chosen_properties(made, properties)
    is_live = PropertyKind.LIVENESS in [known.kind for known in wanted]
    shared: dict[str, Any] = {
        "wanted": wanted,
        "seed": seed,
        "weigh": _weigher(made, weights, unbiased=unbiased, is_live=is_live),
        "threads": threads_of(threads),
        "bounds": Bounds(depth, None, max_seconds, max_memory_mb),
        "engine": engine,
        "progress": progress,
        "from_": from_,
        "goals": goals_of(made, until),
        "walks": walks,
        "events": events if is_live else _budget(walks, events, max_seconds),
    }
    if not is_live:
        _refuse_for_safety(emit_live)
        runs = RunsPlan(**shared, scheduler=_chosen(scheduler), max_steps=max_steps)
        return _answered(lambda: RandomRuns(made, runs), out, traces=traces)
    _refuse_for_liveness(made, scheduler)
    shared |= {"faults": walk_faults, "probes": probes, "most_states": certify}
    steps = LIVE_STEPS if max_steps is None else max_steps
    plan = Plan(**shared, most_steps=steps, emit_live=emit_live)
    return _answered(lambda: Search(made, plan), out, traces=traces)


def _answered(
    begin: Callable[[], RandomRuns | Search], out: Path | str | None, *, traces: bool
) -> WalkReport:
    """Search, and answer; Ctrl-C ends the search alone."""
    with held(), watched(), contextlib.closing(begin()) as search:
        search.run()
        return search.answer(None if out is None else Path(out), traces=traces)


def _refuse_budgets(
    walks: int | None,
    events: int | None,
    max_seconds: float | None,
    max_memory_mb: int | None,
) -> None:
    """Refuse budgets that are no numbers.

    Raises
    ------
    UsageError
        If one is not.
    """
    refuse_other_than_whole(walks=walks, events=events, max_memory_mb=max_memory_mb)
    refuse_other_than_seconds(max_seconds=max_seconds)


def _budget(
    walks: int | None, events: int | None, max_seconds: float | None
) -> int | None:
    """Return the budget of steps: one is needed where no other is given."""
    has_budget = walks is not None or max_seconds is not None
    return EVENTS if events is None and not has_budget else events


def _chosen(scheduler: Scheduler | str | None) -> Scheduler | None:
    """Return the scheduler that is given, or named."""
    if isinstance(scheduler, str):
        return scheduler_named(scheduler)
    return None if scheduler is None else checked(scheduler)


def _weigher(
    system: System, weights: Mapping[str, int] | None, *, unbiased: bool, is_live: bool
) -> Callable[[Event], int]:
    usual = TO_BECOME_LIVE if is_live else TO_GO_DEEP
    return weigher(system, unbiased=unbiased, weights=weights, usual=usual)


def _refuse_for_safety(emit_live: int) -> None:
    if emit_live:
        raise UsageError(
            "there is no liveness property, so no run becomes live",
            remedy="declare one with @wl.liveness, or leave emit_live out",
        )


def _refuse_for_liveness(system: System, scheduler: Scheduler | str | None) -> None:
    if scheduler is not None:
        raise UsageError(
            f"walks for the liveness of {system.name} have no scheduler",
            remedy="name the safety properties to judge, or leave the scheduler out",
        )
