"""The run of a violation in short: all its steps, or the first and the last of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from worldline.model.printable import one_line
from worldline.runs.loading import command
from worldline.show.steps import run_lines
from worldline.trace.records import Trace

_FIRST, _LAST = 10, 29
"""How many lines of a long run are shown, of its beginning and of its end."""
_MANY = _FIRST + _LAST + 1
"""Lines of a run that are shown, all of them, where it has no more."""


class HasRun(Protocol):
    """A violation with its run, and the file that this is in; None for none."""

    @property
    def run(self) -> Trace | None:
        """All steps."""

    @property
    def trace(self) -> Path | None:
        """Where they are kept."""


def is_shown_whole(failed: HasRun) -> bool:
    """Say whether a report shows all steps of a violation's run."""
    return failed.run is not None and len(list(run_lines(failed.run))) <= _MANY


def short_run(
    failed: HasRun | None,
    remarks: Mapping[int, str] | None = None,
    *,
    most: int | None = None,
) -> Iterator[str]:
    """Yield the steps of a violation's run; of many lines the first and the last.

    Nothing if there is no run, as where no trace was wanted.

    Parameters
    ----------
    remarks
        What is to be said of steps, by their numbers.
    most
        How many lines are not many yet.
    """
    if failed is None or failed.run is None:
        return
    lines = [one_line(line) for line in run_lines(failed.run, remarks)]
    yield ""
    if len(lines) <= (most or _MANY):
        yield from lines
        return
    where = "the run of this report"
    if failed.trace is not None:
        where = command("show", failed.trace, None)
    yield from lines[:_FIRST]
    yield f"... {len(lines) - _FIRST - _LAST} lines left out; all of them: {where}"
    yield from lines[-_LAST:]
