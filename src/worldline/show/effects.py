"""Effects of a step, in order: timers, messages, log lines, and calls between services.

Of one service, timers come first, then messages, then what it logged. A call of another
stands where it was made, and what was done inside it is indented below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from worldline.show.phrases import nested_phrase, send_phrase, timer_phrase
from worldline.trace.nested import CallRecord, Extent
from worldline.trace.records import StepRecord

_INDENT = "  "

_DEEPEST = 40
"""Calls inside each other that are indented; of deeper ones, the depth is said."""


def indented(depth: int) -> str:
    """Return what precedes a line of what is done inside that many calls."""
    deeper = f"[{depth}] " if depth > _DEEPEST else ""
    return _INDENT * min(depth, _DEEPEST) + deeper


def effect_lines(step: StepRecord) -> Iterator[str]:
    """Yield a line for each thing that a step did, and for each call in it."""
    whole = (0, len(step.sends)), (0, len(step.timers)), (0, len(step.log))
    yield from _lines(step, whole, step.calls or ())
    if step.more_calls:
        yield "(more calls between services are left out)"


def call_lines(step: StepRecord, number: int) -> Iterator[str]:
    """Yield the same for what was done inside one of the step's calls."""
    calls = step.calls or ()
    inside = number + 1
    while inside < len(calls) and calls[inside].depth > calls[number].depth:
        inside += 1
    yield from _lines(step, calls[number].stretches, calls[number + 1 : inside])


def _lines(
    step: StepRecord, whole: Sequence[Extent], calls: Sequence[CallRecord]
) -> Iterator[str]:
    done = [first for first, _ in whole]
    entered: list[CallRecord] = []
    for call in calls:
        while entered and entered[-1].depth >= call.depth:
            yield from _rest(step, done, entered.pop().stretches, len(entered) + 1)
        begins = [(first, first) for first, _ in call.stretches]
        yield from _rest(step, done, begins, len(entered))
        yield indented(len(entered)) + nested_phrase(call)
        entered.append(call)
    while entered:
        yield from _rest(step, done, entered.pop().stretches, len(entered) + 1)
    yield from _rest(step, done, whole, 0)


def _rest(
    step: StepRecord, done: list[int], until: Sequence[Extent], depth: int
) -> Iterator[str]:
    """Yield what one service did until the end of some stretches; `done` moves there."""
    sends, timers, log = (
        slice(first, last) for first, (_, last) in zip(done, until, strict=True)
    )
    margin = indented(depth)
    yield from (f"{margin}{timer_phrase(timer)}" for timer in step.timers[timers])
    yield from (f"{margin}{send_phrase(send)}" for send in step.sends[sends])
    yield from (f"{margin}log: {text}" for text in step.log[log])
    done[:] = [last for _, last in until]
