"""Replaying a trace: run it again, compare every step with what was recorded."""

from __future__ import annotations

import time

from worldline.model.divergence import LINE_BUDGET
from worldline.model.errors import InputError, ModelError, UsageError
from worldline.model.events import Origin
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.trace.explain import explain
from worldline.trace.format import Place, line_of, read
from worldline.trace.json_text import shorten, show
from worldline.trace.phrases import event_phrase, facet_phrases
from worldline.trace.record import DEADLOCK, DIVERGENCE, declared
from worldline.trace.recorder import Recorder, header_of
from worldline.trace.records import PROLOGUE, End, Header, StepRecord, Trace
from worldline.trace.replayed import Divergence, Replayed
from worldline.trace.schedule import Events
from worldline.worlds.direct import DirectWorld, NotEnabled

_WIDEST = 300


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
    header, end = trace.header, trace.end
    if system is None:
        system = _load(header)
    _check_nodes(header, system)
    begin = time.perf_counter()
    world, verified, divergence = _rerun(trace, system)
    seconds = time.perf_counter() - begin
    right, explanation = False, ""
    if divergence is None:
        right, explanation = _judge(world, trace)
    return Replayed(
        system=header.system,
        verified=verified,
        steps=len(trace.steps),
        verdict=None if end is None else Verdict(end.verdict),
        property_name=None if end is None else end.property,
        reproduced=right,
        divergence=divergence,
        explanation=explanation,
        source_changed=_source_changed(header, system),
        notes=_changes(header, system),
        seconds=seconds,
    )


def _load(header: Header) -> System:
    if header.target is None:
        raise UsageError(
            "the trace does not say from where its system is loaded",
            remedy="give the system: wl.replay(path, system=...)",
        )
    # Loading runs user code; reading and showing traces must not even import it.
    from worldline.model.loader import load

    return load(header.target, header.parameters)


def _check_nodes(header: Header, system: System) -> None:
    names = tuple(node.name for node in system.ids)
    if names != header.names:
        raise InputError(
            f"the trace has the nodes {', '.join(header.names)}, "
            f"the system has {', '.join(names)}",
            remedy="replay it with the system and parameters that it was recorded with",
        )


def _source_changed(header: Header, system: System) -> bool:
    if system.origin is None or header.source is None:
        return False
    return system.origin.source != header.source


def _changes(header: Header, system: System) -> tuple[str, ...]:
    """Return what of the system is declared otherwise than when it was recorded."""
    now = header_of(system, engine=header.engine, seed=header.seed)
    found = [
        f"{what} was {show(old[key]) if key in old else 'unknown'}, "
        f"now it is {show(value)}"
        for what, old, new in (
            ("{} of the network", header.network, now.network),
            ("the fault budget {}", header.faults, now.faults),
            ("System({}=...)", header.options, now.options),
        )
        for key, value in new.items()
        if old.get(key) != value
        for what in (what.format(key),)
    ]
    found += [
        f"node {one.name} is declared otherwise"
        for one, other in zip(header.nodes, now.nodes, strict=True)
        if one != other
    ]
    return tuple(found)


def _rerun(trace: Trace, system: System) -> tuple[DirectWorld, int, Divergence | None]:
    """Run steps until one goes otherwise; return how many went as recorded."""
    recorder = Recorder(system)
    events = Events(system)
    for verified, step in enumerate(trace.steps):
        divergence = _rerun_step(recorder, events, step, trace.header)
        if divergence is not None:
            return recorder.world, verified, divergence
    return recorder.world, len(trace.steps), None


def _rerun_step(
    recorder: Recorder, events: Events, step: StepRecord, header: Header
) -> Divergence | None:
    diverges = step.failure is not None and step.failure.kind == DIVERGENCE
    try:
        happened = recorder.step(
            step.step,
            step.phase,
            events.of(step),
            step.choices,
            lines=LINE_BUDGET if diverges else None,
        )
    except NotEnabled:
        enabled = recorder.world.enabled(charge=step.phase != PROLOGUE)
        others = "; ".join(map(repr, enabled)) or "nothing"
        observed = ("event", "it happened", f"it cannot happen; what can is: {others}")
    except (InputError, ModelError) as error:
        observed = ("event", "it happened", str(error))
    else:
        # As text, because 1, 1.0 and True are equal in Python.
        if line_of(happened) == line_of(step):
            return None
        observed = _difference(step, happened)
    what, one, other = observed
    return Divergence(
        step=step.step,
        event=f"{event_phrase(step, header)} at {step.node}",
        what=what,
        recorded=shorten(one, _WIDEST),
        happened=shorten(other, _WIDEST),
    )


def _difference(recorded: StepRecord, happened: StepRecord) -> tuple[str, str, str]:
    other = facet_phrases(happened)
    for facet, phrase in facet_phrases(recorded).items():
        if phrase != other[facet]:
            return facet, phrase, other[facet]
    return "record", line_of(recorded), line_of(happened)


def _judge(world: DirectWorld, trace: Trace) -> tuple[bool, str]:
    """Say whether the recorded verdict is right at the end of the run, and why."""
    end = trace.end
    if end is None:
        last = trace.steps[-1].step if trace.steps else 0
        return True, f"the trace is truncated after step {last}; it has no verdict"
    verdict = Verdict(end.verdict)
    known = declared(world.system, end.property)
    if known is not None:
        if verdict is Verdict.VIOLATED:
            found = explain(world, known)
            return found is not None, str(found or f"{known.name} is true at the end")
        if verdict is Verdict.HOLDS and known.kind is PropertyKind.SOMETIMES:
            found = explain(world, known)
            return found is None, "" if found is None else str(found)
        return True, ""
    if verdict is Verdict.VIOLATED:
        return _judge_undeclared(world, end)
    return True, ""


def _judge_undeclared(world: DirectWorld, end: End) -> tuple[bool, str]:
    failure = world.failure
    if failure is not None:
        return failure.kind == end.property, str(failure)
    if end.property == DEADLOCK:
        left = [e for e in world.enabled() if e.origin is not Origin.FAULT]
        found = "; ".join(map(repr, left))
        return not left, found and f"no deadlock: what can happen is {found}"
    return False, f"the system has no property {end.property!r}"
