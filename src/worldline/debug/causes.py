"""Causes of a step: the chain of triggers that led to it, and its causal past."""

from __future__ import annotations

from typing import final

from worldline.debug.answers import Cause, StepLine, Why
from worldline.show.phrases import event_phrase
from worldline.trace.causality import causal_past, dependencies, triggers
from worldline.trace.records import Header, StepRecord, Trace

_HOW = {"timer": "set the timer", "transport_error": "broke the connection"}


@final
class Causes:
    """Answers for the steps of one trace, whose order it works out once."""

    def __init__(self, trace: Trace) -> None:
        self._header = trace.header
        self._steps = {step.step: step for step in trace.steps}
        self._trace = trace
        self._triggers = triggers(trace)
        self._dependencies = dependencies(trace)

    def why(self, step: StepRecord) -> Why:
        """Return what led to a step."""
        chain = [Cause(step=step_line(step, self._header), how="")]
        trigger = self._triggers[step.step]
        while trigger is not None:
            how = _HOW.get(step.kind, "sent the message")
            step = self._steps[trigger]
            chain.append(Cause(step=step_line(step, self._header), how=how))
            trigger = self._triggers[trigger]
        past = causal_past(self._trace, chain[0].step.step, self._dependencies)
        return Why(
            chain=tuple(chain),
            past=tuple(step_line(self._steps[n], self._header) for n in sorted(past)),
        )


def step_line(step: StepRecord, header: Header) -> StepLine:
    """Return a step in short."""
    return StepLine(
        step=step.step,
        node=step.node,
        kind=step.kind,
        event=event_phrase(step, header),
        sent_in=step.sent_in,
        time=step.time,
    )
