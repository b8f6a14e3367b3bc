"""Commands that walk through the calls between the services of one step.

A service is a part of a node, or the node itself. The calls of a step are numbered in the
order in which they began, from 1; the handler that the event woke is 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from worldline.debug.answers import Answer
from worldline.debug.arguments import number_of, one_step, words_of
from worldline.debug.session import Session
from worldline.model.counts import counted
from worldline.model.errors import UsageError
from worldline.show.effects import call_lines, effect_lines, indented
from worldline.show.phrases import event_phrase, nested_phrase
from worldline.trace.nested import made_by, stack_of
from worldline.trace.records import StepRecord
from worldline.trace.schema import dump


def list_calls(session: Session, rest: str) -> Answer:
    """List the calls between services in a step.

    Of this one, or STEP. Each is indented below the one that it was made in: ↓ calls a part below, ↑ what is
    above, by ``ctx.up``. ``into N`` goes into one of them.
    """
    step = _step(session, one_step(session, words_of(rest)[0]))
    calls = step.calls or ()
    here = _here(session) if step.step == session.position else 0
    lines = [_line(session, step, 0, here)]
    lines += [_line(session, step, number, here) for number in range(1, len(calls) + 1)]
    if step.more_calls:
        lines.append("more calls are left out")
    data = {"step": step.step, "calls": dump(calls), "more": bool(step.more_calls)}
    return Answer(data, lines)


def into(session: Session, rest: str) -> Answer:
    """Go into the next call made in this one, or call N.

    The calls that are under way there are shown, outermost first, and what was done inside.
    """
    step = _step(session, session.position)
    calls, here = step.calls or (), _here(session)
    if rest:
        wanted = number_of(rest)
        if not 0 <= wanted <= len(calls):
            raise UsageError(
                f"step {step.step} has no call {wanted}",
                remedy=f"it has {counted(len(calls), 'call')}; calls lists them",
            )
    else:
        made = made_by(calls, here - 1)
        if not made:
            raise UsageError(
                f"call {here} calls no other service" if here else _nothing(step),
                remedy="calls lists those of the step" if here else "where shows it",
            )
        wanted = made[0] + 1
    return _go(session, step, wanted)


def out(session: Session, rest: str) -> Answer:
    """Go back to the call that this one was made in.

    In the end that is the handler itself.
    """
    step = _step(session, session.position)
    here = _here(session)
    if not here:
        raise UsageError(
            "this is the handler itself: nothing called it",
            remedy="why says what led to the step",
        )
    stack = stack_of(step.calls or (), here - 1)
    return _go(session, step, stack[-2] + 1 if len(stack) > 1 else 0)


def _step(session: Session, number: int) -> StepRecord:
    step = session.record(number)
    if step is None or step.calls is None:
        raise UsageError(
            f"nothing is known of calls in step {number}",
            remedy="they are written down of handlers of nodes with parts (wl.part())",
        )
    return step


def _nothing(step: StepRecord) -> str:
    return f"the handler of step {step.step} calls no other service"


def _here(session: Session) -> int:
    """Return the call at which the session stands; 0 for the handler."""
    step, number = session.inside
    return number if step == session.position else 0


def _go(session: Session, step: StepRecord, number: int) -> Answer:
    session.inside = step.step, number
    calls = step.calls or ()
    stack = (
        [0, *(place + 1 for place in stack_of(calls, number - 1))] if number else [0]
    )
    lines = [_line(session, step, each, number) for each in stack]
    done = [f"  {line}" for line in _done(step, number)]
    lines += ["inside it:", *done] if done else ["nothing was done inside it"]
    data = {
        "step": step.step,
        "call": number,
        "stack": [{"call": n, "record": dump(calls[n - 1])} for n in stack[1:]],
    }
    return Answer(data, lines)


def _done(step: StepRecord, number: int) -> Iterator[str]:
    return call_lines(step, number - 1) if number else effect_lines(step)


def _line(session: Session, step: StepRecord, number: int, here: int) -> str:
    calls = step.calls or ()
    width = len(str(len(calls)))
    if number:
        call = calls[number - 1]
        text = f"{indented(call.depth)}{nested_phrase(call)}"
    else:
        text = f"{step.node}  {event_phrase(step, session.trace.header)}"
    return f"{'>' if number == here else ' '}{number:>{width}}  {text}"
