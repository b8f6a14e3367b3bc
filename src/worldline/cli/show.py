"""``worldline show``: print a recorded run, as steps or as a diagram."""

from __future__ import annotations

import argparse
from pathlib import Path

from worldline.cli.options import add_json, print_json

SUMMARY = "print a recorded run, as steps or as a diagram"

DESCRIPTION = """\
Print what happened in a trace: every step with what it sent and changed, and the
verdict. Nothing is run, and the system's source is not needed.
"""

EPILOG = """\
examples:
  worldline show run.wl
  worldline show run.wl --diagram
  worldline show run.wl --mermaid > run.mmd
"""

FORMS = {
    "diagram": "a time line per node, for the terminal",
    "dot": "the event graph, for Graphviz",
    "mermaid": "a sequence diagram, for Mermaid",
    "shiviz": "a log, for ShiViz",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run, form="steps")
    parser.add_argument("trace", metavar="TRACE", type=Path, help="a trace file")
    forms = parser.add_mutually_exclusive_group()
    for form, text in FORMS.items():
        forms.add_argument(
            f"--{form}", dest="form", action="store_const", const=form, help=text
        )
    forms.add_argument(
        "--json",
        dest="form",
        action="store_const",
        const="json",
        help="print one JSON object and nothing else",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a trace."""
    raise NotImplementedError
