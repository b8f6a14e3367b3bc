"""From what random runs found to a confirmed report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from worldline.engine.exploration import Exploration, Hit, Statistics
from worldline.engine.walks import Reached
from worldline.model.properties import Property, PropertyKind
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.runs.start import Start
from worldline.search.counterexample import Counterexamples
from worldline.search.exhaustive import boot_failure
from worldline.search.walks.coverage import Coverage
from worldline.search.walks.handover import Pace
from worldline.search.walks.report import WalkReport
from worldline.search.walks.verdict import Unsafe, found_by_search, found_on_walk, rows


@final
@dataclass(slots=True)
class Runs:
    """The tally of random runs so far.

    Attributes
    ----------
    walks, steps
        How many there were, and the steps on them.
    by_scheduler
        Steps, by the name of the scheduler.
    found, found_by
        The run that violates something, and whose it is.
    budget, bound
        Which budget is used up, or what else ended them early.
    failed_start, stopped
        What kept them from beginning.
    """

    walks: int = 0
    steps: int = 0
    by_scheduler: Counter[str] = field(default_factory=Counter)
    found: Unsafe | None = None
    found_by: str | None = None
    budget: str | None = None
    bound: str | None = None
    failed_start: Start | None = None
    stopped: Exploration | None = None


def answer(
    runs: Runs,
    wanted: list[Property],
    writer: Counterexamples,
    coverage: Coverage,
    reached: Mapping[int, Reached],
    near: Callable[[list[Property]], Mapping[str, object]],
    way: Callable[[Reached], Hit],
    *,
    seconds: float,
    pace: Pace,
    notes: list[str],
) -> WalkReport:
    """Confirm what was found, write its trace, and say what was done.

    Parameters
    ----------
    reached
        Where each `sometimes` property was true first, by its number among them.
    near
        Says how near others were.
    way
        Returns how a walk came to a place.
    """
    violated = _violated(runs, wanted, writer)
    sometimes = [p for p in wanted if p.kind is PropertyKind.SOMETIMES]
    # More walks may have been made than count: the others ran ahead.
    counted = {n: where for n, where in reached.items() if where.walk < runs.walks}
    steps = {sometimes[n].name: where.steps for n, where in counted.items()}
    others = near([p for p in sometimes if p.name not in steps])
    shown = [writer.reached(way(where), sometimes[n]) for n, where in counted.items()]
    by_name = {row.name: row for row in shown}
    said = [by_name.get(r.name, r) for r in rows(wanted, violated, steps, others)]
    bound, seen = runs.bound or runs.budget, Statistics()
    if runs.stopped is not None:
        bound, seen = runs.stopped.bound, runs.stopped.statistics
    return WalkReport(
        system=writer.system,
        verdict=Verdict.UNKNOWN if violated is None else Verdict.VIOLATED,
        properties=tuple(said),
        walks=runs.walks,
        steps=runs.steps,
        seconds=seconds,
        bound=bound if violated is None else None,
        engine=writer.engine,
        seed=writer.seed,
        # A search for a stage is no run, and its states are not covered by one.
        coverage=coverage if runs.stopped is None else None,
        states=seen.states,
        generated=seen.generated,
        depth=seen.depth,
        schedulers=dict(runs.by_scheduler),
        found_by=runs.found_by if violated is not None else None,
        notes=(*notes, *writer.notes),
        misses=pace.misses,
        hit_rate=pace.hit_rate,
        remembered_steps=pace.remembered,
        direct_steps=pace.direct,
    )


def _violated(
    runs: Runs, wanted: list[Property], writer: Counterexamples
) -> PropertyReport | None:
    if runs.failed_start is not None:
        return boot_failure(writer, runs.failed_start)
    if runs.found is not None:
        return found_on_walk(runs.found, writer)
    if runs.stopped is not None:
        return found_by_search(runs.stopped, wanted, writer)
    return None
