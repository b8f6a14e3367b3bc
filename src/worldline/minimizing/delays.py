"""Delays of a run that had a clock, of which a shorter run keeps none."""

from __future__ import annotations

import math
import os

from worldline.model.errors import UsageError
from worldline.runs.evidence import MINIMIZE
from worldline.runs.record import RECORDING
from worldline.trace.records import Trace

NOT_KEPT = "its delays are not kept: by the clock this run may be impossible"
"""What is said of a run that was made short, and had times before."""

_SECONDS = 60.0
"""Virtual seconds of a run of `simulate` that is told nothing else."""


def had_clock(trace: Trace) -> bool:
    """Say whether a run had a clock, or was made of one that had."""
    if trace.header.engine.startswith(f"{MINIMIZE}-"):
        return True
    return any(step.time is not None for step in trace.steps)


def engine_of(trace: Trace) -> str:
    """Return what the shorter run of a trace names as its engine: that of a clock, too."""
    engine = trace.header.engine
    if not had_clock(trace):
        return MINIMIZE
    return engine if engine.startswith(MINIMIZE) else f"{MINIMIZE}-{engine}"


def refuse_no_delays(
    recorded: Trace, predicates: str | os.PathLike[str] | None
) -> None:
    """Refuse to make a test of a simulated run, which could fail on correct code.

    Where timers of 10 s may fire at once, what rests on them is violated by a run that no
    clock allows. Of a deployed run the same is true, but nothing else makes a test of it.

    Raises
    ------
    UsageError
        If it is one; it tells which test to write instead.
    """
    if not had_clock(recorded) or recorded.header.engine.endswith(RECORDING):
        return
    raise UsageError(
        "a test of this run would keep none of its delays, and could fail though no clock "
        "allows such a run",
        remedy="leave --pytest out, and make the run itself in a test, with the options "
        f"that it was found with (latency=, rate=, ...): {_call(recorded, predicates)}",
    )


def _call(recorded: Trace, predicates: str | os.PathLike[str] | None) -> str:
    """Return the call that makes a simulated run again, as far as its trace knows."""
    header = recorded.header
    given = ["system" if header.target is None else repr(header.target)]
    if header.target is not None and header.parameters:
        given.append(f"parameters={dict(header.parameters)!r}")
    if predicates is not None:
        given.append(f"predicates={os.fspath(predicates)!r}")
    given.append(f"seed={header.seed or 0}")
    last = max((step.time or 0.0 for step in recorded.steps), default=0.0)
    if recorded.end is not None and recorded.end.time is not None:
        last = max(last, recorded.end.time)
    if last > _SECONDS:
        given.append(f"seconds={math.ceil(last)}")
    return f"wl.simulate({', '.join(given)}).expect_no_violation()"
