"""Liveness by random walks from the periphery of an exhaustive search.

`walk` is what users call. It finds runs after which what should become true in the
end no longer can; it never proves that there are none.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007:
section 4 (the search), 4.1 (`suspect`, `critical`), 4.2 (`weights`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from worldline.engine.bounds import Bounds
from worldline.model.amounts import (
    refuse_other_than_seconds,
    refuse_other_than_seed,
    refuse_other_than_whole,
)
from worldline.model.arguments import check_path
from worldline.model.divergence import watched
from worldline.model.errors import UsageError, refuse_no_asserts
from worldline.model.interrupts import held
from worldline.model.opening import Target, open_system
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.search.engines import Engine, threads_of
from worldline.search.prefix import Prefix
from worldline.search.question import chosen_properties
from worldline.search.report import Progress
from worldline.search.stages import Goal, goals_of
from worldline.search.walk_report import WalkReport
from worldline.search.walkers import Plan
from worldline.search.walking import Search
from worldline.search.weights import weigher
from worldline.trace.format import Place


def walk(
    system: Target,
    *,
    parameters: Mapping[str, str] | None = None,
    depth: int = 6,
    max_steps: int = 10_000,
    walks: int = 60,
    seed: int = 0,
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
    """Search for runs after which the system can never become live.

    Every run is searched to a depth, and from each state beyond which nothing new was
    seen a random walk goes on until all liveness properties hold at once. Of one that
    does not get there, the critical transition is looked for.

    Parameters
    ----------
    system, parameters
        What to search; see `check`.
    depth, max_steps
        States on a path of the search, the initial one counted; events on a walk,
        doubled by itself where that was not enough.
    walks, certify
        How many walks decide whether a state is dead, and how many states may be
        visited to prove it instead; 0 for no proofs.
    unbiased, weights
        Whether all events are as likely, and the weights of some: by the name of a
        message class, timer or call, or by a kind of event.
    walk_faults
        Whether the faults that are left happen in walks, too.
    max_seconds, max_memory_mb
        Bounds; see `check`.
    seed, threads
        Same seed, same result, with any engine on any number of threads.
    from_, until
        Where to begin; see `check`. There, every fault may happen again.
    emit_live
        Writes the traces of so many runs that become live into the folder `out`, to
        search on from, and ends the search then.
    """
    refuse_no_asserts()
    system = open_system(system, parameters)
    refuse_other_than_whole(
        depth=depth, max_steps=max_steps, walks=walks, max_memory_mb=max_memory_mb
    )
    refuse_other_than_whole(least=0, certify=certify, emit_live=emit_live)
    refuse_other_than_seconds(max_seconds=max_seconds)
    refuse_other_than_seed(seed)
    check_path("out", out)
    wanted = _wanted(system, properties)
    plan = Plan(
        wanted=wanted,
        seed=seed,
        most_steps=max_steps,
        weigh=weigher(system, unbiased=unbiased, weights=weights),
        threads=threads_of(threads),
        bounds=Bounds(depth, None, max_seconds, max_memory_mb),
        engine=engine,
        progress=progress,
        faults=walk_faults,
        from_=from_,
        goals=goals_of(system, until),
        walks=walks,
        most_states=certify,
        emit_live=emit_live,
    )
    with held(), watched(), contextlib.closing(Search(system, plan)) as search:
        search.run()
        return search.answer(None if out is None else Path(out), traces=traces)


def _wanted(system: System, names: list[str] | None) -> list[Property]:
    wanted = chosen_properties(system, names)
    if not any(known.kind is PropertyKind.LIVENESS for known in wanted):
        raise UsageError(
            f"{system.name} has no liveness property to search for",
            remedy="declare one with @wl.liveness, or use check",
        )
    return wanted
