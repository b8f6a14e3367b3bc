"""``worldline replay``: run a recorded run again, with the present code."""

from __future__ import annotations

import argparse
from pathlib import Path

from worldline.cli.options import add_json, add_partial, print_json
from worldline.cli.printing import printable

SUMMARY = "run a recorded run again, with the present code"

DESCRIPTION = """\
Run the schedule of a trace again on the real nodes and compare every step with what
was recorded: what was sent, what changed, and the verdict in the end. The system is
loaded from where the trace says, in its present form.
"""

EPILOG = """\
example:
  worldline replay worldline-out/lock-mutual_exclusion.wl

Exit codes: 1 the recorded violation was reproduced, 0 the run was reproduced and
violates nothing, 2 the file cannot be used, or the run went otherwise than recorded;
the first difference is then shown.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument("trace", metavar="TRACE", type=Path, help="a trace file")
    add_partial(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay a trace; return the exit code of what it showed."""
    from worldline.trace.format import read
    from worldline.trace.replay import replay

    if not arguments.partial:
        # A run that breaks off has no verdict; taking it for one that violates
        # nothing has to be asked for.
        read(arguments.trace)
    replayed = replay(arguments.trace)
    if arguments.json:
        print_json(replayed.to_json())
    else:
        print(printable(str(replayed)))
    return replayed.exit_code
