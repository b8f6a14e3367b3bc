"""Searching on from a recorded run: what happened there is not searched again.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007,
section 4.3: a search that begins where a live run ends, with failures enabled again.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from worldline.loading.loader import same_target
from worldline.model.arguments import check_path
from worldline.model.errors import InputError, UsageError
from worldline.model.events import Schedule
from worldline.model.system import System
from worldline.runs.loading import as_recorded, refuse_undeclared
from worldline.runs.replayed import Divergence
from worldline.runs.rerun import Rerun, changes_since, check_nodes, source_changed
from worldline.runs.restoring import beginning_state, world_of
from worldline.runs.schedule import schedule_of
from worldline.runs.start import Beginning, Start, start_after
from worldline.trace.format import StrPath, read
from worldline.trace.records import BOOT, INJECTED, Header, Trace
from worldline.worlds.checkpoint import Checkpoint, take
from worldline.worlds.world import NotEnabled

_WITH_STEP = re.compile(r"(?P<path>.+):(?P<step>-?[0-9]+)", re.DOTALL)


class Prefix(NamedTuple):
    """A recorded run up to a step.

    Attributes
    ----------
    step
        Its number in the trace; None for the last one.
    """

    path: Path
    step: int | None = None

    @classmethod
    def of(cls, place: StrPath | Prefix | Trace) -> Prefix:
        """Return what a path means, or ``TRACE:STEP``; a file of that name comes first.

        Raises
        ------
        UsageError
            If it is no path, or of no step.

        Examples
        --------
        >>> Prefix.of("live.wl:12").step
        12
        """
        if isinstance(place, Prefix):
            return place
        if isinstance(place, Trace):
            raise UsageError(
                "from_ takes a file, and this is a trace in memory",
                remedy="write it first: worldline.trace.format.write(trace, 'now.wl'), "
                "then from_='now.wl'",
            )
        check_path("from_", place)
        text = os.fspath(place)
        match = _WITH_STEP.fullmatch(text)
        if not isinstance(place, str) or Path(text).exists():
            return cls(Path(text))
        if match is None:
            file, colon, step = text.rpartition(":")
            if colon and Path(file).is_file():
                raise UsageError(
                    f"{step!r} is no step of {file}",
                    remedy=f"give its number, as in {file}:12, or {file} for the end",
                )
            return cls(Path(text))
        return cls(Path(match["path"]), int(match["step"]))


def beginning_after(
    system: System, prefix: Prefix, onward: System | None = None
) -> Beginning:
    """Return the state that a trace has after a step, as the one to begin with.

    The whole run becomes a prologue; see `start_after`. Where it begins in a state, so
    does what is found.

    Parameters
    ----------
    onward
        The system that goes on from there, if it is one with other faults. What it finds
        after a run in which things were done from outside, as one that was recorded,
        begins in the state itself. So it is with either where the run cannot happen in
        the system that goes on, as when a call was made that no workload has.

    Raises
    ------
    InputError
        If the file is no trace, or its run no longer goes as it was recorded.
    UsageError
        If it is the run of another system, or does not have the step, or a handler
        fails there.
    """
    trace = read(prefix.path)
    refuse_undeclared(trace.header, prefix.path, "a search")
    _check_system(trace.header, system, prefix.path)
    whole = _cut(trace, prefix)
    rerun = Rerun(trace.header, world_of(trace, as_recorded(trace.header, system)))
    for step in whole.steps:
        happened = rerun.step(step)
        if isinstance(happened, Divergence):
            raise InputError(
                f"{prefix.path} does not replay any more: {happened.sentence}",
                remedy="record the run again, or begin at an earlier step",
            )
    last = whole.steps[-1].step if whole.steps else 0
    if rerun.world.failure is not None:
        raise UsageError(
            f"step {last} of {prefix.path} is a handler that fails",
            remedy=f"nothing follows it: begin at an earlier step, "
            f"{prefix.path}:{last - 1}",
        )
    boot, prologue, run = schedule_of(whole, system)
    begins = beginning_state(trace, system)
    way = boot, [*prologue, *run]
    start = _start(system, onward, trace.header, way, begins, rerun)
    where = f"step {last} of" if whole.steps or begins is None else "the state in"
    scope = f"from {where} {prefix.path} on"
    if (onward or system).faults.possible():
        scope += ", with every fault as often as allowed"
    changed = f"the source changed since {prefix.path} was recorded"
    notes = (changed,) if source_changed(trace.header, system) else ()
    return Beginning([start], (scope,), prefix.path, notes)


def _start(
    system: System,
    onward: System | None,
    header: Header,
    way: tuple[Schedule, Schedule],
    begins: Checkpoint | None,
    rerun: Rerun,
) -> Start:
    """Return the state that a run has come to, with the way there if it is known."""
    if onward is None or INJECTED not in header.options:
        with contextlib.suppress(NotEnabled):
            return start_after(onward or system, *way, begins)
    return start_after(onward or system, (), (), take(rerun.world))


def _cut(trace: Trace, prefix: Prefix) -> Trace:
    """Return a trace up to the step where a search is to begin."""
    if prefix.step is None:
        return trace
    # There is no state to begin with before all nodes have started.
    booted = [step.step for step in trace.steps if step.phase == BOOT]
    first = booted[-1] if booted else min([1, *(s.step for s in trace.steps)]) - 1
    last = trace.steps[-1].step if trace.steps else first
    if not first <= prefix.step <= last:
        raise UsageError(
            f"{prefix.path} has no step {prefix.step} to begin after",
            remedy=f"give one from {first} to {last}, or none for the end",
        )
    steps = tuple(step for step in trace.steps if step.step <= prefix.step)
    return Trace(trace.header, steps, None)


def _check_system(header: Header, system: System, path: Path) -> None:
    """Refuse a trace of another system, or of other parameters."""
    origin = system.origin
    if origin is None or header.target is None:
        check_nodes(header, system)
        changes = changes_since(header, as_recorded(header, system))
        if changes:
            raise UsageError(
                f"{path} is a run of another system: {changes[0]}",
                remedy="make the system as it was when the run was recorded",
            )
        return
    given = dict(origin.parameters)
    if not same_target(header.target, origin.target):
        raise UsageError(
            f"{path} is a run of {header.target}, not of {origin.target}",
            remedy=f"search {_command(header)}",
        )
    if given != header.parameters:
        names = sorted({*given, *header.parameters})
        name = next(n for n in names if given.get(n) != header.parameters.get(n))
        raise UsageError(
            f"{path} was recorded with {_parameter(name, header.parameters)}, "
            f"not {_parameter(name, given)}",
            remedy=f"search {_command(header)}, which come from the trace: others need "
            "a run of their own",
        )
    check_nodes(header, system)


def _parameter(name: str, given: dict[str, str]) -> str:
    return f"-p {name}={given[name]}" if name in given else f"no -p {name}"


def _command(header: Header) -> str:
    given = "".join(f" -p {k}={v}" for k, v in header.parameters.items())
    return f"{header.target}{given}"
