"""Recordings given where a trace is expected: replayed into one first."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from worldline import _command
from worldline.cli.loading import How, add_parameters, load_of_trace
from worldline.cli.termination import ended_by_termination
from worldline.model.errors import InputError
from worldline.model.printable import one_line
from worldline.model.system import System


def add_target_option(parser: argparse.ArgumentParser) -> None:
    """Let a verb that needs no system for a trace take that of a recording, and -p."""
    parser.add_argument(
        "--target",
        metavar="TARGET",
        action="append",
        default=[],
        help="what loads the system of a recording; not needed for zoo:NAME",
    )
    add_parameters(parser, "the recording's")


def again_with_target(given: Sequence[str]) -> How:
    """Return how a command line is written with the target that it lacks."""

    def how(hint: str | None) -> str:
        return shlex.join(["worldline", *given, "--target", hint or "TARGET"])

    return how


def load_of_recording(
    verb: str,
    targets: Sequence[str],
    parameters: Mapping[str, str],
    folder: Path,
    how: How | None = None,
) -> System:
    """Load the system of a recording; see `load_of_trace`."""
    from worldline.runs.recording.folder import as_trace_header, header_of

    header = as_trace_header(header_of(folder))
    return load_of_trace(verb, targets, parameters, folder, header, how)


@contextlib.contextmanager
def as_trace(
    verb: str,
    place: Path,
    targets: Sequence[str],
    parameters: Mapping[str, str],
    *,
    partial: bool = False,
    predicates: Path | None = None,
    how: How | None = None,
) -> Iterator[Path]:
    """Give a trace as it is given, and of a recording one for as long as the block runs.

    Parameters
    ----------
    how
        Returns what to write instead, where the target of a recording is missing.

    Raises
    ------
    InputError
        If the recording makes no trace.
    """
    from worldline.trace.journal.segments import has_journals

    if not has_journals(place):
        yield place
        return
    from worldline.runs.recording.replay import replay_recording

    system = load_of_recording(verb, targets, parameters, place, how)
    _command.begin()  # from here on there is a folder to be removed
    with (
        ended_by_termination(),
        tempfile.TemporaryDirectory(prefix="worldline-replayed-") as folder,
    ):
        file = Path(folder) / "run.wl"
        found = replay_recording(
            place, system, partial=partial, predicates=predicates, out=file
        )
        if found.file is None or found.window is None:
            raise InputError(
                f"{place} was replayed and made no trace: {found.no_trace}",
                remedy=f"{found.replay} --window FIRST:LAST writes one",
            )
        said = f"{place} was replayed, {found.spanned}"
        if found.divergence is not None:
            said += f"; it ends there, since {found.divergence}"
        said += f"; to keep them as a trace: {found.replay}"
        print(f"worldline: note: {one_line(said)}", file=sys.stderr)
        yield file
