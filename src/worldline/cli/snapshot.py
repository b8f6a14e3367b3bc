"""``worldline snapshot``: where a running node and those around it are, as a trace."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from worldline.cli.options import add_json, place, print_json
from worldline.cli.terminal import answering

if TYPE_CHECKING:
    from worldline.trace.records import Trace

SUMMARY = "write where a running node and those around it are, as a trace"

DESCRIPTION = """\
The question: in what state are a running node and those around it, right now?

A node of 'worldline run --mode predict --control PORT' (or check, or steer) is asked to
gather the states of those around it, and what is under way between them: a consistent
state, though nothing stops. It is written as a trace without steps, in which a search can
begin. Nodes that did not answer are absent: nothing is known of them there.
"""

EPILOG = """\
URL is the address that the run has written into its recording, with the token in it, the
file where it stands, or the folder of the recording. Only this machine is asked.

examples:
  worldline run lock.py --mode predict --control 0 --together
  worldline snapshot worldline-out/lock-run --node a --out here.wl
  worldline predict lock.py --from here.wl
  worldline show here.wl

Exit codes: 0 written, 2 it could not be had or written.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "url",
        metavar="URL",
        help="the address of control, the file that has it, or the folder of the run",
    )
    parser.add_argument(
        "--node", metavar="NAME", required=True, help="whose neighbourhood it is"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=place, required=True, help="where it goes"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Ask for a snapshot and write it; the exit code is 0."""
    from worldline.cli.options import refuse_no_file
    from worldline.deploy.control.client import snapshot_of
    from worldline.model.printable import one_line
    from worldline.trace.format import write

    out: Path = arguments.out
    refuse_no_file(out)
    trace = snapshot_of(arguments.url, arguments.node)
    write(trace, out)
    known, absent = _names(trace)
    target = trace.header.target or "TARGET"
    again = shlex.join(["worldline", "predict", target, "--from", str(out)])
    with answering():
        if arguments.json:
            print_json(
                {
                    "system": trace.header.system,
                    "node": arguments.node,
                    "nodes": known,
                    "absent": absent,
                    "trace": str(out),
                    "predict": again,
                }
            )
        else:
            print(one_line(f"{trace.header.system}: {', '.join(known)}"))
            if absent:
                print(one_line(f"  absent    {', '.join(absent)}"))
            print(f"  snapshot  {out}")
            print(one_line(f"  predict   {again}"))
    return 0


def _names(trace: Trace) -> tuple[list[str], list[str]]:
    """Return the names of the nodes that a state has, and of those that are absent."""
    assert trace.state is not None, "it is a snapshot"
    return [node.name for node in trace.state.nodes], [*trace.state.absent]
