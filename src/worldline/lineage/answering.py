"""From an outcome to a report: run again, explained, written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from worldline.engine.bounds import bound_that_ended
from worldline.lineage.deciding import decide, scope_of
from worldline.lineage.engines.frontier import frontier
from worldline.lineage.engines.sweep import Swept, sweep
from worldline.lineage.engines.trials import Outcome, Progress
from worldline.lineage.explaining.explained import lineage_lines
from worldline.lineage.explaining.page import Compared, refuse_no_folder, write_report
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.targets.target import (
    CONSERVATIVE,
    IGNORE,
    Question,
    Report,
    Target,
)
from worldline.model.errors import InternalError, UsageError
from worldline.model.injection.edge import Edge
from worldline.model.injection.scope import NO_FAULTS, FaultSet, Scope, in_order
from worldline.model.injection.subject import Run, Subject
from worldline.model.verdicts import Verdict
from worldline.trace.diagram import diagram
from worldline.trace.format import write

DIRECTORY = Path("worldline-out")
_MOST_COMPARED = 10
"""How many falsifiers a page shows."""


def answer(
    target: Target,
    question: Question,
    *,
    out: Path | None = None,
    traces: bool = True,
    folder: Path | None = None,
    progress: Report | None = None,
) -> FaultsReport:
    """Answer a question about a target that is open; see `faults`.

    Raises
    ------
    UsageError
        If it cannot be asked of the target, or the answer not be written there.
    InternalError
        If a falsifier that an engine found breaks nothing when it is run.
    """
    _refuse_in_vain(target, question, folder)
    question = replace(question, budget=question.budget.begun())
    engine = question.engine or target.engine
    scope = scope_of(target, question)
    swept = _sweep(target, question, scope, progress)
    if swept is not None:
        scope, outcome = _largest(swept, scope)
    else:
        outcome = decide(target, scope, question, progress)
    subject = target.subject(scope, IGNORE)
    runs = [_confirmed(subject, falsifier) for falsifier in outcome.falsifiers]
    trace = None
    shown: tuple[str, ...] = ()
    if runs:
        if traces:
            trace = out or DIRECTORY / f"{_stem(target.name)}-faults.wl"
        shown = _write_trace(
            target, question, scope, runs[0], engine=engine, path=trace
        )
    notes = [*target.warnings, *outcome.notes, *_notes(outcome, question, engine)]
    edges: tuple[Edge, ...] = ()
    hardening: tuple[str, ...] | None = None

    def ask_more() -> None:
        nonlocal edges, hardening
        edges = _frontier(target, question, scope) if question.frontier else ()
        hardening = _hardening(target, question, scope, outcome)

    notes += _words_for(bound_that_ended(ask_more), outcome, question)
    report = FaultsReport(
        system=target.name,
        verdict=outcome.verdict,
        scope=scope,
        falsifiers=outcome.falsifiers,
        executions=outcome.executions,
        seconds=outcome.seconds,
        engine=engine,
        vacuous=outcome.vacuous,
        bound=outcome.bound,
        trace=trace,
        replay=None if trace is None else _replay(target, trace),
        assumptions=target.assumptions(scope),
        notes=tuple(notes),
        shown=shown,
        swept=swept,
        frontier=edges,
        hardening=hardening,
    )
    if folder is not None:
        _write_page(folder, report, target, subject, runs)
    return report


def _words_for(
    ended: str | None, outcome: Outcome, question: Question
) -> Iterator[str]:
    """Say what was not found out, and what more memory would take."""
    if ended is not None:
        used = "interrupted" if ended == "interrupted" else f"{ended} used up"
        yield f"{used}: the verdict stands, but not all was found out"
    if "memory" in (outcome.bound, ended):
        yield question.budget.started().spent_words()


def _write_trace(
    target: Target,
    question: Question,
    scope: Scope,
    run: Run,
    *,
    engine: str,
    path: Path | None,
) -> tuple[str, ...]:
    """Write a run if there is a place for it; return how it is shown."""
    recorded = target.trace(scope, run.faults, engine, question.seed)
    # With losses until the end, so that supports name all messages.
    widest = replace(scope, eff=scope.eot)
    patience = question.budget.started().going_on()
    good = target.subject(widest, CONSERVATIVE).run(NO_FAULTS)
    shown = (*diagram(recorded), "", *lineage_lines(good, run, scope, patience))
    if path is not None:
        write(recorded, path)
    return shown


def _refuse_in_vain(target: Target, question: Question, folder: Path | None) -> None:
    """Refuse before a search what could only be refused after it."""
    if question.harden and not target.can_harden:
        raise UsageError(
            f"{target.name} is no Dedalus program, whose rules could be changed",
            remedy="leave --harden out",
        )
    if folder is not None:
        refuse_no_folder(folder)


# ---------------------------------------------------------------------- more questions


def _sweep(
    target: Target,
    question: Question,
    scope: Scope,
    progress: Report | None,
) -> Swept | None:
    if question.sweep is None:
        return None

    def decided(eot: int, eff: int, left: float) -> Outcome:
        tried = replace(scope, eot=eot, eff=eff)
        budget = replace(question.budget, seconds=left)
        asked = replace(question, budget=budget, every=False)
        return decide(target, tried, asked, _at(eot, eff, progress))

    return sweep(decided, question.sweep)


def _at(eot: int, eff: int, progress: Report | None) -> Report | None:
    """Return what tells the progress of a search with the scope that it is in."""
    if progress is None:
        return None
    tell = progress

    def told(known: Progress) -> None:
        phase = f"EOT {eot}, EFF {eff}"
        tell(replace(known, phase=f"{phase}: {known.phase}" if known.phase else phase))

    return told


def _largest(swept: Swept, scope: Scope) -> tuple[Scope, Outcome]:
    """Return what a sweep found out: what fails, or else the most that holds."""
    executions = sum(one.executions for one in swept.tried)
    seconds = sum(one.seconds for one in swept.tried)
    found = swept.failing or swept.passing
    if found is not None:
        scope = replace(scope, eot=found.eot, eff=found.eff)
    failing = swept.failing
    falsifier = None if failing is None else failing.falsifier
    return scope, Outcome(
        verdict=swept.verdict,
        falsifiers=() if falsifier is None else (falsifier,),
        executions=executions,
        seconds=seconds,
        bound=None if failing is not None else swept.bound,
    )


def _frontier(target: Target, question: Question, scope: Scope) -> tuple[Edge, ...]:
    if question.engine in (None, target.engine):
        widest = replace(scope, eff=scope.eot - 1)
        if (known := target.frontier(widest, question.budget)) is not None:
            return tuple(known)

    def decided(eff: int, crashes: int) -> Outcome:
        tried = replace(scope, eff=eff, crashes=crashes)
        return decide(target, tried, replace(question, every=True))

    return tuple(frontier(decided, eot=scope.eot, crashes=scope.crashes))


def _hardening(
    target: Target, question: Question, scope: Scope, outcome: Outcome
) -> tuple[str, ...] | None:
    if not question.harden:
        return None
    if outcome.verdict is not Verdict.VIOLATED:
        return ()
    return tuple(target.harden(scope, outcome.falsifiers, question.budget))


# ------------------------------------------------------------------------ what is said


def _confirmed(subject: Subject, falsifier: FaultSet) -> Run:
    run = subject.run(falsifier)
    if not run.broken:
        said = ", ".join(map(str, in_order(falsifier))) or "no fault"
        raise InternalError(f"{said} was found to break a goal, and breaks none")
    return run


def _notes(outcome: Outcome, question: Question, engine: str) -> list[str]:
    if outcome.verdict is not Verdict.UNKNOWN or outcome.bound or outcome.vacuous:
        return []
    if question.failure_free_goals:
        return [
            "nothing found, which with the goals of the run without faults is no proof"
        ]
    if engine == "ldfi":
        return ["nothing found, which without the whole lineage is no proof"]
    return []


def _write_page(
    folder: Path,
    report: FaultsReport,
    target: Target,
    subject: Subject,
    runs: list[Run],
) -> None:
    good, scope = subject.run(NO_FAULTS), subject.scope
    compared = [
        Compared(bad, target.lineages(scope, good, bad), target.points(scope, bad))
        for bad in runs[:_MOST_COMPARED]
    ]
    write_report(folder, report, good, compared)


def _replay(target: Target, trace: Path) -> str:
    if target.command is None:
        return f"wl.replay({str(trace)!r}, system=...)"
    return f"worldline replay {trace}"


def _stem(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-")
