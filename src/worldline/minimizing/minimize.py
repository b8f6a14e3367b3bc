"""Minimising: a trace is read, shrunk, and what is left is confirmed and written."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias, final

from worldline.engine.bounds import Bounds, Meter, bound_that_ended
from worldline.loading.predicates import with_predicates
from worldline.minimizing.aftermath import Aftermath
from worldline.minimizing.delays import NOT_KEPT, had_clock
from worldline.minimizing.effort import Searches
from worldline.minimizing.files import ResultFiles, refuse_no_result
from worldline.minimizing.options import MinimizeOptions
from worldline.minimizing.original import Original, original_of
from worldline.minimizing.report import DECLARED, OUTSIDE, MinimizeReport, RunSize
from worldline.minimizing.sameness import ANY, shape, target_of
from worldline.minimizing.seeds import FailingRuns
from worldline.model.arguments import check_trace
from worldline.model.errors import (
    InternalError,
    PropertyError,
    Timeless,
    UsageError,
    refuse_no_asserts,
)
from worldline.model.kinds import Kind
from worldline.model.system import DEPLOYED, System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.model.verdicts import Verdict
from worldline.options.declaring import verb
from worldline.runs.elsewhere import asked_with
from worldline.runs.loading import command, system_of
from worldline.runs.report import PropertyReport
from worldline.runs.timeless import judging, without
from worldline.runs.unjudged import as_asked, asking_whether
from worldline.search.engines import threads_of
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import CandidateRunner, ShrunkRun
from worldline.shrink.level import CLOSED_WORLD, level_of
from worldline.shrink.passes.contents import Contents
from worldline.shrink.progress import ShrinkProgress
from worldline.shrink.stages import Stages, shrink
from worldline.shrink.standard import STANDARD
from worldline.trace.format import read
from worldline.trace.records import Trace

TracePath: TypeAlias = str | os.PathLike[str]


@verb(MinimizeOptions, ShrinkProgress)
def minimize(trace: TracePath, options: MinimizeOptions) -> MinimizeReport:
    """Make the run of a trace as short as it can be, with the same violation.

    What is left out, and which message stands for another, is tried pass by pass; every
    candidate is run under the network as it is declared, so the result is a real run. It
    is confirmed with the real nodes, and written.

    Parameters
    ----------
    trace
        The file of a run that violates a safety property, or ends in an exception, a
        divergence, an unhandled message or a deadlock.

    Raises
    ------
    InputError
        If the file is no trace, or its run no longer goes as it was recorded.
    UsageError
        If the run violates nothing, or never ends; or its system has to be given.
    """
    refuse_no_asserts()
    check_trace(trace)
    path = Path(trace)
    return minimize_run(read(path), path, options)


def minimize_run(
    recorded: Trace, path: Path, options: MinimizeOptions
) -> MinimizeReport:
    """Make a run short that may just have been found; see `minimize`.

    Parameters
    ----------
    path
        The file that it is in. That is not read: another command may have written its own
        run there.
    """
    system = system_of(
        recorded.header,
        options.system,
        options.parameters,
        how=functools.partial(command, "minimize", path),
    )
    notes: tuple[str, ...] = ()
    if options.predicates is not None:
        system, notes = with_predicates(system, options.predicates)
    system = as_asked(system, recorded.end)
    refuse_no_result(recorded, system, path, options)

    def minimized(place: Path, options: MinimizeOptions) -> MinimizeReport:
        run = recorded if place == path else read(place)
        return _in_no_time(run, system, place, options)

    with held(), watched():
        if options.seeds == 1:
            report = minimized(path, options)
        else:
            failing = FailingRuns(recorded, path, system, options)
            report = failing.smallest(minimized)
    return _with_file(report, options.predicates, notes)


def _with_file(
    report: MinimizeReport, file: Path | str | None, notes: tuple[str, ...]
) -> MinimizeReport:
    """Return a report whose commands name the file that declares its properties."""
    if file is None:
        return report
    return replace(
        report,
        properties=tuple(asked_with(row, file) for row in report.properties),
        others=tuple(asked_with(row, file) for row in report.others),
        notes=(*report.notes, *notes),
    )


def _in_no_time(
    run: Trace, system: System, path: Path, options: MinimizeOptions
) -> MinimizeReport:
    """Make a run short that may have times: what it is to violate must ask for none."""

    def about(judged: Sequence[str] | None) -> MinimizeReport:
        made = system if judged is None else judging(system, judged)
        try:
            original = original_of(run, made, path, reorder=options.reorder)
        except PropertyError as error:
            if run.end is None or error.prop != run.end.property:
                raise
            # It leads to where the property cannot be judged, and so does what is left of it.
            made, _ = asking_whether(made, error)
            original = original_of(run, made, path, reorder=options.reorder)
        return _minimized(original, path, options)

    wanted = None if run.end is None else run.end.property
    names = [prop.name for prop in system.properties]
    try:
        return without(names, [name for name in names if name != wanted], about)[0]
    except Timeless as error:
        raise UsageError(
            f"{path} violates {wanted}, and {error.what}, which a shorter run has not",
            remedy="give the trace of a violation that a state shows",
        ) from None


def _minimized(
    original: Original, path: Path, options: MinimizeOptions
) -> MinimizeReport:
    meter = Meter(Bounds(seconds=options.max_seconds, memory_mb=options.max_memory))
    original, runner, run = _executed(original, path, options)
    campaign = Campaign(
        runner,
        run,
        meter,
        most_events=options.max_events,
        threads=threads_of(options.threads),
        progress=options.progress,
    )
    proofs = _Proofs()
    try:
        bound = bound_that_ended(lambda: _shrink(campaign, original, options, proofs))
    finally:
        campaign.close()
    files = ResultFiles(original, path, options)
    row = files.smallest(campaign.runner, campaign.best)
    after = Aftermath(campaign, row.name, any_counts=options.same == ANY)
    if bound in (None, "events"):
        bound = bound_that_ended(after.look) or bound
    others = files.others(campaign.runner, after.others.values())
    best = campaign.best
    return MinimizeReport(
        system=original.system.name,
        verdict=Verdict.VIOLATED,
        properties=(row,),
        seconds=meter.seconds,
        seed=original.trace.header.seed,
        bound=bound,
        test=files.test(row),
        notes=(*_notes(original, bound, meter), *files.notes),
        original=path,
        initial=RunSize(externals=run.size.externals, deliveries=run.size.deliveries),
        final=RunSize(externals=best.size.externals, deliveries=best.size.deliveries),
        passes=tuple(campaign.reports),
        schedules=campaign.schedules,
        events=campaign.runner.executed,
        network="reordering" if options.reorder else DECLARED,
        workload=OUTSIDE if original.system.injected == DEPLOYED else DECLARED,
        same=options.same,
        contents=tuple(map(str, campaign.runner.world.system.contents)),
        level=proofs.level_of(best),
        lower_bound=proofs.least,
        certified=proofs.least == best.size.deliveries,
        slipped=_slipped(original, row),
        needed=after.needed,
        others=others,
    )


def _executed(
    original: Original, path: Path, options: MinimizeOptions
) -> tuple[Original, CandidateRunner, ShrunkRun]:
    """Execute the original as candidates are; return who runs them, and what it was.

    Raises
    ------
    InternalError
        If it violates nothing then, though it was reproduced with the real nodes.
    """
    snapshot = original.start.snapshot
    assert snapshot is not None
    target = target_of(original, options.same)
    originals = [original]
    if original.system.assume is not None:
        # A run that leaves what is assumed itself may be made shorter by others that do.
        free = original.system.replace(assume=None)
        originals.append(replace(original, system=free))
    for one in originals:
        runner = CandidateRunner(one.system, snapshot, target)
        run = runner.of_schedule(one.schedule)
        if run is not None:
            return one, runner, run
    raise InternalError(
        f"{path} was reproduced with the real nodes, and not from what their "
        "handlers did before: they may depend on an ignored field"
    )


@dataclass(slots=True)
class _Proofs:
    """What is known of the smallest run, as far as there was time to find it out."""

    level: str | None = None
    least: int | None = None
    run: ShrunkRun | None = None
    """The run that reached the level."""

    def note(self, campaign: Campaign, levels: list[str]) -> None:
        self.level, self.run = next(reversed(levels), None), campaign.best

    def level_of(self, run: ShrunkRun) -> str | None:
        return self.level if run is self.run else None


@final
class _Levels:
    """Finds out early which level is reached, in case that what follows is cut off."""

    name = "levels"

    def __init__(self, proofs: _Proofs) -> None:
        self._proofs = proofs

    def apply(self, campaign: Campaign) -> None:
        best = campaign.best
        levels = level_of(campaign)
        if best is campaign.best:
            self._proofs.note(campaign, levels)


def _shrink(
    campaign: Campaign, original: Original, options: MinimizeOptions, proofs: _Proofs
) -> None:
    """Shrink, then find out how far that is from the smallest that there can be."""
    # What bounds the runs that violate one property bounds no others.
    states = 0 if options.same == ANY else options.certify
    searches = Searches(original, states, effort=options.effort)
    stages: Stages = STANDARD
    if options.contents:
        stages = (stages[0], (_contents(original),), *stages[1:])
    stages = (*stages, *searches.stages, (_Levels(proofs),), *searches.further)
    best = None
    while best is not campaign.best:
        # What is said of a run is about one that all passes have seen.
        shrink(campaign, stages)
        best = campaign.best
        proofs.least = searches.least(campaign)
        if best is not campaign.best:
            continue
        levels = level_of(campaign)
        if best is campaign.best:
            if levels and searches.is_closed_world(campaign):
                levels.append(CLOSED_WORLD)
            proofs.note(campaign, levels)


def _contents(original: Original) -> Contents:
    """Return the pass that changes arguments, but for calls before the run."""
    start = original.start
    before = (event for event, _ in start.prologue)
    kept = {(e.name, e.key[-1]) for e in before if e.kind is Kind.CALL}
    return Contents(kept, nodes=not start.prologue and start.begins is None)


def _notes(original: Original, bound: str | None, meter: Meter) -> tuple[str, ...]:
    notes = [NOT_KEPT] if had_clock(original.trace) else []
    if bound == "memory":
        notes.append(meter.spent_words())
    if bound is not None:
        notes.append(
            "smaller runs may be found with more: minimize the trace of this one again"
        )
    if original.start.absent:
        notes.append(
            f"nothing is known of {', '.join(original.start.absent)}: what it would do is "
            "in no run that was tried"
        )
    if original.system.origin is None and original.trace.header.target is not None:
        notes.append(
            "no target replays this run: its network is not that of "
            f"{original.trace.header.target}"
        )
    return tuple(notes)


def _slipped(original: Original, row: PropertyReport) -> bool:
    """Say whether the explanations differ by more than numbers and names of nodes."""
    if row.name != original.end.property:
        return True
    names = original.trace.header.names
    # Of a deadlock there is nothing to explain.
    return bool(original.explanation) and (
        shape(original.explanation, names) != shape(row.explanation, names)
    )
