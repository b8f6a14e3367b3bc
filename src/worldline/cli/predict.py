"""``worldline predict``: search what can go wrong from a state on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from worldline import _command
from worldline.cli.loading import load_of_search
from worldline.cli.options import add_json, add_options, given
from worldline.cli.termination import ended_early
from worldline.model.counts import counted

if TYPE_CHECKING:
    from pathlib import Path

    from worldline.model.system import System
    from worldline.runs.report import PropertyReport
    from worldline.search.predicting.report import PredictReport

SUMMARY = "search what can go wrong from a state on, the likely first"

DESCRIPTION = """\
The question: from here on, what can go wrong? 'check' asks it of every run from the
beginning, and sees to a depth of a few steps of a large system. This begins in one state,
that of a recorded run or the initial one, and follows first what messages lead to.

All that arrives at a node is always tried: messages, and the news that a peer is gone. What
a node does by itself, a timer, a call, a reset, is tried once for each state of that node,
wherever the other nodes stand; where it was tried before, it is put off, and taken up
again at a price of a few steps. So chains of messages are followed far before the same
timers and resets are tried in every combination, and nothing is lost: a search that has
nothing left has seen every state, and says HOLDS (consequence prediction, as in
CrystalBall, where what is put off is forgotten).

What happened before the state is not charged to any budget: from there on each fault may
happen as often as --faults says, by default the few that a running node has to expect.
There is one prediction for each safety property that can be violated, a cheapest. The
search goes on after the first, until every safety property is violated (of those that
--property names, until each is violated or reached), a bound is hit, or nothing is left.
The runs are made short before they are shown, each beside the one that was found, as
NAME-min.wl.
"""

EPILOG = """\
TARGET is what 'worldline check' takes. STEP is the number of a step, as 'show' prints it.

examples:
  worldline predict zoo:randtree -p bugs=cb6 -p start=cb6
  worldline predict lock.py --from worldline-out/lock-run-replayed.wl:120
  worldline predict lock.py --from run.wl --faults crashes=1,restarts=1
  worldline predict lock.py --from state.wl --max-states 1000000 --json
  worldline predict zoo:randtree -p start=cb6 --faults declared --repeat-cost never

Of a state that is known in part, 'decided' in --json counts the safety and sometimes
properties that were violated or reached, or unseen in no state that was visited.

A recording is replayed first ('worldline replay RECORDING TARGET' writes a trace of it).
'worldline debug RUN.wl -c "jump 12; save here.wl"' keeps one state as a file. Ctrl-C ends
a search and prints what it learned. Exit codes: 0 HOLDS, nothing can go wrong from there
on; 1 VIOLATED, something can; 2 bad usage; 3 UNKNOWN, a bound was hit.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.search.predicting.options import PredictOptions

    parser.set_defaults(run=run)
    help_ = "the system; see below"
    parser.add_argument("target", metavar="TARGET", nargs="?", help=help_)
    add_options(parser, PredictOptions)
    parser.add_argument(
        "--as-found",
        action="store_true",
        help="show the runs as they were found, which are not the shortest",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Predict; return the exit code of the verdict."""
    from worldline.cli.answers import answered
    from worldline.cli.progress import shown
    from worldline.cli.shortening import begun_with
    from worldline.search.predicting.options import PredictOptions
    from worldline.search.predicting.predict import predict

    system = load_of_search("predict", arguments)
    _command.begin()
    with ended_early():
        with shown(system.name) as progress:
            told = given(arguments, PredictOptions, system)
            report = predict(system, **told, progress=progress)
        if not arguments.as_found:
            begins_in = begun_with(arguments)
            report = _shortened(report, system, arguments.max_seconds, begins_in)
        return answered(report, as_json=arguments.json)


def _shortened(
    report: PredictReport,
    system: System,
    max_seconds: float | None,
    begins_in: Path | None,
) -> PredictReport:
    """Return a report with the runs made short, as far as there is time for it."""
    from worldline.search.predicting.reporting import with_rows

    rows: list[PropertyReport] = []
    notes: list[str] = []
    left = None if max_seconds is None else max_seconds - report.seconds
    found = [begins_in, *(row.trace for row in report.properties)]
    kept = [one for one in found if one is not None]
    for row in report.properties:
        if row.trace is None or not row.steps:
            rows.append(row)
            continue
        if left is not None and left <= 0:
            notes.append(f"{row.name} is not made shorter: no time is left for it")
            rows.append(row)
            continue
        shorter, seconds = _shorter(row, system, left, kept, notes)
        left = None if left is None else left - seconds
        kept += [] if shorter.trace is None else [shorter.trace]
        rows.append(shorter)
    return with_rows(report, rows, notes)


def _shorter(
    row: PropertyReport,
    system: System,
    seconds: float | None,
    kept: list[Path],
    notes: list[str],
) -> tuple[PropertyReport, float]:
    """Return the row of the shorter run, and how long that took.

    Parameters
    ----------
    seconds
        How long that may take; None without a bound.
    kept
        The traces that stay as they are.
    """
    from worldline.cli.progress import shrink_line, told
    from worldline.cli.shortening import shorter_run
    from worldline.model.errors import InputError, UsageError

    try:
        with told(row.name, shrink_line) as progress:
            report = shorter_run(
                row, kept, system=system, max_seconds=seconds, progress=progress
            )
    except (InputError, UsageError) as error:
        notes.append(f"{row.name} is not made shorter: {error.what}")
        return row, 0.0
    (shorter,) = report.properties
    if shorter.steps != row.steps:
        notes.append(
            f"{row.name} was found after {counted(row.steps or 0, 'step')}: {row.trace} "
            "has these"
        )
    return shorter, report.seconds
