"""The command ``worldline``: its verbs, its errors, its exit codes."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from worldline import _command
from worldline._command import INTERRUPTED
from worldline._version import __version__
from worldline.cli import (
    check,
    debug,
    faults,
    fuzz,
    minimize,
    predict,
    query,
    replay,
    run,
    show,
    simulate,
    snapshot,
    walk,
    zoo,
)
from worldline.cli.exits import raise_exits
from worldline.cli.options import not_usable
from worldline.cli.terminal import (
    OUTPUT,
    cannot_print,
    give_up_output,
    guarded,
    reclaim,
    set_aside,
)
from worldline.model.errors import (
    InternalError,
    UsageError,
    WorldlineError,
    refuse_no_asserts,
)
from worldline.model.printable import one_line
from worldline.model.usercode.interrupts import at_the_second
from worldline.model.usercode.user_errors import escaped

VERBS = {
    "check": check,
    "debug": debug,
    "faults": faults,
    "fuzz": fuzz,
    "minimize": minimize,
    "predict": predict,
    "query": query,
    "replay": replay,
    "run": run,
    "show": show,
    "simulate": simulate,
    "snapshot": snapshot,
    "walk": walk,
    "zoo": zoo,
}

BAD_INPUT = 2
BROKEN_PIPE = 141
"""What a shell reports for a program ended by SIGPIPE."""

_TARGET = re.compile(r"zoo:.|.+\.py(:\w+)?$")
"""What can only be a target."""

_DESCRIPTION = """\
Worldline runs a distributed system, described in Python, in every order of messages,
timers and faults that its network and fault budgets allow, and reports the runs that
break a property. Each is a file that can be shown and run again.
"""

_EPILOG = """\
examples:
  worldline check zoo:toy                       every run of a built-in system
  worldline check lock.py -p clients=2          your own: lock.py has system(clients=...)
  worldline show worldline-out/lock-mutex.wl    the steps of the run that was found
  worldline replay worldline-out/lock-mutex.wl lock.py    run it again, as it is now
  worldline faults zoo:kafka                    the fewest faults that break a program
  worldline zoo list                            the built-in systems and their bugs

exit codes:
  0  HOLDS, or done
  1  VIOLATED, or the violation was reproduced
  2  bad usage, or input that cannot be used
  3  UNKNOWN: a bound was hit, or the command was interrupted
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line and point to the help."""

    _is_within = False
    """Whether it parses a part of what it was given."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"worldline: error: {message}; see '{self.prog} --help'\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse here what a verb does not know: the parser above has another help."""
        if self._is_within or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        # By itself, what may be left out is taken for left out before the first option.
        self._is_within = True
        try:
            parsed, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._is_within = False
        if unknown:
            meant = self._meant(unknown, [*vars(parsed).values()])
            self.error(f"unrecognized arguments: {' '.join(unknown)}{meant}")
        return parsed, unknown

    def _meant(self, unknown: Sequence[str], known: Sequence[Any]) -> str:
        """Return which flag is probably meant.

        Parameters
        ----------
        known
            What was taken for something else, such as the target for the SQL.
        """
        import difflib  # for mistakes alone

        if "--target" in self._option_string_actions:
            for word in (unknown[0], *known):
                if isinstance(word, str) and _TARGET.match(word):
                    return f" (did you mean --target {word}?)"
        flag = unknown[0].partition("=")[0]
        near = difflib.get_close_matches(flag, self._option_string_actions, 1, 0.7)
        return f" (did you mean {near[0]}?)" if near and flag[:2] == "--" else ""


def build_parser(given: Sequence[str] = tuple(VERBS)) -> Parser:
    """Return the parser of a command line: of the verbs, those in it have their flags."""
    parser = Parser(
        prog="worldline",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version", action="version", version=f"worldline {__version__}"
    )
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, module in VERBS.items():
        verb = verbs.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name in given:
            module.configure(verb)  # what takes options loads what they are
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv
        The arguments after the program's name; those of the process if None.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    SystemExit
        With code 2 if the arguments are not understood, with 0 after ``--help`` and
        ``--version``.
    """
    with guarded():
        status = _answered(argv)
        _command.end(status)
    return status


def _answered(argv: Sequence[str] | None) -> int:
    """Run one command, and turn every error into a message and an exit code."""
    arguments: argparse.Namespace | None = None
    try:
        if _command.IS_COMMAND:
            at_the_second(_command.quit_at_once)
            raise_exits()
        given = sys.argv[1:] if argv is None else list(argv)
        _refuse_null(given)
        arguments = build_parser(given).parse_args(given)
        refuse_no_asserts()
        if getattr(arguments, "json", False):
            set_aside()
        arguments.given = given  # for what is to be written instead
        status: int = arguments.run(arguments)
        reclaim()
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()  # whoever read it has gone
        return BROKEN_PIPE
    except KeyboardInterrupt:
        reclaim()
        _command.interrupted()
        _say("worldline: interrupted")
        return INTERRUPTED
    except InternalError:
        reclaim()
        return _confess()
    except WorldlineError as error:
        reclaim()
        return _refuse(error)
    except OSError as error:
        reclaim()
        give_up_output()  # it may be what failed
        if error.filename == OUTPUT:
            return _refuse(UsageError(cannot_print(error)))
        return _refuse(not_usable(error))
    except BaseException as error:
        reclaim()
        if arguments is None:
            raise
        # SystemExit too, which is the user's, and would say HOLDS.
        theirs = escaped(error)
        return _confess() if theirs is None else _refuse(theirs)
    return status


def _refuse_null(given: list[str]) -> None:
    """Refuse what no file, system or property can be called."""
    for text in given:
        if "\0" in text:
            raise UsageError(
                f"the argument {text!r} has a null character", remedy="leave it out"
            )


def _refuse(error: WorldlineError) -> int:
    """Report what is wrong with the arguments, the files or the user's code."""
    text = str(error) if error.has_lines else one_line(str(error))
    if isinstance(error, UsageError) and error.flag:
        text = error.flag + text.removeprefix(error.option)
    _say(f"worldline: error: {text}")
    return BAD_INPUT


def _confess() -> int:
    """Report an error of our own: unlike the user's, with its traceback.

    Never with Python's exit code for it, which is 1 and would say VIOLATED.
    """
    _say(
        f"{traceback.format_exc()}worldline: internal error: this is a bug in Worldline; "
        "please report it with the lines above"
    )
    return BAD_INPUT


def _say(text: str) -> None:
    """Print to standard error, if that takes it: the exit code says the rest.

    Python's own, where nobody can be told why, is 1, and would say VIOLATED.
    """
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
