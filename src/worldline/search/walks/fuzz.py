"""Fuzzing: random runs in an environment that is drawn, too.

References
----------
Scott et al., "Minimizing Faulty Executions of Distributed Systems", NSDI 2016, section
4: external events drawn by weight, between an initial sequence and a bound on steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from worldline.engine.schedulers.protocol import Scheduler
from worldline.loading.opening import Target, open_system
from worldline.model.arguments import named
from worldline.model.errors import UsageError
from worldline.model.kinds import BUDGETS
from worldline.model.network import permits
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.runs.prefix import Prefix
from worldline.search.engines import Engine
from worldline.search.question import chosen_properties
from worldline.search.report import Progress
from worldline.search.stages import Goal
from worldline.search.walks.report import WalkReport
from worldline.search.walks.walk import walk
from worldline.trace.format import Place

ALL = "all"
"""Stands for every fault that the network has."""


def fuzz(
    system: Target,
    *,
    parameters: Mapping[str, str] | None = None,
    inject: Iterable[str] = (),
    walks: int | None = None,
    events: int | None = None,
    max_steps: int | None = None,
    scheduler: Scheduler | str | None = None,
    unbiased: bool = False,
    weights: Mapping[str, int] | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    seed: int = 0,
    properties: list[str] | None = None,
    engine: Engine = "auto",
    threads: int | None = None,
    out: Path | str | None = None,
    traces: bool = True,
    progress: Callable[[Progress], None] | None = None,
    from_: Prefix | Place | None = None,
    until: Iterable[Goal] = (),
) -> WalkReport:
    """Make random runs in which the environment is drawn, too, and judge safety.

    Calls come with arguments that are drawn (`one_of`, `integers`), scripts wait for
    what they wait for (`wait_until`), a prologue comes first, and faults happen by
    their weights.

    Parameters
    ----------
    inject
        Faults, by their names in `Faults`, that may happen without limit, whatever the
        system's budgets are; ``all`` for whatever its network has. How often they do
        is up to their weights, and which nodes crash to ``Faults(nodes=...)``.
    properties
        Names of those to judge. Liveness properties are not: see `walk`.
    system, parameters, walks, events, max_seconds, max_steps, scheduler, unbiased, \
weights, max_memory_mb, seed, threads, from_, until
        As for `walk`.
    """
    made = injected(open_system(system, parameters), inject)
    wanted = chosen_properties(made, properties)
    judged = [known for known in wanted if known.kind is not PropertyKind.LIVENESS]
    if properties is not None and len(judged) < len(wanted):
        raise UsageError(
            "a fuzzed run says nothing of liveness properties",
            remedy="use 'worldline walk' for them, or name others",
        )
    report = walk(
        made,
        walks=walks,
        events=events,
        max_steps=max_steps,
        scheduler=scheduler,
        unbiased=unbiased,
        weights=weights,
        max_seconds=max_seconds,
        max_memory_mb=max_memory_mb,
        seed=seed,
        properties=[known.name for known in judged],
        engine=engine,
        threads=threads,
        out=out,
        traces=traces,
        progress=progress,
        from_=from_,
        until=until,
    )
    left = [known.name for known in wanted if known not in judged]
    if not left:
        return report
    note = f"not judged, for liveness is what walk looks for: {', '.join(left)}"
    return dataclasses.replace(report, notes=(*report.notes, note))


def injected(system: System, names: Iterable[str]) -> System:
    """Return a system in which some faults may happen without limit.

    Raises
    ------
    UsageError
        If there is no such fault, or the system's network does not have it.
    """
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise UsageError(
            f"inject is {named(names)}, which is no list",
            remedy="write inject=['crashes', 'restarts']",
        )
    possible = [name for name in BUDGETS if permits(system.network, name)]
    wanted = list(names)
    for name in wanted:
        if name not in (ALL, *possible):
            raise UsageError(
                f"{system.name} has no faults {name!r} to inject",
                remedy=f"name some of {', '.join(possible)}, or {ALL}",
            )
    faults = [name for name in possible if name in wanted or ALL in wanted]
    if not faults:
        return system
    return system.under_injection(f"{', '.join(faults)} without limit", tuple(faults))
