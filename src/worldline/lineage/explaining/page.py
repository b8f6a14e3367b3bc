"""A report as one page that needs nothing else, and its runs as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.injection.scope import Crash, Loss, Scope, in_order
from worldline.injection.subject import Goal, Run
from worldline.lineage.explaining.drawing import lineage_drawing, spacetime, written
from worldline.lineage.explaining.graph import Lineage, Point
from worldline.lineage.explaining.report import FaultsReport
from worldline.lineage.explaining.words import sentences
from worldline.model.errors import UsageError
from worldline.model.printable import printable
from worldline.trace.storing import store

_MOST_LISTED = 40
"""How many points a sentence names."""

PAGE, RUNS = "index.html", "runs.json"

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em;
  padding: 0 1em; color: #1b1f24; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.2em; margin-top: 2em } h3 { font-size: 1em }
.violated { color: #b3261e } .holds { color: #1a7f37 } .unknown { color: #9a6700 }
.figure, pre { overflow-x: auto; border: 1px solid #d0d7de; border-radius: 6px;
  margin: 1em 0 } pre { padding: 1em; font: 12px/1.4 ui-monospace, monospace }
svg { font: 11px ui-monospace, monospace } svg text { text-anchor: middle }
.name { font-weight: bold; font-size: 13px } .time { fill: #6e7781 }
.lane { stroke: #57606a } .dead { stroke-dasharray: 2 5 }
.event { fill: #57606a } .message { stroke: #0969da }
.lost { stroke: #b3261e; stroke-dasharray: 5 4 } .cross { stroke: #b3261e; stroke-width: 2 }
.crash { fill: #b3261e } .crashed { fill: #fff; font-weight: bold }
.point { fill: #fff; stroke: #57606a } .support { stroke-width: 2.5; stroke: #0969da }
.lacking { fill: #ffebe9; stroke: #b3261e; stroke-dasharray: 5 3 }
.arc { stroke: #8c959f } .over { stroke-dasharray: 6 4 } .absent { stroke-dasharray: 1 4 }
.chosen { stroke: #0969da; stroke-width: 2 }
.head { stroke: none; fill: #8c959f } .head.message, .head.chosen { fill: #0969da }
"""

_KEY_OF_RUNS = (
    "In the diagrams of runs, time goes down. A dashed red arrow that ends in a cross is "
    "a message that is lost. Point at an arrow to see what it carries."
)
_KEY_OF_LINEAGE = (
    "In the graphs of lineage, an outcome stands above what it needs. Blue is one support "
    "of it; dashed arrows are messages, dotted ones stand for what did not hold. A red "
    "frame marks what the run with faults lacks, or has though it must be absent."
)


@final
@dataclass(frozen=True, slots=True)
class Compared:
    """A falsifier's run beside the run without faults.

    Attributes
    ----------
    lineages
        Of the goals that fell, in the run without faults.
    points
        All that held in the falsifier's run.
    """

    run: Run
    lineages: Sequence[Lineage]
    points: frozenset[Point]


def write_report(
    folder: Path, report: FaultsReport, good: Run, compared: Sequence[Compared]
) -> Path:
    """Write the page and the runs into a folder, which is made; return the page.

    Raises
    ------
    UsageError
        If they cannot be written there.
    """
    refuse_no_folder(folder)
    page, runs = folder / PAGE, folder / RUNS
    store(page, printable(page_text(report, good, compared)).encode(), "a report")
    text = json.dumps(runs_json(report, good, compared), indent=1)
    store(runs, f"{text}\n".encode(), "a report")
    return page


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


def page_text(report: FaultsReport, good: Run, compared: Sequence[Compared]) -> str:
    """Return the page."""
    verdict, scope = report.verdict.value, report.scope
    system, because = written(report.system), written(report.because)
    runs = f"{report.executions:,} execution{'' if report.executions == 1 else 's'}"
    parts = [
        f'<h1>{system}: <span class="{verdict}">{verdict.upper()}</span>{because}</h1>',
        (
            f"<p>Scope: {written(str(scope))}. Engine {written(report.engine)}, "
            f"{runs}, {report.seconds:.2f} s.</p>"
        ),
        f"<p>{_KEY_OF_RUNS}</p>",
    ]
    if any(one.lineages for one in compared):
        parts.append(f"<p>{_KEY_OF_LINEAGE}</p>")
    for number, one in enumerate(compared, 1):
        parts += _falsifier(one, number, scope)
    if (left := len(report.falsifiers) - len(compared)) > 0:
        parts.append(f"<p>And {left} more falsifiers, listed below.</p>")
    parts += [
        "<h2>The run without faults</h2>",
        _figure(spacetime(good, scope)),
        "<h2>The answer as text</h2>",
        f"<pre>{written(str(report))}</pre>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{system}: {verdict.upper()}</title><style>{_STYLE}</style></head>\n"
        f"<body>{chr(10).join(parts)}</body></html>\n"
    )


def _falsifier(one: Compared, number: int, scope: Scope) -> list[str]:
    said = sentences(one.run.faults, scope.semantics) or ["there is no fault at all"]
    parts = [
        f"<h2>Falsifier {number}</h2>",
        "<ul>" + "".join(f"<li>{written(line)}</li>" for line in said) + "</ul>",
        _figure(spacetime(one.run, scope)),
    ]
    for lineage in one.lineages:
        lacking = lineage.lacking(one.points)
        instead = lineage.appearing(one.points)
        listed = ", ".join(map(str, lacking[:_MOST_LISTED]))
        left = len(lacking) - _MOST_LISTED
        more = f" and {left} more" if left > 0 else ""
        drawn = lineage_drawing(lineage, [*lacking, *instead], lineage.support())
        parts += [
            f"<h3>Why {written(str(lineage.goal))} holds without faults</h3>",
            _figure(drawn),
            f"<p>The run with faults lacks: {written(listed) or 'nothing'}{more}.</p>",
            *_appearing(instead),
        ]
    return parts


def _appearing(instead: dict[Point, list[Point]]) -> list[str]:
    """Say what holds in the run with faults that must not."""
    appearing = dict.fromkeys(point for points in instead.values() for point in points)
    if not appearing:
        return []
    listed = ", ".join(map(str, [*appearing][:_MOST_LISTED]))
    return [f"<p>It has what must be absent: {written(listed)}.</p>"]


def _figure(drawing: str) -> str:
    return f'<div class="figure">{drawing}</div>'


def runs_json(
    report: FaultsReport, good: Run, compared: Sequence[Compared]
) -> list[dict[str, Any]]:
    """Return the runs with the names that readers of Molly's output know."""
    runs = [good, *(one.run for one in compared)]
    return [_run_json(number, run, report.scope) for number, run in enumerate(runs)]


def _run_json(number: int, run: Run, scope: Scope) -> dict[str, Any]:
    faults = in_order(run.faults)
    return {
        "iteration": number,
        "status": "failure" if run.broken else "success",
        "failureSpec": {
            "eot": scope.eot,
            "eff": scope.eff,
            "maxCrashes": scope.crashes,
            "nodes": list(scope.nodes),
            "crashes": [
                {"node": fault.node, "time": fault.time}
                for fault in faults
                if isinstance(fault, Crash)
            ],
            "omissions": [
                {"from": fault.src, "to": fault.dst, "time": fault.time}
                for fault in faults
                if isinstance(fault, Loss)
            ],
        },
        "faults": [str(fault) for fault in faults],
        "pre": [_goal_json(goal) for goal in sorted(run.owed, key=repr)],
        "post": [_goal_json(goal) for goal in sorted(run.kept, key=repr)],
        "messages": [
            {
                "label": sent.label,
                "from": sent.src,
                "to": sent.dst,
                "sendTime": sent.time,
                "receiveTime": sent.arrived,
            }
            for sent in run.sent
        ],
    }


def _goal_json(goal: Goal) -> list[str | int] | str:
    """Return a row of a program as a list, and any other goal as it is called."""
    return [*goal] if isinstance(goal, tuple) else str(goal)
