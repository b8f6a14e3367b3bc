"""Minimisation of the run of a failed test, in little time, and its text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from worldline.minimizing.delays import NOT_KEPT, had_clock
from worldline.minimizing.minimize import minimize_run
from worldline.minimizing.options import MinimizeOptions
from worldline.minimizing.report import MinimizeReport
from worldline.model.errors import WorldlineError
from worldline.model.system import System
from worldline.model.verdicts import INTERRUPTED
from worldline.options.defaults import Asked
from worldline.runs.evidence import shown_by_a_state
from worldline.runs.report import BaseReport, PropertyReport
from worldline.runs.short_run import is_shown_whole, short_run
from worldline.trace.records import Trace

_MOST_LINES = 150
"""Lines of a run that are shown whole: it was made short to be read."""
_ALL = ": these are the steps that the report has"
_SOME = "; the report leaves some of its steps out, which are these"


class Shortened(NamedTuple):
    """A run made short.

    Attributes
    ----------
    text
        In words, with its steps and the command that replays it; nothing where there is
        no run that a search could shorten.
    is_interrupted
        Whether Ctrl-C ended that.
    """

    text: str
    is_interrupted: bool = False


def shortened(asked: Asked, seconds: float) -> Shortened:
    """Return the run of a report that violates something, as short as it could be made.

    Parameters
    ----------
    asked
        The call of which the report is the answer.
    seconds
        How long to try, about.
    """
    report: BaseReport = asked.answer
    row = report.violated
    if row is None or row.run is None or row.trace is None:
        return Shortened("")
    if not shown_by_a_state(row.run):
        return Shortened("")
    begin = time.monotonic()
    try:
        short = minimize_run(row.run, row.trace, _options(asked, seconds))
    except WorldlineError as error:
        return Shortened(f"its run was not made short: {error}")
    lines = [*_head(row, short, time.monotonic() - begin), *_steps(row.run, short)]
    return Shortened("\n".join(lines), short.bound == INTERRUPTED)


def _options(asked: Asked, seconds: float) -> MinimizeOptions:
    is_made = isinstance(asked.subject, System)
    given: Mapping[str, Any] = {
        "system": asked.subject,
        "parameters": None if is_made else asked.options.parameters,
        "predicates": getattr(asked.options, "predicates", None),
        "max_seconds": seconds,
        "certify": 0,  # what no run can be shorter than takes long to find out
        "threads": 1,  # other tests run on the other cores
    }
    return MinimizeOptions.of(**given)


def _head(before: PropertyReport, short: MinimizeReport, seconds: float) -> list[str]:
    """Say how short it has become, and what replays it."""
    row = short.properties[0]
    said = ", ".join([short.sizes, *([short.level] if short.level else [])])
    lines = [f"{row.name}, shortened in {seconds:.1f} s: {said}"]
    if short.bound is not None:
        more = before.minimize or "wl.minimize(...)"
        lines.append(f"  cut off (bound: {short.bound}); with more time: {more}")
    if before.run is not None and had_clock(before.run):
        lines.append(f"  {NOT_KEPT}")
    if short.slipped:
        lines.append("  slipped: the original was violated in another way")
    if row.explanation != before.explanation:
        lines += [f"  {line}" for line in row.explanation.splitlines()]
    if row.replay is not None:
        lines.append(f"  replay {row.replay}")
    elif row.unwritten:
        lines.append(f"  no trace: {row.unwritten}")
    return lines


def _steps(original: Trace, short: MinimizeReport) -> Iterator[str]:
    row = short.properties[0]
    if row.run is None:
        return
    if short.initial == short.final and _is_same(original, row.run):
        whole = is_shown_whole(original)
        yield f"  nothing shorter was found{_ALL if whole else _SOME}"
        if whole:
            return
    yield from short_run(row.run, row.trace, short.remarks(), most=_MOST_LINES)


def _is_same(original: Trace, short: Trace) -> bool:
    """Say whether two runs have the same steps, whatever their times."""
    if len(original.steps) != len(short.steps):
        return False
    pairs = zip(original.steps, short.steps, strict=True)
    return all(replace(a, time=None) == replace(b, time=None) for a, b in pairs)
