"""The system of a trace that stands on a command line."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from worldline.cli.options import assignments
from worldline.model.errors import UsageError
from worldline.model.printable import one_line

if TYPE_CHECKING:
    from worldline.model.system import System
    from worldline.trace.format import StrPath
    from worldline.trace.records import Header


_LONGEST = 1_000
"""Characters of the parameters of a file that are told."""

How: TypeAlias = Callable[[str | None], str]
"""Returns what to write instead, for the target that a file names."""


def add_target(parser: argparse.ArgumentParser) -> None:
    """Let a verb that runs a trace again take its system, and parameters."""
    parser.add_argument(
        "targets",
        metavar="TARGET",
        nargs="*",
        help="the system, as for 'worldline check', or the files of a program; not "
        "needed for zoo:NAME",
    )
    add_parameters(parser, "the trace's")


def add_parameters(parser: argparse.ArgumentParser, whose: str) -> None:
    """Let a verb take parameters instead of those that a file has."""
    parser.add_argument(
        "-p",
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help=f"a parameter of the system's function, instead of {whose}; may be repeated",
    )


def load_of_trace(
    verb: str,
    targets: Sequence[str],
    parameters: Mapping[str, str],
    place: StrPath,
    header: Header,
    how: How | None = None,
    *,
    is_told: bool = False,
) -> System:
    """Load the system of a trace, and tell the parameters that the file gives it.

    Parameters
    ----------
    is_told
        Whether they have been told, of the recording that the trace was made from.

    Raises
    ------
    UsageError
        If it is not of the zoo and no target is given, or it cannot be loaded.
    """
    from worldline.runs.loading import command, loaded, named

    def usual(hint: str | None) -> str:
        return command(verb, place, hint or "TARGET")

    words = named(header, targets, parameters, how=how or usual)
    if not is_told:
        _tell(words, header, parameters, place)
    return loaded(header, words, {**header.parameters, **parameters})


def load_of_search(verb: str, arguments: argparse.Namespace) -> System:
    """Load the system of a search, which may begin where a trace ends.

    Raises
    ------
    UsageError
        If there is no target, or it cannot be loaded.
    """
    from worldline.loading.loader import load, same_target
    from worldline.runs.loading import named, words_of
    from worldline.runs.prefix import Prefix
    from worldline.trace.format import read_header

    given = assignments(arguments.parameters or ())
    target: str | None = arguments.target
    if getattr(arguments, "from_", None) is None:  # not every verb has it
        if target is None:
            raise UsageError(
                "the following arguments are required: TARGET",
                remedy=f"see 'worldline {verb} --help'",
            )
        return load(target, given)

    def how(hint: str | None) -> str:
        words = ["TARGET"] if hint is None else words_of(hint)
        return shlex.join(["worldline", verb, *words, "--from", arguments.from_])

    place = Prefix.of(arguments.from_).path
    header = read_header(place)
    (word,) = named(header, target, given, how=how)
    if header.target is not None and same_target(word, header.target):
        _tell([word], header, given, place)
        given = {**header.parameters, **given}
    return load(word, given)


def _tell(
    words: Sequence[str], header: Header, given: Mapping[str, str], place: StrPath
) -> None:
    """Tell which parameters come from a file, before any code gets them."""
    taken = [f"{k}={v}" for k, v in header.parameters.items() if k not in given]
    if taken:
        text = "".join(f" -p {shlex.quote(parameter)}" for parameter in taken)
        from worldline.trace.json_text import shorten

        shown = shorten(text, _LONGEST)  # a file may say anything
        said = f"{shlex.join(words)} is loaded with{shown}, as {place} says"
        print(f"worldline: note: {one_line(said)}", file=sys.stderr)
