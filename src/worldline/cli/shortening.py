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
    from worldline.runs.report import BaseReport

ReportT = TypeVar("ReportT", bound="BaseReport")


def add_minimize(parser: argparse.ArgumentParser) -> None:
    """Let a verb minimise what it finds."""
    parser.add_argument(
        "--minimize",
        action="store_true",
        help="make the run that is found as short as it can be, as 'worldline minimize' "
        "does by default; the exit code stays",
    )


def place_beside(trace: Path, kept: Iterable[Path | None]) -> Path:
    """Return where the shorter run of a trace goes: in the place of nothing that is kept.

    Parameters
    ----------
    kept
        What a command was given, and what else it has written; None is nothing.
    """
    from worldline.minimizing.files import beside, untaken

    return untaken(beside(trace), [trace, *(one for one in kept if one is not None)])


def begun_with(arguments: argparse.Namespace) -> Path | None:
    """Return the trace that a command line says to begin with, if it says so."""
    from worldline.runs.prefix import Prefix

    place = getattr(arguments, "from_", None)
    return None if place is None else Prefix.of(place).path


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
    from worldline.minimizing.minimize import minimize
    from worldline.model.errors import UsageError

    if report.trace is None:
        return report, None
    kept = [begins_in, *(row.trace for row in report.properties)]
    out = place_beside(report.trace, kept)
    given: dict[str, Any] = {"system": load(), "out": out}
    try:
        with told(report.system, shrink_line) as progress:
            return report, minimize(report.trace, **given, progress=progress)
    except UsageError as error:
        note = f"not minimised: {error.what}"
        notes = (*report.notes, note)
        return dataclasses.replace(report, notes=notes), None
