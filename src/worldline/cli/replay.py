"""``worldline replay``: run a recorded run again, with the present code."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from worldline.cli.loading import add_target, load_of_trace
from worldline.cli.options import (
    add_json,
    add_partial,
    assignments,
    file_place,
)
from worldline.cli.recordings import load_of_recording
from worldline.model.errors import UsageError

SUMMARY = "run a recorded run again, with the present code"

DESCRIPTION = """\
The question: does a recorded run still go as it did?

Run the schedule of a trace again on the real nodes and compare every step with what
was recorded: what was sent, what changed, and the verdict in the end. The system is
loaded anew, in its present form: of the zoo by itself, any other from TARGET, because a
file must not say what code is run. Its parameters are those of the trace, unless -p says
otherwise.

Of a recording, the folder that 'worldline run' has written, all nodes are run again in
one process, in an order in which everything can have happened, and each property is
judged after each step. What a node received is compared with what its sender sends now;
durable fields, checkpoints and failures with what was recorded. The run becomes an
ordinary trace, for 'show', 'debug', 'query' and 'minimize'. A journal may be torn at its
end, as a kill leaves it, or missing. One that is damaged before, or lacks a segment, is
read with --partial. Of a node of which something is missing, be it the end of its journal,
the state is not known up to its next checkpoint or start, nor is what reads it, nor a gauge
until its resume sets it. The trace says so, too. With --from, properties are judged in
states that are consistent: whatever a node knows of in one has happened there.

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
  worldline replay worldline-out/lock-run lock.py
  worldline replay worldline-out/lock-run lock.py --window 2000:3000 --out part.wl
  worldline replay worldline-out/lock-run lock.py --from 3600

Exit codes: 1 the recorded violation was reproduced, or none was recorded and a safety
property is violated now; 3 one is not known, as a node is absent; 0 the run was reproduced
and violates nothing; 2 the file cannot be used, or the run went otherwise than recorded, and
the first difference is then shown. With --predicates, of a recording, and of its trace: 1
something is violated, 3 a liveness property is false at the end and not due, or something
is not known as a journal or a part of one is missing, 0 neither.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "trace",
        metavar="TRACE",
        type=Path,
        help="a trace file, or the folder of a recording",
    )
    add_target(parser)
    parser.add_argument(
        "--predicates",
        metavar="FILE.py",
        type=Path,
        help="judge after each step the properties of this file, with its gauges, and "
        "those of the system",
    )
    recording = parser.add_argument_group("recordings")
    recording.add_argument(
        "--window",
        metavar="FIRST:LAST",
        type=_window,
        help="the steps to write as a trace (default: all, or of more than 100,000 the "
        "last 20,000 before the first violation; fewer of a system with large states)",
    )
    recording.add_argument(
        "--property",
        dest="prop",
        metavar="NAME",
        help="the property with whose first violation the trace of a long run ends, and "
        "any trace without --window (default: the first that is violated)",
    )
    recording.add_argument(
        "--from",
        dest="since",
        metavar="SECONDS",
        type=_time,
        help="judge from so many seconds after the beginning of the recording on: each "
        "node begins at its last checkpoint or start before that, and catches up",
    )
    recording.add_argument(
        "--out",
        metavar="FILE",
        type=file_place,
        help="where to write the trace (default: worldline-out/NAME-replayed.wl, or "
        "NAME-otherwise.wl of a run that went otherwise)",
    )
    recording.add_argument(
        "--no-trace", action="store_true", help="write no trace of the run"
    )
    add_partial(parser)
    add_json(parser)


def _window(text: str) -> tuple[int, int]:
    """Return the first and the last step that an argument names."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdecimal() and last.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is no FIRST:LAST")
    if not 1 <= int(first) <= int(last):
        raise argparse.ArgumentTypeError(f"{text!r} has no step")
    return int(first), int(last)


def _time(text: str) -> float:
    """Return the seconds that an argument names."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds


_NAMES = {"--from": "since", "--property": "prop"}


def run(arguments: argparse.Namespace) -> int:
    """Replay a trace; return the exit code of what it showed."""
    if arguments.trace.is_dir():
        return _replay_folder(arguments)
    from worldline.cli.answers import answered_shortly
    from worldline.runs.replay import replay_trace
    from worldline.trace.format import read

    for option in ("--window", "--property", "--from", "--out", "--no-trace"):
        name = _NAMES.get(option, option[2:].replace("-", "_"))
        if getattr(arguments, name) not in (None, False):
            raise UsageError(
                f"{option} is for recordings, and {arguments.trace} is a trace",
                remedy="leave it out",
            )
    # A run that breaks off has no verdict; taking it for one that violates nothing
    # has to be asked for.
    trace = read(arguments.trace, partial=arguments.partial)
    given = assignments(arguments.parameters)
    place, targets = arguments.trace, arguments.targets
    system = load_of_trace("replay", targets, given, place, trace.header)
    replayed = replay_trace(
        trace, system, arguments.trace, predicates=arguments.predicates
    )
    answered_shortly(replayed, as_json=arguments.json)
    return replayed.exit_code


def _replay_folder(arguments: argparse.Namespace) -> int:
    """Replay a recording; return the exit code of what it showed."""
    from worldline.cli.answers import answered_shortly
    from worldline.runs.recording.replay import replay_recording

    for option in ("window", "out"):
        if arguments.no_trace and getattr(arguments, option) is not None:
            raise UsageError(
                f"--{option} has no meaning with --no-trace", remedy="leave one out"
            )
    folder, given = arguments.trace, assignments(arguments.parameters)
    system = load_of_recording("replay", arguments.targets, given, folder)
    replayed = replay_recording(
        folder,
        system,
        predicates=arguments.predicates,
        partial=arguments.partial,
        window=arguments.window,
        out=arguments.out,
        since=arguments.since,
        prop=arguments.prop,
        traces=not arguments.no_trace,
    )
    answered_shortly(replayed, as_json=arguments.json)
    return replayed.exit_code
