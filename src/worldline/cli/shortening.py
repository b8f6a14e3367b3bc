"""Minimising at once what a search has found: ``--minimize``."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from worldline.minimizing.report import MinimizeReport
    from worldline.model.system import System
    from worldline.runs.report import BaseReport, PropertyReport

ReportT = TypeVar("ReportT", bound="BaseReport")


def add_minimize(parser: argparse.ArgumentParser) -> None:
    """Let a verb minimise what it finds."""
    parser.add_argument(
        "--minimize",
        action="store_true",
        help="make the run that is found as short as it can be, as 'worldline minimize' "
        "does by default; the exit code stays",
    )


def begun_with(arguments: argparse.Namespace) -> Path | None:
    """Return the trace that a command line says to begin with, if it says so."""
    from worldline.runs.prefix import Prefix

    place = getattr(arguments, "from_", None)
    return None if place is None else Prefix.of(place).path


def shorter_run(
    row: PropertyReport, kept: Iterable[Path], **given: Any
) -> MinimizeReport:
    """Minimise a run that was just found, with the options that are given by name.

    Parameters
    ----------
    kept
        The traces that a command was given, and those that it has written: the shorter
        run takes the place of none.

    Raises
    ------
    UsageError, InputError
        As `worldline.minimize` does.
    """
    from worldline.minimizing.files import beside
    from worldline.minimizing.minimize import minimize_run
    from worldline.minimizing.options import MinimizeOptions
    from worldline.runs.evidence import untaken

    assert row.trace is not None
    assert row.run is not None
    out = untaken(beside(row.trace), kept)
    return minimize_run(row.run, row.trace, MinimizeOptions.of(**given, out=out))


def shortened(
    report: ReportT, load: Callable[[], System], begins_in: Path | None = None
) -> tuple[ReportT, MinimizeReport | None]:
    """Minimise the run of a report; return both reports.

    Parameters
    ----------
    load
        Gives the system; not called if there is no run.
    begins_in
        The trace that the search began with, which stays as it is.

    Returns
    -------
    tuple
        The report, with a note if its run cannot be minimised; and that of the
        minimisation, None without a run.
    """
    from worldline.cli.progress import shrink_line, told
    from worldline.model.errors import UsageError

    row = report.violated
    if row is None or row.trace is None:
        return report, None
    found = [begins_in, *(one.trace for one in report.properties)]
    kept = [one for one in found if one is not None]
    system = load()
    try:
        with told(report.system, shrink_line) as progress:
            return report, shorter_run(row, kept, system=system, progress=progress)
    except UsageError as error:
        note = f"not minimised: {error.what}"
        notes = (*report.notes, note)
        return dataclasses.replace(report, notes=notes), None
