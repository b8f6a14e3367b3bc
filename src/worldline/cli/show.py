"""``worldline show``: print a recorded run, as steps or as a diagram."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from worldline.cli.options import add_partial, assignments, print_json
from worldline.cli.recordings import add_target_option, again_with_target, as_trace
from worldline.cli.terminal import print_lines

if TYPE_CHECKING:
    from worldline.trace.records import Trace

SUMMARY = "print a recorded run, as steps or as a diagram"

DESCRIPTION = """\
The question: what happened in a recorded run?

Print what happened in a trace: every step with what it sent and changed, and the
verdict. Nothing is run, and the system's source is not needed. But a recording of
'worldline run' is replayed first, with its system.
"""

EPILOG = """\
examples:
  worldline show run.wl
  worldline show run.wl --diagram
  worldline show run.wl --mermaid > run.mmd
  worldline show run-min.wl --beside run.wl
  worldline show worldline-out/lock-run --target lock.py
"""

FORMS = {
    "diagram": "a time line for each node, for the terminal",
    "dot": "the graph of what caused what, for Graphviz",
    "mermaid": "a sequence diagram, for Mermaid",
    "shiviz": "a log with vector clocks, for ShiViz",
    "json": "one JSON object and nothing else",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run, form="steps")
    parser.add_argument(
        "trace",
        metavar="TRACE",
        type=Path,
        help="a trace file, or the folder of a recording, which is replayed first",
    )
    add_target_option(parser)
    forms = parser.add_mutually_exclusive_group()
    for form, text in FORMS.items():
        forms.add_argument(
            f"--{form}",
            dest="form",
            action="store_const",
            const=form,
            help=f"print {text}",
        )
    parser.add_argument(
        "--beside",
        metavar="OTHER",
        type=Path,
        help="the steps of TRACE with what they were in another run, such as the one that "
        "it was minimised from",
    )
    add_partial(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print a trace."""
    from worldline.trace.format import to_json

    trace = _read(arguments.trace, arguments)
    if arguments.beside is not None:
        print_lines(_beside(arguments, trace))
        return 0
    if arguments.form == "json":
        print_json(to_json(trace))
    else:
        print_lines(_printer(arguments.form)(trace))
    return 0


def _read(place: Path, arguments: argparse.Namespace) -> Trace:
    from worldline.trace.format import read

    how, partial = again_with_target(arguments.given), arguments.partial
    targets, given = arguments.target, assignments(arguments.parameters)
    with as_trace("show", place, targets, given, partial=partial, how=how) as file:
        return read(file, partial=partial)


def _beside(arguments: argparse.Namespace, trace: Trace) -> Iterator[str]:
    from worldline.model.errors import UsageError
    from worldline.show.beside import beside

    if arguments.form != "steps":
        raise UsageError(
            f"--{arguments.form} shows one run, and --beside two",
            remedy="leave one out",
        )
    other = _read(arguments.beside, arguments)
    if other.header.names != trace.header.names:
        raise UsageError(
            f"{arguments.beside} has other nodes than {arguments.trace}",
            remedy="name two runs of one system",
        )
    return beside(trace, other)


def _printer(form: str) -> Callable[[Trace], Iterator[str]]:
    from worldline.show.diagram import diagram
    from worldline.show.exports import dot, mermaid, shiviz
    from worldline.show.steps import steps

    printers = (diagram, dot, mermaid, shiviz, steps)
    return {printer.__name__: printer for printer in printers}[form]
