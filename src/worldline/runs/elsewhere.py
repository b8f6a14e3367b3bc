"""Runs that violate what their system does not declare: the file of predicates is missing.

A trace keeps the name of that file as a hint for people. Nothing loads it by itself,
since a trace is data.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

from worldline.loading.predicates import PREDICATES
from worldline.model.printable import one_line
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.record import UNDECLARED, declared
from worldline.runs.report import PropertyReport
from worldline.trace.format import StrPath
from worldline.trace.records import Trace


def elsewhere(trace: Trace, system: System, *, reproduced: bool = False) -> str:
    """Return how what a run violates is not the system's; empty if nobody can tell.

    Parameters
    ----------
    reproduced
        Whether the system's own property of that name is violated, too.
    """
    end = trace.end
    if end is None or end.verdict != Verdict.VIOLATED.value or end.property is None:
        return ""
    prop = declared(system, end.property)
    what = ""
    if prop is None and end.property not in UNDECLARED:
        what = f"{system.name} has no property {end.property!r}"
    elif prop is not None and end.kind not in (None, prop.kind.value):
        what = (
            f"{end.property} of {system.name} is a {prop.kind.value} property, and the "
            f"one that the run violates a {end.kind} property"
        )
    if what:
        return f"{what}: what the run violates was declared elsewhere"
    if (
        not reproduced
        and system.predicates is None
        and PREDICATES in trace.header.options
    ):
        return "the run was recorded with properties that were declared elsewhere"
    return ""


def asked_with(row: PropertyReport, file: StrPath) -> PropertyReport:
    """Return a row whose commands name the file that declares its property."""
    more = f" --predicates {shlex.quote(os.fspath(file))}"
    replay = None if row.replay is None else row.replay + more
    minimize = None if row.minimize is None else row.minimize + more
    return replace(row, replay=replay, minimize=minimize)


def remedy(trace: Trace) -> str:
    """Return what to add to a command, so that it knows the predicates of a run."""
    hint = trace.header.options.get(PREDICATES)
    if not isinstance(hint, str):
        return "if a file of predicates has it, add --predicates FILE.py"
    return f"add --predicates {shlex.quote(one_line(hint))}"
