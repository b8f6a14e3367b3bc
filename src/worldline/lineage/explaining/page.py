"""A report as one page that needs nothing else, and its runs as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from worldline.injection.scope import Scope
from worldline.lineage.explaining.cause import Cause
from worldline.lineage.explaining.difference import Difference, differences, shape
from worldline.lineage.explaining.drawing import difference_drawing
from worldline.lineage.explaining.exports import ReportedRun, printable_files
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.explaining.spacetime import spacetime
from worldline.lineage.explaining.style import KEY_OF_LINEAGE, KEY_OF_RUNS, PAGE_STYLE
from worldline.lineage.explaining.svg import written
from worldline.lineage.explaining.words import goal_words, sentences
from worldline.model.errors import UsageError
from worldline.model.printable import printable
from worldline.trace.storing import store_folder

PAGE = "index.html"
OURS = re.compile(
    r"run_\d+_(spacetime|(pre|post|diff_post)_provenance)\.(json|dot|svg)"
)
"""The names of the files of a report; those of an older one are replaced."""

_MOST_DRAWINGS = 3
"""How many lineages are drawn for one falsifier; those that are alike are one."""
_MOST_NAMED = 8


def write_report(
    folder: Path, report: FaultsReport, reported: Sequence[ReportedRun]
) -> None:
    """Write the page and the runs into a folder: all of them, or nothing.

    Parameters
    ----------
    reported
        The run without faults, and those of the first falsifiers.

    Raises
    ------
    UsageError
        If they cannot be written there.
    """
    refuse_no_folder(folder)
    page = printable(page_text(report, reported)).encode()
    files = {PAGE: page, **dict(printable_files(reported, report.scope))}
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


def page_text(report: FaultsReport, reported: Sequence[ReportedRun]) -> str:
    """Return the page."""
    verdict, scope = report.verdict.value, report.scope
    system, because = written(report.system), written(report.because)
    runs = f"{report.executions:,} execution{'' if report.executions == 1 else 's'}"
    good, *bad = reported
    parts = [
        f'<h1>{system}: <span class="{verdict}">{verdict.upper()}</span>{because}</h1>'
    ]
    asked = (
        f"<p>Scope: {written(str(scope))}. Engine {written(report.engine)}, "
        f"{runs}, {report.seconds:.2f} s.</p>"
    )
    for one in bad:
        parts += _falsifier(one, good, report)
        if one.number == 1:
            parts += [asked, KEY_OF_RUNS, KEY_OF_LINEAGE]
    if not bad:
        parts.append(asked)
    if (left := len(report.falsifiers) - len(bad)) > 0:
        parts.append(f"<p>And {left} more falsifiers, listed below.</p>")
    parts += [
        "<h2>The run without faults</h2>",
        _figure(spacetime(good.run, scope, good.first)),
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
    one: ReportedRun, good: ReportedRun, report: FaultsReport
) -> Iterator[str]:
    scope, run = report.scope, one.run
    which = f"Falsifier {one.number}" if len(report.falsifiers) > 1 else "Falsifier"
    yield f"<h2>{which}</h2>"
    yield from _causes(report.causes[one.number - 1 : one.number])
    said = sentences(run.faults, scope.semantics) or ["there is no fault at all"]
    yield _listed(said)
    yield _figure(spacetime(run, scope, one.first))
    for goal in sorted(run.broken - good.run.kept, key=repr)[:_MOST_NAMED]:
        yield f"<p>{written(goal_words(goal))} is not kept without faults either.</p>"
    groups = _alike(differences(good.history, one.history), scope)
    for made, others in groups[:_MOST_DRAWINGS]:
        yield f"<h3>Why {written(str(made.goal))} holds without faults, and not here</h3>"
        if others:
            yield f"<p>The same is true of {written(_named(others))}.</p>"
        yield _figure(difference_drawing(made, run.faults, scope, one.first))
        if not made.is_whole:
            yield "<p>It is too large to be drawn whole.</p>"
    if (left := len(groups) - _MOST_DRAWINGS) > 0:
        goals = [str(made.goal) for made, _ in groups[_MOST_DRAWINGS:]]
        yield f"<p>And {left} more: {written(_named(goals))}.</p>"


def _causes(causes: Sequence[tuple[Cause, ...]]) -> Iterator[str]:
    for cause in causes[0] if causes else ():
        yield f'<p class="cause">{written(cause.line)}</p>'
        if cause.because:
            # It is laid out by its spaces.
            text = "\n".join(cause.because)
            yield f'<pre class="because">{written(text)}</pre>'


def _alike(made: list[Difference], scope: Scope) -> list[tuple[Difference, list[str]]]:
    """Join goals that differ only in a node; return one of each, and the others."""
    groups: dict[object, list[Difference]] = {}
    for one in made:
        groups.setdefault(shape(one, scope.nodes), []).append(one)
    return [
        (first, [str(other.goal) for other in others])
        for first, *others in groups.values()
    ]


def _named(goals: Sequence[str]) -> str:
    more = len(goals) - _MOST_NAMED
    return ", ".join(goals[:_MOST_NAMED]) + f" and {more} more" * (more > 0)


def _listed(lines: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{written(line)}</li>" for line in lines) + "</ul>"


def _figure(drawing: str) -> str:
    return f'<div class="figure">{drawing}</div>'
