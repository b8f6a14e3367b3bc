"""Recordings given where a trace is expected: replayed into one first."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from worldline.cli.loading import load_of_trace
from worldline.model.errors import InputError
from worldline.model.printable import one_line
from worldline.model.system import System


def load_of_recording(
    verb: str, targets: Sequence[str], parameters: Mapping[str, str], folder: Path
) -> System:
    """Load the system of a recording; see `load_of_trace`."""
    from worldline.runs.recording.folder import as_trace_header, header_of

    header = as_trace_header(header_of(folder))
    return load_of_trace(verb, targets, parameters, folder, header)


def as_trace(
    verb: str,
    place: Path,
    targets: Sequence[str],
    parameters: Mapping[str, str],
    *,
    partial: bool = False,
    predicates: Path | None = None,
) -> Path:
    """Return a trace as it is given, and of a recording the one that it is replayed into.

    Raises
    ------
    InputError
        If the recording makes no trace.
    """
    from worldline.trace.journal.segments import has_journals

    if not has_journals(place):
        return place
    from worldline.runs.recording.replay import replay_recording

    system = load_of_recording(verb, targets, parameters, place)
    found = replay_recording(place, system, partial=partial, predicates=predicates)
    if found.file is None or found.window is None:
        raise InputError(
            f"{place} was replayed and made no trace: {found.no_trace}",
            remedy=f"{found.replay} --window FIRST:LAST writes one",
        )
    first, last = found.window
    said = f"{place} was replayed into {found.file}, steps {first:,} to {last:,}"
    if found.divergence is not None:
        said += f"; it ends there, since {found.divergence}"
    print(f"worldline: note: {one_line(said)}", file=sys.stderr)
    return found.file
