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
"""

EPILOG = """\
examples:
  worldline replay worldline-out/lock-mutual_exclusion.wl lock.py
  worldline replay worldline-out/toy-exchanged.wl
  worldline replay worldline-out/deliver-spec-faults.wl deliver.ded spec.ded

Exit codes: 1 the recorded violation was reproduced, 0 the run was reproduced and
violates nothing, 2 the file cannot be used, or the run went otherwise than recorded;
the first difference is then shown.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument("trace", metavar="TRACE", type=Path, help="a trace file")
    add_target(parser)
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
    replayed = replay_trace(trace, system, arguments.trace)
    if arguments.json:
        print_json(replayed.to_json())
    else:
        reclaim()
        print(replayed)
    return replayed.exit_code
