"""The output of a search at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from worldline.cli.options import print_json
from worldline.cli.terminal import answering, print_lines

_MOST = 1_000
"""Lines of a run that are printed whole; a terminal keeps as many."""

if TYPE_CHECKING:
    from worldline.minimizing.report import MinimizeReport
    from worldline.runs.report import BaseReport, PropertyReport


def answered(report: BaseReport, *, as_json: bool) -> int:
    """Print a report and the run to its first violation; return the exit code."""
    with answering():
        if as_json:
            print_json(report.to_json())
        else:
            print(report)
            _print_steps(report.violated, report.remarks())
    assert report.verdict is not None
    return report.verdict.exit_code


def answered_twice(
    report: BaseReport,
    shorter: MinimizeReport | None,
    *,
    as_json: bool,
    shows_steps: bool = True,
) -> int:
    """Print a report, and that of the minimisation of its run, whose steps are shown.

    Parameters
    ----------
    shorter
        None if there is nothing to minimise, or it is refused.
    shows_steps
        Whether the steps of the run follow where there is no shorter one.
    """
    assert report.verdict is not None
    with answering():
        if as_json:
            minimized = None if shorter is None else shorter.to_json()
            print_json({**report.to_json(), "minimized": minimized})
            return report.verdict.exit_code
        print(report)
        if shorter is not None:
            print()
            answered(shorter, as_json=False)
        elif shows_steps:
            _print_steps(report.violated, report.remarks())
    return report.verdict.exit_code


def answered_shortly(report: BaseReport, *, as_json: bool) -> None:
    """Print a report alone: its words say all."""
    with answering():
        if as_json:
            print_json(report.to_json())
        else:
            print(report)


def _print_steps(first: PropertyReport | None, remarks: Mapping[int, str]) -> None:
    """Print the run that leads to the first violation; of a long one begin and end."""
    if first is None or first.run is None:
        return
    from worldline.runs.short_run import short_run

    print_lines(short_run(first.run, first.trace, remarks, most=_MOST))
