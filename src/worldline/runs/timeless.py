"""Searches of systems of which some properties are for runs by a clock alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TypeVar

from worldline.model.errors import Timeless
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.options.common import SystemOptions
from worldline.runs.report import BaseReport, PropertyReport
from worldline.runs.unjudged import telling_where

T = TypeVar("T")
R = TypeVar("R", bound=BaseReport)
Q = TypeVar("Q", bound=SystemOptions)

NOT_HERE = "not judged here: only simulate and replay know times and gauges"

NONE_JUDGED = "no property judged"
"""The bound of a search that had to leave out all that it was asked about."""


def without_timeless(system: System, options: Q, ask: Callable[[System, Q], R]) -> R:
    """Ask something of a system, but of no property that asks for the time or a gauge.

    Parameters
    ----------
    options
        What it is asked with, and which properties were asked for.

    Raises
    ------
    ModelError
        As `about_the_others` does, and as `telling_where` does.
    """

    def about(judged: Sequence[str] | None) -> R:
        asked = system if judged is None else judging(system, judged)
        return telling_where(ask, asked, options)

    pairs = [(prop.name, prop.kind.value) for prop in system.properties]
    return about_the_others(pairs, options.properties, about)


def judging(system: System, names: Sequence[str]) -> System:
    """Return a system with these of its properties alone."""
    left = [prop for prop in system.properties if prop.name in names]
    return system.replace(properties=left)


def about_the_others(
    properties: Sequence[tuple[str, str]],
    names: Sequence[str] | None,
    ask: Callable[[Sequence[str] | None], R],
) -> R:
    """Ask something of all properties but those that ask for the time or a gauge.

    Which ones do is seen when they do: then all is asked again, without them. The report
    names them, and its verdict is about the others: UNKNOWN, not HOLDS, if none is left.

    Parameters
    ----------
    properties
        The name and the kind of each.
    names
        Those that were asked for; None for all.
    ask
        Is given the names of those to judge; None for all.

    Raises
    ------
    ModelError
        If one that was named asks for them, or a predicate that is no property.
    """
    all_names = [name for name, _ in properties]
    optional = all_names if names is None else []
    report, left_out = without(all_names, optional, ask)
    rows = tuple(_row(*one) for one in properties if one[0] in left_out)
    if not rows:
        return report
    report = dataclasses.replace(report, properties=(*report.properties, *rows))
    is_judged = any(r.verdict is not Verdict.NOT_SEARCHED for r in report.properties)
    if is_judged or report.verdict is not Verdict.HOLDS:
        return report
    return dataclasses.replace(report, verdict=Verdict.UNKNOWN, bound=NONE_JUDGED)


def without(
    names: Sequence[str],
    optional: Sequence[str],
    ask: Callable[[Sequence[str] | None], T],
) -> tuple[T, tuple[str, ...]]:
    """Ask something, and again without each property that turns out to ask for the time.

    Parameters
    ----------
    optional
        Those of the names that may be left out.

    Returns
    -------
    tuple
        The answer, and which properties it is not about.
    """
    left_out: list[str] = []
    while True:
        judged = [name for name in names if name not in left_out]
        try:
            return ask(judged if left_out else None), tuple(left_out)
        except Timeless as error:
            if error.prop not in optional or error.prop in left_out:
                raise
            left_out.append(error.prop)


def _row(name: str, kind: str) -> PropertyReport:
    verdict = Verdict.NOT_SEARCHED
    return PropertyReport(name=name, kind=kind, verdict=verdict, explanation=NOT_HERE)
