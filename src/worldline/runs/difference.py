"""The difference of two traces: the first step after their longest common prefix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from worldline.runs.rerun import difference
from worldline.show.phrases import event_phrase
from worldline.trace.format import line_of
from worldline.trace.records import Header, StepRecord, Trace


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first step at which two traces differ.

    Attributes
    ----------
    step
        Its number.
    what
        ``event``, or which aspect of its outcome differs: choices, result, failure,
        sends, timers, changes, log, calls, sender or order.
    here, other
        What is so in either, as text.
    """

    step: int
    what: str
    here: str
    other: str


def first_difference(one: Trace, other: Trace) -> Difference | None:
    """Return where two traces part; None if they have the same steps."""
    steps, others = ({s.step: s for s in trace.steps} for trace in (one, other))
    for number in sorted({*steps, *others}):
        mine, theirs = steps.get(number), others.get(number)
        here, there = _told(mine, one.header), _told(theirs, other.header)
        what = "event"
        if mine is not None and theirs is not None and here == there:
            # Two runs may differ in when they were made, and be one; and in whether
            # somebody wrote down the calls between services.
            mine, theirs = replace(mine, time=None), replace(theirs, time=None)
            if mine.calls is None or theirs.calls is None:
                mine = replace(mine, calls=None, more_calls=None)
                theirs = replace(theirs, calls=None, more_calls=None)
            if line_of(mine) == line_of(theirs):
                continue
            what, here, there = difference(mine, theirs)
        return Difference(step=number, what=what, here=here, other=there)
    return None


def _told(step: StepRecord | None, header: Header) -> str:
    if step is None:
        return "nothing: the trace has no such step"
    where = "" if step.node is None else f" at {step.node}"
    return event_phrase(step, header) + where
