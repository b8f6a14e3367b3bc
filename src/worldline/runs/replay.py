"""Replaying a trace: run it again, compare every step with what was recorded."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from pathlib import Path

from worldline.model.errors import refuse_no_asserts
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import replay_of
from worldline.runs.explain import explain
from worldline.runs.lasso import Cycle
from worldline.runs.loading import TraceTarget, call, system_of
from worldline.runs.record import DEADLOCK, declared
from worldline.runs.replayed import Divergence, Replayed
from worldline.runs.report import PropertyReport
from worldline.runs.rerun import (
    Rerun,
    changes_since,
    check_nodes,
    source_changed,
)
from worldline.runs.restoring import world_of
from worldline.show.phrases import NO_PROOF
from worldline.trace.format import StrPath, read
from worldline.trace.records import End, Trace
from worldline.worlds.world import World


def replay(
    path: StrPath,
    system: TraceTarget | None = None,
    *,
    parameters: Mapping[str, str] | None = None,
) -> Replayed:
    """Run a trace again, in the present form of its system, and compare.

    Parameters
    ----------
    path
        The trace. One that breaks off is replayed as far as it goes.
    system
        The system, or the target that loads it, such as ``counter.py``; of a program,
        its files. What the trace names is loaded by itself only if it is of the zoo.
    parameters
        For the function that makes the system; those of the trace, where not given.

    Raises
    ------
    InputError
        If the file is no trace, or one of a system with other nodes.
    UsageError
        If the system has to be given and is not, or cannot be loaded.
    """
    refuse_no_asserts()
    trace = read(path, partial=True)
    how = functools.partial(call, path)
    loaded = system_of(trace.header, system, parameters, how=how)
    return replay_trace(trace, loaded, path)


def replay_trace(trace: Trace, system: System, path: StrPath) -> Replayed:
    """Run a trace again that was read from a file, on its system; see `replay`."""
    header, end = trace.header, trace.end
    check_nodes(header, system)
    begin = time.perf_counter()
    right, explanation = False, ""
    with listening(), watched():
        world, verified, divergence, cycle = _rerun(trace, system)
        seconds = time.perf_counter() - begin
        if divergence is None:
            right, explanation = _judge(world, trace, cycle)
    again = replay_of(Path(path), header.target)
    verdict = None if end is None else _of_one_run(Verdict(end.verdict))
    rows = _rows(trace, verdict, explanation, Path(path), again)
    return Replayed(
        system=header.system,
        verified=verified,
        steps=len(trace.steps),
        verdict=verdict,
        properties=rows,
        property_name=None if end is None else end.property,
        reproduced=right,
        divergence=divergence,
        explanation=explanation,
        source_changed=source_changed(header, system),
        notes=changes_since(header, system),
        seconds=seconds,
        kind="" if end is None else end.kind or "",
        seed=header.seed,
        file=Path(path),
        command=again,
    )


def _rows(
    trace: Trace, verdict: Verdict | None, explanation: str, file: Path, again: str
) -> tuple[PropertyReport, ...]:
    """Return what is said of the property that a run is about, if it is about one."""
    end = trace.end
    if end is None or end.property is None or verdict is None:
        return ()
    report = PropertyReport(
        name=end.property,
        kind=end.kind or "",
        verdict=verdict,
        trace=file,
        steps=len(trace.steps),
        replay=again,
        explanation=explanation,
        cycle=end.cycle,
        run=trace,
    )
    return (report,)


def _of_one_run(recorded: Verdict) -> Verdict:
    """Return what a run can show: a violation, else nothing about other runs."""
    return recorded if recorded is Verdict.VIOLATED else Verdict.UNKNOWN


def _rerun(
    trace: Trace, system: System
) -> tuple[World, int, Divergence | None, Cycle | None]:
    """Run steps until one goes otherwise; return how many went as recorded.

    Of a run that never ends, the steps that it repeats for ever are watched.
    """
    rerun, end = Rerun(trace.header, world_of(trace, system)), trace.end
    prop = None if end is None else declared(system, end.property)
    cycle = None
    if end is not None and end.cycle is not None and prop is not None:
        cycle = Cycle(rerun.world, prop)
    for verified, step in enumerate(trace.steps):
        watched = cycle if end and end.cycle and step.step >= end.cycle else None
        if watched is not None:
            watched.look()
        happened = rerun.step(step)
        if isinstance(happened, Divergence):
            return rerun.world, verified, happened, cycle
        if watched is not None:
            watched.take(happened, rerun.timers(step))
    return rerun.world, len(trace.steps), None, cycle


def _judge(world: World, trace: Trace, cycle: Cycle | None) -> tuple[bool, str]:
    """Say whether the recorded verdict is right at the end of the run, and why."""
    end = trace.end
    if end is None:
        last = trace.steps[-1].step if trace.steps else 0
        return True, f"the trace is truncated after step {last}; it has no verdict"
    verdict = Verdict(end.verdict)
    prop = declared(world.system, end.property)
    if prop is not None:
        if verdict is Verdict.VIOLATED:
            explanation = explain(world, prop)
            if cycle is not None:
                reason = str(explanation or f"{prop.name} is false on the cycle")
                return not cycle.objection(), cycle.objection() or reason
            return explanation is not None, str(
                explanation or f"{prop.name} is true at the end"
            )
        # A run that is live; older files say of it that the property holds.
        if prop.kind is not PropertyKind.SAFETY:
            explanation = explain(world, prop)
            return explanation is None, NO_PROOF if explanation is None else str(
                explanation
            )
        return True, NO_PROOF
    if verdict is Verdict.VIOLATED:
        return _judge_undeclared(world, end)
    return True, NO_PROOF


def _judge_undeclared(world: World, end: End) -> tuple[bool, str]:
    failure = world.failure
    if failure is not None:
        return failure.kind == end.property, str(failure)
    if end.property == DEADLOCK:
        left = [e for e in world.enabled() if not e.kind.is_fault]
        events = "; ".join(map(repr, left))
        return not left, events and f"no deadlock: what can happen is {events}"
    return False, f"the system has no property {end.property!r}"
