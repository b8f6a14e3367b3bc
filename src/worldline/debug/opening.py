"""Opening traces for debugging: from files to a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from worldline.debug.session import Session
from worldline.debug.timeline import ProgressCallback, Timeline
from worldline.loading.predicates import with_predicates
from worldline.model.system import System
from worldline.runs.unjudged import as_asked
from worldline.trace.format import StrPath, read
from worldline.trace.records import Header

Load: TypeAlias = Callable[[StrPath, Header], System]
"""Gives the system of a trace, as `worldline.runs.loading.system_of` does."""


def open_session(
    place: StrPath,
    other: StrPath | None = None,
    *,
    load: Load,
    partial: bool = False,
    predicates: StrPath | None = None,
    report: ProgressCallback = lambda done: None,
) -> Session:
    """Open a trace, and perhaps another one to compare it with.

    Parameters
    ----------
    load
        Gives the system of each; asked once for traces that name the same.
    partial
        Whether a file that breaks off is taken for what it has.
    predicates
        A file of properties and gauges, which are added to those of the systems.
    report
        Told now and then how many steps of a trace have been run.

    Raises
    ------
    InputError
        If a file is no trace, or one of a system with other nodes.
    UsageError
        If the traces have other nodes, or the file has no predicates.
    """
    trace = read(place, partial=partial)
    system, notes = _asked(load(place, trace.header), predicates)
    timeline = Timeline(trace, as_asked(system, trace.end), report)
    if other is None:
        return Session(timeline, added=notes)
    second = read(other, partial=partial)
    same = _origin(second.header) == _origin(trace.header)
    theirs = system
    if not same:
        theirs, _ = _asked(load(other, second.header), predicates)
    return Session(
        timeline, Timeline(second, as_asked(theirs, second.end), report), added=notes
    )


def _asked(
    system: System, predicates: StrPath | None
) -> tuple[System, tuple[str, ...]]:
    """Return a system with what a file adds to it, and what to know of that."""
    if predicates is None:
        return system, ()
    return with_predicates(system, Path(predicates))


def _origin(header: Header) -> object:
    """Return what the system of a trace depends on."""
    return header.target, header.parameters, header.options
