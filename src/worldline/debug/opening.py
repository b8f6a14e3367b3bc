"""Opening traces for debugging: from files to a session."""

from __future__ import annotations

from worldline.debug.session import Session
from worldline.debug.timeline import Report, Timeline
from worldline.model.system import System
from worldline.trace.format import Place, read
from worldline.trace.rerun import as_recorded, system_of


def open_session(
    place: Place,
    other: Place | None = None,
    *,
    system: System | None = None,
    partial: bool = False,
    report: Report = lambda done: None,
) -> Session:
    """Open a trace, and perhaps another one to compare it with.

    Parameters
    ----------
    system
        The system of both; by default each is loaded from where its trace says.
    partial
        Whether a file that breaks off is taken for what it has.
    report
        Told now and then how many steps of a trace have been run.

    Raises
    ------
    InputError
        If a file is no trace, or one of a system with other nodes.
    UsageError
        If a system cannot be loaded, or the traces have other nodes.
    """
    trace = read(place, partial=partial)
    call = "open_session(path, system=...)"
    mine = system_of(trace.header, call=call) if system is None else system
    timeline = Timeline(trace, as_recorded(trace.header, mine), report)
    if other is None:
        return Session(timeline)
    second = read(other, partial=partial)
    header = second.header
    same = (header.target, header.parameters) == (
        trace.header.target,
        trace.header.parameters,
    )
    theirs = mine if same or system is not None else system_of(header, call=call)
    return Session(timeline, Timeline(second, as_recorded(header, theirs), report))
