"""A report as one page that needs nothing else, and its runs as files beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from worldline.lineage.explaining.cause import FaultCause
from worldline.lineage.explaining.exports import ReportedRun, printable_files
from worldline.lineage.explaining.lineages import RunUnder, figure, lineage_section
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.explaining.spacetime import spacetime
from worldline.lineage.explaining.style import KEY_OF_LINEAGE, KEY_OF_RUNS, PAGE_STYLE
from worldline.lineage.explaining.svg import written
from worldline.lineage.explaining.words import goal_words, sentences
from worldline.model.counts import counted
from worldline.model.errors import UsageError
from worldline.model.printable import printable
from worldline.trace.storing import store_folder

PAGE = "index.html"
OURS = re.compile(
    r"run_\d+_(spacetime|(pre|post|diff_post)_provenance)\.(json|dot|svg)"
)
"""The names of the files of a report; those of an older one are replaced."""

_MOST_NAMED, _MOST_FAULTS = 8, 12


def report_files(
    report: FaultsReport, reported: Sequence[ReportedRun], rerun: RunUnder
) -> dict[str, bytes]:
    """Return the page and the runs, as files by name.

    Parameters
    ----------
    reported
        The run without faults, and those of the first falsifiers.
    rerun
        Makes another run.
    """
    page = printable(page_text(report, reported, rerun)).encode()
    return {PAGE: page, **dict(printable_files(reported, report.scope))}


def write_report(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a report into a folder: all of them, or nothing.

    Raises
    ------
    UsageError
        If they cannot be written there.
    """
    refuse_no_folder(folder)
    store_folder(folder, files, "a report", OURS)


def refuse_no_folder(place: Path) -> None:
    """Refuse a place for a report where something else is.

    Raises
    ------
    UsageError
        Before a search is made, whose page could not be written.
    """
    try:
        free = place.is_dir() or not place.exists()
    except (OSError, ValueError):
        free = True  # said when it is written
    if not free:
        raise UsageError(
            f"cannot write a report to {place}: it is no folder",
            remedy="choose another folder",
        )


def refuse_in_report(place: Path, folder: Path) -> None:
    """Refuse a place for a trace that a report would take.

    Raises
    ------
    UsageError
        If a file of that report has its name.
    """
    is_inside = os.path.realpath(place.parent) == os.path.realpath(folder)
    if is_inside and (place.name == PAGE or OURS.fullmatch(place.name)):
        raise UsageError(
            f"the trace {place} would be a file of the report",
            remedy="name another file",
        )


def page_text(
    report: FaultsReport, reported: Sequence[ReportedRun], rerun: RunUnder
) -> str:
    """Return the page; for the parameters see `report_files`."""
    verdict, scope = report.verdict.value, report.scope
    system, because = written(report.system), written(report.because)
    runs = counted(report.executions, "execution")
    good, *bad = reported
    parts = [
        f'<h1>{system}: <span class="{verdict}">{verdict.upper()}</span>{because}</h1>'
    ]
    asked = (
        f"<p>Scope: {written(str(scope))}. Engine {written(report.engine)}, "
        f"{runs}, {report.seconds:.2f} s.</p>"
    )
    for one in bad:
        parts += _falsifier(one, good, report, rerun)
        if one.number == 1:
            parts += [asked, KEY_OF_RUNS, KEY_OF_LINEAGE]
    if not bad:
        parts.append(asked)
    if (left := len(report.falsifiers) - len(bad)) > 0:
        parts.append(f"<p>And {left} more falsifiers, listed below.</p>")
    parts += [
        "<h2>The run without faults</h2>",
        figure(spacetime(good.run, scope, good.first)),
        *([] if bad else [KEY_OF_RUNS]),
        "<h2>The answer as text</h2>",
        f"<pre>{written(str(report))}</pre>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{system}: {verdict.upper()}</title><style>{PAGE_STYLE}</style></head>\n"
        f"<body>{chr(10).join(parts)}</body></html>\n"
    )


def _falsifier(
    one: ReportedRun, good: ReportedRun, report: FaultsReport, rerun: RunUnder
) -> Iterator[str]:
    scope, run = report.scope, one.run
    which = f"Falsifier {one.number}" if len(report.falsifiers) > 1 else "Falsifier"
    yield f"<h2>{which}</h2>"
    yield from _causes(report.causes[one.number - 1 : one.number])
    said = sentences(run.faults, scope.semantics) or ["there is no fault at all"]
    yield _listed(said[:_MOST_FAULTS])
    if (more := len(said) - _MOST_FAULTS) > 0:
        yield f"<p>And {more} more faults: the first line names all.</p>"
    yield f'<div class="beside"><div>{figure(spacetime(run, scope, one.first))}</div>'
    yield from lineage_section(one, good, scope, rerun)
    yield "</div>"
    for goal in sorted(run.broken - good.run.kept, key=repr)[:_MOST_NAMED]:
        yield f"<p>{written(goal_words(goal))} is not kept without faults either.</p>"


def _causes(causes: Sequence[tuple[FaultCause, ...]]) -> Iterator[str]:
    for cause in causes[0] if causes else ():
        yield f'<p class="cause">{written(cause.line)}</p>'
        if cause.because:
            # It is laid out by its spaces.
            text = "\n".join(cause.because)
            yield f'<pre class="because">{written(text)}</pre>'


def _listed(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{written(line)}</li>" for line in lines) + "</ul>"
