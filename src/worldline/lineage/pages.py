"""The page of an answer: its runs are made again, drawn, and written into a folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from worldline.engine.bounds import bound_that_ended
from worldline.injection.scope import NO_FAULTS, FaultSet
from worldline.injection.subject import Run, Subject
from worldline.lineage.alarm import ended_after
from worldline.lineage.explaining.exports import ExportedHistory, ReportedRun
from worldline.lineage.explaining.fates import nodes_of
from worldline.lineage.explaining.lineages import explained_goals
from worldline.lineage.explaining.page import report_files, write_report
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.options import IGNORE
from worldline.lineage.targets.target import Target
from worldline.model.errors import UsageError

MOST_COMPARED = 10
"""How many falsifiers are explained, and shown on a page."""


def with_page(
    folder: Path,
    report: FaultsReport,
    target: Target,
    runs: list[Run],
    seconds: float | None,
) -> FaultsReport:
    """Write the page of a report; return the report, which says so if that failed.

    Parameters
    ----------
    runs
        Those of its falsifiers; the first are drawn.
    seconds
        How long it may take to make and draw them; None without a limit.
    """
    files: dict[str, bytes] = {}

    def draw() -> None:
        with ended_after(seconds):
            subject = target.subject(report.scope, IGNORE)
            files.update(_page_files(report, target, subject, runs))

    try:
        ended = bound_that_ended(draw)
        if ended is None:
            write_report(folder, files)
    except UsageError as error:
        return replace(report, notes=(*report.notes, error.what))
    if ended is not None:
        return replace(report, notes=(*report.notes, unwritten_words(ended, "page")))
    if len(runs) <= MOST_COMPARED:
        return report
    said = f"{folder} has the first {MOST_COMPARED} of {len(runs)} falsifiers"
    return replace(report, notes=(*report.notes, said))


def unwritten_words(ended: str, what: str) -> str:
    """Say that a bound ended the writing of a trace or a page."""
    used = "interrupted" if ended == "interrupted" else f"{ended} used up"
    return f"{used}: the verdict stands, but no {what} was written"


def _page_files(
    report: FaultsReport,
    target: Target,
    subject: Subject,
    runs: list[Run],
) -> dict[str, bytes]:
    """Return the files of a report by name."""
    good, scope = subject.run(NO_FAULTS), subject.scope
    compared = runs[:MOST_COMPARED]
    goals = {goal for bad in compared for goal in explained_goals(bad)}

    def history(run: Run) -> ExportedHistory:
        return target.history(scope, run, goals)

    reported = [ReportedRun(0, history(good))]
    for number, bad in enumerate(compared, 1):
        causes = report.causes[number - 1] if number <= len(report.causes) else ()
        first = dict.fromkeys(node for cause in causes for node in cause.nodes)
        first |= dict.fromkeys(nodes_of(bad.faults))
        reported.append(ReportedRun(number, history(bad), tuple(first)))
    if len(reported) > 1:
        reported[0] = replace(reported[0], first=reported[1].first)

    def rerun(faults: FaultSet) -> ExportedHistory:
        return history(subject.run(faults))

    return report_files(report, reported, rerun)
