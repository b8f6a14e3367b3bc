"""The verdict that a trace records, judged again where its run has come to its end."""

from __future__ import annotations

from worldline.model.absent import unknown_in
from worldline.model.errors import Timeless, Unseen
from worldline.model.properties import Property, PropertyKind
from worldline.model.verdicts import Verdict
from worldline.runs.explain import explain
from worldline.runs.lasso import Cycle
from worldline.runs.record import DEADLOCK, declared
from worldline.show.phrases import (
    NO_PROOF,
    NO_PROOF_OF_STATE,
    REACHED,
    deadline_phrase,
    is_reached,
    is_state,
)
from worldline.trace.records import End, SpanRecord, Trace
from worldline.worlds.world import World


def judge_again(
    world: World, trace: Trace, cycle: Cycle | None
) -> tuple[bool, str, bool]:
    """Say whether the recorded verdict is right at the end of the run, why, and if known.

    It is not where nobody knows, as of times that the trace does not have.
    """
    try:
        return (*_judge(world, trace, cycle), True)
    except Timeless as error:
        if world.instruments is not None:
            raise
        return False, f"{error.what}, and the trace has no times", False
    except Unseen as error:
        return False, error.what, False


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
            if end.span is not None and explanation is not None:
                return _judge_due(world, prop, end.span, str(explanation))
            if cycle is not None:
                reason = str(explanation or f"{prop.name} is false on the cycle")
                return not cycle.objection(), cycle.objection() or reason
            return explanation is not None, str(
                explanation or f"{prop.name} is true at the end"
            )
        if is_reached(end):
            holds = prop.judge(world.view).holds
            return holds, REACHED if holds else f"{prop.name} is false at the end"
        # A run that is live; older files say of it that the property holds.
        if prop.kind is not PropertyKind.SAFETY:
            explanation = explain(world, prop)
            return explanation is None, NO_PROOF if explanation is None else str(
                explanation
            )
        return True, NO_PROOF
    if verdict is Verdict.VIOLATED:
        return _judge_undeclared(world, end)
    return True, NO_PROOF_OF_STATE if is_state(trace) else NO_PROOF


def _judge_due(
    world: World, prop: Property, span: SpanRecord, explanation: str
) -> tuple[bool, str]:
    """Say whether a liveness property that is false at the end is due there, and why."""
    if prop.confidence is None:
        return False, f"{prop.name} has no confidence any more, so it is never due"
    sure = prop.confident(world.view)
    if sure < 1:
        return (
            False,
            f"{prop.name} is false at the end, but its confidence is {sure:.6g}",
        )
    return True, f"{deadline_phrase(span)}\n{explanation}"


def _judge_undeclared(world: World, end: End) -> tuple[bool, str]:
    failure = world.failure
    if failure is not None:
        return failure.kind == end.property, str(failure)
    if end.property == DEADLOCK:
        if absent := unknown_in(world.system, world.snapshot()):
            return False, f"no deadlock: nothing is known of {', '.join(absent)}"
        left = [e for e in world.enabled() if not e.kind.is_fault]
        events = "; ".join(map(repr, left))
        return not left, events and f"no deadlock: what can happen is {events}"
    return False, f"the system has no property {end.property!r}"
