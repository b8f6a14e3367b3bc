"""``worldline replay``: run a recorded run again, with the present code."""

from __future__ import annotations

import argparse
from pathlib import Path

from worldline.cli.loading import add_target, load_of_trace
from worldline.cli.options import add_json, add_partial, assignments, print_json
from worldline.cli.terminal import reclaim

SUMMARY = "run a recorded run again, with the present code"

DESCRIPTION = """\
The question: does a recorded run still go as it did?

Run the schedule of a trace again on the real nodes and compare every step with what
was recorded: what was sent, what changed, and the verdict in the end. The system is
loaded anew, in its present form: of the zoo by itself, any other from TARGET, because a
file must not say what code is run. Its parameters are those of the trace, unless -p says
otherwise.

With --predicates another question is asked of the same run: the properties and gauges of
a Python file are added to those of the system (one of the same name goes over the
system's), and each property is judged after each step.
"""

EPILOG = """\
examples:
  worldline replay worldline-out/lock-mutual_exclusion.wl lock.py
  worldline replay worldline-out/toy-exchanged.wl
  worldline replay worldline-out/deliver-spec-faults.wl deliver.ded spec.ded
  worldline replay worldline-out/lock-idle.wl lock.py --predicates refined.py

Exit codes: 1 the recorded violation was reproduced, 0 the run was reproduced and
violates nothing, 2 the file cannot be used, or the run went otherwise than recorded;
the first difference is then shown. With --predicates 1 something is violated, 3 a
liveness property is false at the end and not due, 0 neither.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument("trace", metavar="TRACE", type=Path, help="a trace file")
    add_target(parser)
    parser.add_argument(
        "--predicates",
        metavar="FILE.py",
        type=Path,
        help="judge after each step the properties of this file, with its gauges, and "
        "those of the system",
    )
    add_partial(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay a trace; return the exit code of what it showed."""
    from worldline.runs.replay import replay_trace
    from worldline.trace.format import read

    # A run that breaks off has no verdict; taking it for one that violates nothing
    # has to be asked for.
    trace = read(arguments.trace, partial=arguments.partial)
    given = assignments(arguments.parameters)
    place, targets = arguments.trace, arguments.targets
    system = load_of_trace("replay", targets, given, place, trace.header)
    replayed = replay_trace(
        trace, system, arguments.trace, predicates=arguments.predicates
    )
    if arguments.json:
        print_json(replayed.to_json())
    else:
        reclaim()
        print(replayed)
    return replayed.exit_code
