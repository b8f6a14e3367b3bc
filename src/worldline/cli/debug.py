"""``worldline debug``: walk through a recorded run, forward and back."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from worldline import _command
from worldline.cli.loading import add_target, load_of_trace
from worldline.cli.options import add_json, add_partial, assignments, print_json
from worldline.cli.recordings import as_trace
from worldline.cli.terminal import print_lines, unguarded
from worldline.model.errors import InternalError, WorldlineError

if TYPE_CHECKING:
    from worldline.debug.session import Session
    from worldline.model.system import System
    from worldline.trace.format import StrPath
    from worldline.trace.records import Header

SUMMARY = "walk through a recorded run, forward and back"

DESCRIPTION = """\
The question: what happened in a recorded run, and why?

Open a trace for questions: go to any step, see the state of every node there, what
differs between two steps or two traces, why something happened, at which steps a
property is true. The run is replayed; its system is loaded as for 'worldline replay'. At
a terminal, commands are read from a prompt, and "help" lists them; else one is read from
each line of the input. A recording of 'worldline run' is replayed first; to open the
trace that 'worldline replay' writes of it takes less time.
"""

EPILOG = """\
examples:
  worldline debug run.wl lock.py
  worldline debug run.wl lock.py -c "jump 5; state n1; why"
  worldline debug violating.wl lock.py --beside live.wl -c "compare; diff 5"
  worldline debug worldline-out/lock-run lock.py
  echo "print view[n1].parent" | worldline debug run.wl lock.py --json

Expressions after print and track are Python's, over the state alone. With -c, or from a
pipe, the first command that cannot be answered ends the session, with exit code 2.
"""


_LONG = 2_000
"""Steps that take long enough for somebody to wonder."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(run=run)
    parser.add_argument(
        "trace",
        metavar="TRACE",
        type=Path,
        help="a trace file, or the folder of a recording, which is replayed first",
    )
    add_target(parser)
    parser.add_argument(
        "--beside",
        metavar="OTHER",
        type=Path,
        help="another trace of the system, to compare it with",
    )
    parser.add_argument(
        "--predicates",
        metavar="FILE.py",
        type=Path,
        help="know the properties and gauges of this file, too, as 'worldline replay'",
    )
    parser.add_argument(
        "-c",
        dest="commands",
        metavar="COMMANDS",
        action="append",
        help="answer these commands, between semicolons, and leave; may be repeated",
    )
    add_partial(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Debug a trace."""
    from worldline.debug.opening import open_session

    given = assignments(arguments.parameters)
    made: set[Path] = set()
    """The traces that are made of recordings, of which all is told already."""

    with contextlib.ExitStack() as stack:

        def traced(place: Path) -> Path:
            file = stack.enter_context(
                as_trace(
                    "debug",
                    place,
                    arguments.targets,
                    given,
                    partial=arguments.partial,
                    predicates=arguments.predicates,
                )
            )
            made.update({file} - {place})
            return file

        def load(place: StrPath, header: Header) -> System:
            targets, is_told = arguments.targets, Path(place) in made
            return load_of_trace(
                "debug", targets, given, place, header, is_told=is_told
            )

        session = open_session(
            traced(arguments.trace),
            None if arguments.beside is None else traced(arguments.beside),
            load=load,
            partial=arguments.partial,
            predicates=arguments.predicates,
            report=_report,
        )
    _report(0)
    if arguments.json:
        return _print_objects(session, arguments.commands or _piped())
    if arguments.commands is None and _piped().isatty():
        from worldline.debug.repl import Repl

        _command.begin()
        session.console = sys.stdin, sys.stdout
        Repl(session, sys.stdout).run()
        return 0
    return _print_lines(session, arguments.commands)


def _report(done: int) -> None:
    """Show that a long trace is being replayed, to whoever is waiting."""
    if sys.stderr.isatty() and (done == 0 or done >= _LONG):
        text = f"replayed {done:,} steps" if done else ""
        print(f"\r\033[K{text}", end="", file=unguarded(sys.stderr), flush=True)


def _piped() -> IO[str]:
    """Return standard input; it is None where it was closed from the beginning."""
    return sys.stdin or io.StringIO()


def _print_lines(session: Session, commands: Iterable[str] | None) -> int:
    from worldline.debug.repl import script
    from worldline.debug.text import opening

    session.console = _piped(), sys.stdout
    if commands is None:
        print_lines(opening(session))
    else:
        for note in session.notes:
            print(f"worldline: note: {note}", file=sys.stderr)
    for _, answer in script(session, _piped() if commands is None else commands):
        print_lines(answer.lines)
        sys.stdout.flush()
    return 0


def _print_objects(session: Session, commands: Iterable[str]) -> int:
    """Print one object with the answers, and with the error that ended them."""
    from worldline.debug.commands import COMMANDS
    from worldline.debug.repl import script

    opened = COMMANDS["info"].run(session, "").data
    results = []
    error = None
    try:
        for command, answer in script(session, commands):
            results.append({"command": command, "result": answer.data})
    except InternalError:
        raise
    except WorldlineError as problem:
        error = str(problem)
    print_json({"opened": opened, "results": results, "error": error})
    return 0 if error is None else 2
