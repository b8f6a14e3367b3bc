"""Replaying a trace of faults: the program is run again under them, and compared."""

from __future__ import annotations

import shlex
import time
from itertools import zip_longest

from worldline.lineage.opening import open_target
from worldline.lineage.recorded import ROUNDS
from worldline.lineage.target import Target
from worldline.lineage.words import parse
from worldline.model.errors import InputError
from worldline.model.injection.scope import CrashSemantics, FaultSet, Scope
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.trace import replay as of_systems
from worldline.trace.format import Place, read
from worldline.trace.phrases import event_phrase, facet_phrases
from worldline.trace.records import Header, StepRecord, Trace
from worldline.trace.replayed import Divergence, Replayed


def replay(path: Place, system: System | None = None) -> Replayed:
    """Run a trace again, in the present form of its system, and compare.

    Parameters
    ----------
    path
        The trace. One that breaks off is replayed as far as it goes.
    system
        The system; by default it is loaded from where the trace says.

    Raises
    ------
    InputError
        If the file is no trace, or one of a system with other nodes.
    UsageError
        If the system cannot be loaded.
    """
    trace = read(path, partial=True)
    if system is not None or trace.header.network.get("name") != ROUNDS:
        return of_systems.replay(path, system)
    target, scope, faults = _question(trace.header)
    begin = time.perf_counter()
    again = target.trace(scope, faults, trace.header.engine, trace.header.seed or 0)
    seconds = time.perf_counter() - begin
    verified, divergence = _compared(trace, again)
    end, now = trace.end, again.end
    right = divergence is None and (end is None or now is None or end == now)
    explanation = "" if now is None or now.explanation is None else now.explanation
    return Replayed(
        system=trace.header.system,
        verified=verified,
        steps=len(trace.steps),
        verdict=None if end is None else Verdict(end.verdict),
        property_name=None if end is None else end.property,
        reproduced=right,
        divergence=divergence,
        explanation=str(explanation),
        source_changed=trace.header.source != again.header.source,
        notes=(),
        seconds=seconds,
    )


def _question(header: Header) -> tuple[Target, Scope, FaultSet]:
    """Return what a trace is about: a target, its scope, and the faults.

    Raises
    ------
    InputError
        If the header does not say.
    """
    try:
        options = header.options
        scope = Scope(
            header.names,
            int(options["eot"]),
            int(options["eff"]),
            int(options["crashes"]),
            CrashSemantics(header.faults["semantics"]),
            int(options["delay"]),
        )
        faults = frozenset(map(parse, header.faults["injected"]))
        names = shlex.split(header.target or "")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the trace does not say which faults it is about ({error})",
            remedy="write it again with worldline faults",
        ) from None
    return open_target(names, {}, header.names), scope, faults


def _compared(trace: Trace, again: Trace) -> tuple[int, Divergence | None]:
    """Return how many steps are as recorded, and the first that is not."""
    number = 0
    for number, (old, new) in enumerate(zip_longest(trace.steps, again.steps)):
        if old is None:
            # Of a trace that breaks off, the rest is not known.
            if trace.end is None:
                return number, None
            return number, _missing(new, trace, "nothing", "this step")
        if new is None:
            return number, _missing(old, trace, "this step", "nothing")
        if old != new:
            return number, _difference(old, new, trace.header)
    return len(trace.steps), None


def _missing(step: StepRecord, trace: Trace, old: str, new: str) -> Divergence:
    return Divergence(step.step, event_phrase(step, trace.header), "event", old, new)


def _difference(old: StepRecord, new: StepRecord, header: Header) -> Divergence:
    event, now = event_phrase(old, header), event_phrase(new, header)
    if (old.node, event) != (new.node, now):
        there = f"{new.node}: {now}"
        return Divergence(old.step, event, "event", f"{old.node}: {event}", there)
    before, after = facet_phrases(old), facet_phrases(new)
    what = next((key for key in before if before[key] != after[key]), "order")
    return Divergence(old.step, event, what, before[what], after[what])
