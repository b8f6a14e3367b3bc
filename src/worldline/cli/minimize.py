"""``worldline minimize``: make a failing run as short as it can be."""

from __future__ import annotations

import argparse
from pathlib import Path

from worldline import _command
from worldline.cli.loading import add_target, load_of_trace
from worldline.cli.options import add_json, add_options, assignments, given
from worldline.cli.termination import ended_early

SUMMARY = "make a failing run as short as it can be"

DESCRIPTION = """\
The question: what is a shortest run that shows the same violation?

The run of a trace is tried without some of its events, pass by pass: what is not in the
causal past of the violation, what leads from a state to an equal one, calls and faults,
messages and timers, whole nodes, pairs of events. Where a message is not under way any
more, another of its class may stand for it. Each candidate is run under the network as
it is declared, so the result is a real run: it is confirmed on the real nodes, and
written. The result does not depend on the machine, unless --max-seconds ends it. Of each
of its steps it is said what happens without it.
"""

EPILOG = """\
TRACE is a run that violates a safety property, or ends in an exception, a divergence, an
unhandled message or a deadlock, whichever verb has found it.

examples:
  worldline minimize worldline-out/lock-mutual_exclusion.wl lock.py
  worldline minimize worldline-out/randtree-recovered_are_children.wl
  worldline minimize run.wl raft.py --max-events 20000000 --out short.wl --json
  worldline minimize run.wl raft.py --pytest tests/test_election.py
  worldline show run-min.wl --beside run.wl

With --effort high, other orders of messages are tried at last, and 20 times as many
states are visited for the bounds.
Deliveries count messages, timers and calls; externals count starts, calls and faults.
Ctrl-C ends it: the smallest run so far is written. Exit codes: 1 the result violates the
same, 2 the file cannot be used, violates nothing or went otherwise than recorded.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.minimizing.options import MinimizeOptions

    parser.set_defaults(run=run)
    parser.add_argument("trace", metavar="TRACE", type=Path, help="a trace file")
    add_target(parser)
    add_options(parser, MinimizeOptions)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Minimise a trace; return the exit code of the verdict."""
    from worldline.cli.answers import answered
    from worldline.cli.progress import shrink_line, told
    from worldline.minimizing.minimize import minimize
    from worldline.minimizing.options import MinimizeOptions
    from worldline.trace.format import read_header

    header = read_header(arguments.trace)
    parameters = assignments(arguments.parameters)
    place, targets = arguments.trace, arguments.targets
    system = load_of_trace("minimize", targets, parameters, place, header)
    options = given(arguments, MinimizeOptions)
    _command.begin()
    with ended_early(), told(system.name, shrink_line) as progress:
        report = minimize(place, **{**options, "system": system, "progress": progress})
        return answered(report, as_json=arguments.json)
