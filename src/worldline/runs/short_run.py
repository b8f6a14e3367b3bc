"""The run of a violation in short: all its steps, or the first and the last of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from worldline.model.printable import one_line
from worldline.runs.loading import command
from worldline.show.steps import run_lines
from worldline.trace.records import Trace

_FIRST, _LAST = 10, 29
"""How many lines of a long run are shown, of its beginning and of its end."""
_MANY = _FIRST + _LAST + 1
"""Lines of a run that are shown, all of them, where it has no more."""


def is_shown_whole(run: Trace) -> bool:
    """Say whether a report shows all steps of a run."""
    return len(list(run_lines(run))) <= _MANY


def short_run(
    run: Trace,
    file: Path | None,
    remarks: Mapping[int, str] | None = None,
    *,
    most: int | None = None,
) -> Iterator[str]:
    """Yield the steps of a run; of many lines the first and the last.

    Parameters
    ----------
    file
        Where it is, if it is in a file.
    remarks
        What is to be said of steps, by their numbers.
    most
        How many lines are not many yet.
    """
    lines = [one_line(line) for line in run_lines(run, remarks)]
    yield ""
    if len(lines) <= (most or _MANY):
        yield from lines
        return
    where = "the run of this report"
    if file is not None:
        where = command("show", file, None)
    yield from lines[:_FIRST]
    yield f"... {len(lines) - _FIRST - _LAST} lines left out; all of them: {where}"
    yield from lines[-_LAST:]
