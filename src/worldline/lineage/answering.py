"""From an outcome to a report: run again, explained, written down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from worldline.engine.bounds import BoundHit, bound_that_ended
from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import NO_FAULTS, FaultSet, Scope, in_order
from worldline.injection.subject import Run, Subject
from worldline.lineage.alarm import ended_after
from worldline.lineage.dispatch import decide, scope_of
from worldline.lineage.engines.frontier import frontier
from worldline.lineage.engines.sweep import Swept, sweep
from worldline.lineage.engines.trials import FaultsProgress, SearchResult
from worldline.lineage.explaining.cause import FaultCause, plain_cause
from worldline.lineage.explaining.page import refuse_in_report, refuse_no_folder
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.explaining.timeline import timeline
from worldline.lineage.explaining.words import goal_words, sentences
from worldline.lineage.options import IGNORE, FaultOptions
from worldline.lineage.pages import MOST_COMPARED, unwritten_words, with_page
from worldline.lineage.targets.target import FaultQuery, ProgressCallback, Target
from worldline.model.errors import InternalError, UsageError
from worldline.model.properties import PropertyKind
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import file_of, untaken, with_file
from worldline.runs.report import PropertyReport
from worldline.runs.timeless import about_the_others
from worldline.trace.records import Trace

_PATIENCE_S = 2.0
"""Seconds for the cause of one falsifier."""
_EVIDENCE_S = 5.0
"""Seconds for a trace, or a page, though the time of the search is up."""


def answer(target: Target, options: FaultOptions) -> FaultsReport:
    """Answer a question about a target that is open; see `faults`.

    In rounds there is no time: properties that ask for one are left out.

    Raises
    ------
    UsageError
        If it cannot be asked of the target, or the answer not be written there.
    InternalError
        If a falsifier that an engine found breaks nothing when it is run.
    """

    def about(names: Sequence[str] | None) -> FaultsReport:
        if names is not None:
            _refuse_no_promise(target, names)
        judged = target if names is None else target.judging(names)
        return _answered(judged, options)

    return about_the_others(target.properties, options.properties, about)


def _refuse_no_promise(target: Target, names: Sequence[str]) -> None:
    """Refuse a target of which every promise asks for the time or a gauge."""
    kinds = [kind for name, kind in target.properties if name in names]
    if all(kind == PropertyKind.SOMETIMES.value for kind in kinds):
        raise UsageError(
            f"{target.name} has no promise that is judged here: each asks for the time "
            "or a gauge",
            remedy="ask worldline simulate, or declare a property of the state alone",
        )


def _answered(target: Target, options: FaultOptions) -> FaultsReport:
    folder = None if options.report is None else Path(options.report)
    _refuse_in_vain(target, options, folder)
    question, progress = FaultQuery.of(options), options.progress
    question = replace(question, budget=question.budget.begun())
    engine = options.engine or target.engine
    scope = scope_of(target, question)
    swept = _sweep(target, question, scope, progress)
    if swept is not None:
        scope, outcome = _largest(swept, scope)
    else:
        outcome = decide(target, scope, question, progress)
    runs, unaudited = _confirmed_runs(target, scope, outcome)
    place = Path(options.out or untaken(file_of(target.name, "faults")))
    shown: list[str] = []
    trace, unwritten = _recorded(target, question, scope, runs, engine)
    causes = _causes(target, question, scope, runs)
    if runs:
        shown = _shown(target, question, scope, runs[0], causes[0])
    notes = [*target.warnings, *outcome.notes, *_notes(outcome, question, engine)]
    more, ended = _asked_besides(
        target, question, scope, outcome, with_frontier=options.frontier
    )
    notes += [*unaudited, *ended, *unwritten, *_unfinished(target, scope, runs)]
    properties = _properties(target, scope, outcome, runs, trace)
    if trace is not None and options.traces and properties:
        properties[0] = with_file(properties[0], trace, place, target.command)
    report = FaultsReport(
        system=target.name,
        verdict=outcome.verdict,
        scope=scope,
        falsifiers=outcome.falsifiers,
        causes=causes,
        properties=tuple(properties),
        executions=outcome.executions,
        seconds=outcome.seconds,
        engine=engine,
        seed=options.seed,
        untested=outcome.unmet if outcome.vacuous else (),
        bound=outcome.bound,
        assumptions=target.assumptions(scope),
        notes=tuple(notes),
        shown=tuple(shown),
        swept=swept,
        **more,
    )
    if folder is None:
        return report
    return with_page(folder, report, target, runs, _evidence_seconds(question))


def _asked_besides(
    target: Target,
    question: FaultQuery,
    scope: Scope,
    outcome: SearchResult,
    *,
    with_frontier: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Return the frontier and rules to add, where asked for, and what ended that."""
    more: dict[str, Any] = {}

    def ask() -> None:
        if with_frontier:
            more["frontier"] = _frontier(target, question, scope)
        more["hardening"] = _hardening(target, question, scope, outcome)

    return more, list(_words_for(bound_that_ended(ask), outcome, question))


def _recorded(
    target: Target, question: FaultQuery, scope: Scope, runs: list[Run], engine: str
) -> tuple[Trace | None, list[str]]:
    """Return the trace of the first run; or what is said where a bound ended it."""
    traces: list[Trace] = []

    def record() -> None:
        with ended_after(_evidence_seconds(question)):
            seed = question.options.seed
            traces.extend(target.trace(scope, r.faults, engine, seed) for r in runs[:1])

    ended = bound_that_ended(record)
    if ended is not None:
        return None, [unwritten_words(ended, "trace")]
    return (traces[0] if traces else None), []


def _evidence_seconds(question: FaultQuery) -> float | None:
    """Return how long what shows the answer may take: not much longer than asked."""
    left = question.budget.started().seconds_left
    return None if left is None else max(left, _EVIDENCE_S)


def _words_for(
    ended: str | None, outcome: SearchResult, question: FaultQuery
) -> Iterator[str]:
    """Say what was not found out, and what more memory would take."""
    if ended is not None:
        used = "interrupted" if ended == "interrupted" else f"{ended} used up"
        yield f"{used}: the verdict stands, but not all was found out"
    if "memory" in (outcome.bound, ended):
        yield question.budget.started().spent_words()


def _refuse_in_vain(target: Target, options: FaultOptions, folder: Path | None) -> None:
    """Refuse before a search what could only be refused after it, or says nothing."""
    if options.harden and not target.can_harden:
        raise UsageError(
            f"{target.name} is no Dedalus program, whose rules could be changed",
            remedy="leave --harden out",
        )
    if options.sweep is not None:
        options.refuse_given(("eot", "eff", "all"), "has no meaning in a sweep")
    if (engine := options.engine or target.engine) != "ldfi":
        why = f"has no meaning for the engine {engine}"
        options.refuse_given(("negation",), why, remedy="leave it out, or choose ldfi")
    if folder is not None:
        refuse_no_folder(folder)
        if options.out is not None:
            refuse_in_report(Path(options.out), folder)


# ---------------------------------------------------------------------- more questions


def _sweep(
    target: Target,
    question: FaultQuery,
    scope: Scope,
    progress: ProgressCallback | None,
) -> Swept | None:
    if question.options.sweep is None:
        return None

    def decided(eot: int, eff: int, left: float) -> SearchResult:
        tried = replace(scope, eot=eot, eff=eff)
        budget = replace(question.budget, seconds=left)
        asked = replace(question, budget=budget, every=False)
        return decide(target, tried, asked, _at(eot, eff, progress))

    def lasts(eot: int) -> bool:
        subject = target.subject(replace(scope, eot=eot, eff=0), IGNORE)
        kinds = dict(target.properties)
        broken = (target.promised(goal) for goal in subject.run(NO_FAULTS).broken)
        return any(kinds.get(name) != PropertyKind.LIVENESS.value for name in broken)

    return sweep(decided, question.options.sweep, lasts=lasts)


def _at(
    eot: int, eff: int, progress: ProgressCallback | None
) -> ProgressCallback | None:
    """Return what tells the progress of a search with the scope that it is in."""
    if progress is None:
        return None
    tell = progress

    def told(news: FaultsProgress) -> None:
        phase = f"EOT {eot}, EFF {eff}"
        tell(replace(news, phase=f"{phase}: {news.phase}" if news.phase else phase))

    return told


def _largest(swept: Swept, scope: Scope) -> tuple[Scope, SearchResult]:
    """Return what a sweep found out: what fails, or else the longest that holds."""
    executions = sum(one.executions for one in swept.tried)
    seconds = sum(one.seconds for one in swept.tried)
    failing = swept.failing
    widest = failing or swept.passing or (swept.tried[-1] if swept.tried else None)
    eot, eff = (1, 0) if widest is None else (widest.eot, widest.eff)
    scope = replace(scope, eot=eot, eff=eff)
    falsifier = None if failing is None else failing.falsifier
    return scope, SearchResult(
        verdict=swept.verdict,
        falsifiers=() if falsifier is None else (falsifier,),
        executions=executions,
        seconds=seconds,
        bound=None if failing is not None or swept.untested else swept.bound,
        unmet=swept.untested,
    )


def _frontier(
    target: Target, question: FaultQuery, scope: Scope
) -> tuple[FrontierPoint, ...]:
    if question.options.engine in (None, target.engine):
        widest = replace(scope, eff=max(scope.eot - 1, scope.eff))
        if (edges := target.frontier(widest, question.budget)) is not None:
            return tuple(edges)

    def decided(eff: int, crashes: int) -> SearchResult:
        tried = replace(scope, eff=eff, crashes=crashes)
        return decide(target, tried, replace(question, every=True))

    last = max(scope.eot - 1, scope.eff)
    return tuple(frontier(decided, last=last, crashes=scope.crashes))


def _hardening(
    target: Target, question: FaultQuery, scope: Scope, outcome: SearchResult
) -> tuple[str, ...] | None:
    if not question.options.harden:
        return None
    if outcome.verdict is not Verdict.VIOLATED:
        return ()
    return tuple(target.harden(scope, outcome.falsifiers, question.budget))


# ------------------------------------------------------------------------ what is said


def _shown(
    target: Target,
    question: FaultQuery,
    scope: Scope,
    bad: Run,
    causes: tuple[FaultCause, ...],
) -> list[str]:
    """Return a run as a diagram, and what keeps the first goal that it breaks."""
    patience = question.budget.started().going_on()
    nodes = [node for cause in causes for node in cause.nodes]
    lines = timeline(bad, scope, nodes, causes[0].last)
    told = {goal_words(goal): goal for goal in bad.broken}
    goal = told[causes[0].goals[0]]
    supports = target.supports(scope, bad, goal, patience)
    return [*lines, "", *supports] if supports else lines


def _causes(
    target: Target, question: FaultQuery, scope: Scope, runs: list[Run]
) -> tuple[tuple[FaultCause, ...], ...]:
    """Return why the first runs break what they break."""
    meter = question.budget.started().going_on()
    causes = []
    for bad in runs[:MOST_COMPARED]:
        patience = meter.within(_PATIENCE_S)
        try:
            with ended_after(patience.seconds_left):
                some = target.causes(scope, bad, patience.check)
        except BoundHit:
            some = [plain_cause(bad.broken, bad.faults, scope)]
        causes.append(tuple(some))
    return tuple(causes)


def _properties(
    target: Target,
    scope: Scope,
    outcome: SearchResult,
    runs: list[Run],
    trace: Trace | None,
) -> list[PropertyReport]:
    """Return what is said of each property; a run is that of the one it breaks first."""
    unmet = {case.name for case in outcome.unmet}
    broken = {target.promised(goal) for run in runs for goal in run.broken}
    rows = []
    for name, kind in target.properties:
        verdict = outcome.verdict
        if kind == PropertyKind.SOMETIMES.value:
            verdict = Verdict.UNKNOWN if name in unmet else Verdict.HOLDS
        elif verdict is Verdict.VIOLATED:
            verdict = Verdict.VIOLATED if name in broken else Verdict.UNKNOWN
        rows.append(PropertyReport(name=name, kind=kind, verdict=verdict))
    end = None if trace is None else trace.end
    if trace is None or end is None or end.property is None:
        return rows
    first = PropertyReport(
        name=end.property,
        kind=end.kind or "",
        verdict=Verdict.VIOLATED,
        steps=len(trace.run),
        explanation="; ".join(sentences(runs[0].faults, scope.semantics)),
        run=trace,
    )
    return [first, *(row for row in rows if row.name != first.name)]


def _confirmed_runs(
    target: Target, scope: Scope, outcome: SearchResult
) -> tuple[list[Run], tuple[str, ...]]:
    """Run every falsifier again; also return what of purity could not be audited.

    The audit comes first: what is not pure may fail to break a promise twice.
    """
    unaudited = target.audit(scope, outcome.falsifiers)
    if not outcome.falsifiers:
        return [], unaudited  # what was too much for the search is not made here
    subject = target.subject(scope, IGNORE)
    return [_confirmed(subject, one) for one in outcome.falsifiers], unaudited


def _confirmed(subject: Subject, falsifier: FaultSet) -> Run:
    run = subject.run(falsifier)
    if not run.broken:
        said = ", ".join(map(str, in_order(falsifier))) or "no fault"
        raise InternalError(f"{said} was found to break a goal, and breaks none")
    return run


def _unfinished(target: Target, scope: Scope, runs: list[Run]) -> Iterator[str]:
    """Say what could still happen where a promise about the end was broken first."""
    kinds = dict(target.properties)
    for run in runs[:1]:
        broken = (kinds.get(target.promised(goal)) for goal in run.broken)
        if run.pending and PropertyKind.LIVENESS.value in broken:
            yield (
                f"still pending at the end of time (EOT {scope.eot}): {run.pending}; a "
                "larger --eot may mend it"
            )


def _notes(outcome: SearchResult, question: FaultQuery, engine: str) -> list[str]:
    if outcome.verdict is not Verdict.UNKNOWN or outcome.bound:
        return []
    if outcome.vacuous:
        guessed = engine == "ldfi" and question.options.negation == IGNORE
        if guessed or question.failure_free_goals:
            return ["not all runs are known: another may put it to the test"]
        return []
    if question.failure_free_goals:
        return [
            "nothing found, which with the goals of the run without faults is no proof"
        ]
    if engine == "ldfi":
        return ["nothing found, which without the whole lineage is no proof"]
    return []
