"""``worldline faults``: which faults break a system, or that none of a scope do."""

from __future__ import annotations

import argparse
import functools
from typing import TYPE_CHECKING

from worldline import _command
from worldline.cli.loading import load_of_trace
from worldline.cli.options import (
    add_json,
    add_options,
    assignments,
    given,
)
from worldline.cli.shortening import add_minimize, shortened
from worldline.cli.termination import ended_early

if TYPE_CHECKING:
    from worldline.lineage.explaining.report import FaultsReport
    from worldline.model.system import System

SUMMARY = "find the faults that break a system, or certify that none do"

DESCRIPTION = """\
The question: which losses and crashes undo what a system promises?

Run a system in synchronous rounds, lose messages and crash nodes, and say whether any
such faults keep it from its promise: HOLDS if no faults of the scope do, VIOLATED with
the fewest faults that do, UNKNOWN if a bound was hit, or if the promise was never put to
the test: nothing was owed in any run, no call was made, or what must happen sometimes
did not. A scope is when a run ends (EOT),
from which round on no message is lost (EFF), and how many nodes may crash. Each answer
of VIOLATED is a run that was made; it is written to a file.
"""

EPILOG = """\
TARGET is
  FILE.ded ...              a Dedalus program: files that are read as one text
  zoo:NAME                  a built-in program or system, such as zoo:kafka
  FILE.py[:function]        a Python system, as for 'worldline check'
  package.module:function   the same, importable

engines:
  symbolic    all faults at once, for programs; the default, complete
  states      every state that faults lead to, for Python nodes; the default, complete
  ldfi        from the lineage of good runs backwards to the faults to try next; says
              HOLDS with '--negation conservative', never with 'ignore'
  random      random faults, until they break it
  exhaustive  every fault set; for very small scopes

examples:
  worldline faults zoo:retry-deliv                     two faults break it
  worldline faults zoo:redun-deliv --eot 6 --eff 5     certified
  worldline faults deliver.ded spec.ded --nodes a,b,c --eot 6 --eff 4 --crashes 1
  worldline faults zoo:kafka --engine ldfi --all       the paper's loop, to its end
  worldline faults zoo:classic-deliv --sweep 10        the smallest scope that breaks it
  worldline faults zoo:simple-deliv --harden           rules that make it hold
  worldline faults zoo:2pc --report out                a page with drawings

Messages that are sent in round t may be lost if t < EFF. Exit codes: 0 HOLDS,
1 VIOLATED, 2 bad usage, 3 UNKNOWN.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.lineage.options import FaultOptions

    parser.set_defaults(run=run)
    parser.add_argument(
        "targets", metavar="TARGET", nargs="+", help="what to break; see below"
    )
    add_options(parser, FaultOptions)
    add_minimize(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Search for faults; return the exit code of the verdict."""
    from worldline.cli.answers import answered_shortly, answered_twice
    from worldline.cli.progress import shown_faults
    from worldline.lineage.answering import answer
    from worldline.lineage.options import FaultOptions
    from worldline.lineage.targets.opening import open_target
    from worldline.model.usercode.divergence import watched

    told = given(arguments, FaultOptions)
    options = FaultOptions.of(**told)
    parameters = assignments(arguments.parameters or ())
    target = open_target(
        arguments.targets, parameters, options.nodes, options.properties
    )
    _command.begin()
    with ended_early(), watched():
        with shown_faults(target.name) as progress:
            report = answer(target, FaultOptions.of(**told, progress=progress))
        if arguments.minimize:
            load = functools.partial(_load, arguments, report)
            report, shorter = shortened(report, load)
            return answered_twice(
                report, shorter, as_json=arguments.json, shows_steps=False
            )
        answered_shortly(report, as_json=arguments.json)
        return report.verdict.exit_code


def _load(arguments: argparse.Namespace, report: FaultsReport) -> System:
    """Load the system of the run that was found, as that says."""
    row = report.violated
    assert row is not None
    assert row.trace is not None
    assert row.run is not None
    return load_of_trace("minimize", arguments.targets, {}, row.trace, row.run.header)
