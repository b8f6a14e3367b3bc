"""Answers of a session, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from worldline.debug.answers import (
    Possible,
    PropertyStatus,
    StepLine,
    UndeclaredEnd,
    Why,
)
from worldline.debug.runs import Stretch
from worldline.debug.session import Session
from worldline.debug.state import NOT_KNOWN, NodeDifference, NodeState, StateChange
from worldline.model.kinds import KINDS
from worldline.model.printable import one_line
from worldline.runs.difference import Difference
from worldline.show.lost import lost_timers
from worldline.show.phrases import deadline_phrase
from worldline.show.steps import (
    at_time,
    critical_lines,
    deadline_lines,
    header_lines,
    step_lines,
)
from worldline.trace.json_text import show
from worldline.trace.records import STATUS, Explanation, SpanRecord, StepRecord

MOST_ROWS, MOST_SPANS = 60, 10
"""How much of a list is shown unless all of it is asked for."""

_WIDE = 72
"""Columns up to which a change is said in one line."""


def opening(session: Session) -> Iterator[str]:
    """Yield what a session begins with: the run, what to know of it, the position."""
    yield from header_lines(session.trace)
    timeline = session.timeline
    count = len(session.trace.steps)
    extent = f"steps {timeline.first + 1} to {timeline.first + count}"
    extent = extent if count else "no steps"
    yield f"  {extent}; type help for what can be asked"
    yield from critical_lines(session.trace.end)
    if session.trace.end is not None:
        yield from deadline_lines(session.trace.end)
    for note in session.notes:
        first, *more = note.splitlines()
        yield f"note: {first}"
        yield from (f"  {line}" for line in more)
    yield from place(session, session.position)


def place(session: Session, step: int) -> Iterator[str]:
    """Yield what happened in a step."""
    record = session.record(step)
    if record is None:
        yield f"{step}: before any step"
        return
    header, lost = session.trace.header, ""
    if KINDS[record.kind].forgets:
        lost = lost_timers(session.trace).get(record.step, "")
    yield from step_lines(
        record, header, len(str(record.step)), len(record.node or "*"), lost=lost
    )


def rows(
    session: Session, steps: Sequence[StepRecord], *, whole: bool
) -> Iterator[str]:
    """Yield a line for each step."""
    header, here = session.trace.header, session.position
    number = max((len(str(step.step)) for step in steps), default=1)
    lane = max(len(name) for name in header.names)
    shown = steps if whole else steps[:MOST_ROWS]
    for step in shown:
        mark = ">" if step.step == here else " "
        yield mark + next(step_lines(step, header, number, lane))
    if not steps:
        yield "no step"
    if len(shown) < len(steps):
        yield f"... and {len(steps) - len(shown)} more; --all shows them"


def states(
    session: Session, step: int, nodes: Iterable[NodeState], fields: Sequence[str]
) -> Iterator[str]:
    """Yield the state of nodes; of some fields only, if any are named."""
    yield _after(session, step)
    for node in nodes:
        values = {name: show(value) for name, value in node.fields.items()}
        owned = {n: v for n, v in node.owns.items() if n != STATUS}
        if fields:
            values = {name: values[name] for name in fields if name in values}
            owned = {name: owned[name] for name in fields if name in owned}
        status = node.owns.get(STATUS)
        if not values and not owned and status != NOT_KNOWN:
            continue
        yield f"{node.node}  {node.kind}" + (f", {status}" if status else "")
        yield from (f"  {name}: {value}" for name, value in values.items())
        for name, value in owned.items():
            if value or fields:
                yield from _owned(name, value or "none")


def _after(session: Session, step: int) -> str:
    if session.timeline.is_void(step):
        return f"before step {step}, whose handler failed and led to no state:"
    return f"after step {step}:"


def _owned(name: str, value: str | list[str]) -> Iterator[str]:
    if isinstance(value, str):
        yield f"  {name}: {value}"
    elif len(line := f"  {name}: {', '.join(value)}") <= _WIDE:
        yield line
    else:
        yield f"  {name}:"
        yield from (f"    {item}" for item in value)


def differences(nodes: Sequence[NodeDifference]) -> Iterator[str]:
    """Yield what differs, node by node."""
    for node in nodes:
        yield node.node
        for change in node.changes:
            yield from _change(change)
    if not nodes:
        yield "no difference"


def _change(change: StateChange) -> Iterator[str]:
    both = bool(change.before and change.after)
    line = f"  {change.what}: {change.before} → {change.after}"
    if both and len(line) <= _WIDE:
        yield line
        return
    if change.before:
        yield f"- {change.what}: {change.before}"
    if change.after:
        yield f"+ {change.what}: {change.after}"


def comparison(difference: Difference | None) -> Iterator[str]:
    """Yield where two traces part."""
    if difference is None:
        yield "the two traces have the same steps"
        return
    yield f"the two traces part at step {difference.step}: {difference.what}"
    yield f"- {difference.here}"
    yield f"+ {difference.other}"


def chain(why: Why) -> Iterator[str]:
    """Yield a chain of triggers, and how large the causal past is."""
    yield _line(why.chain[0].step)
    for before, cause in zip(why.chain, why.chain[1:], strict=False):
        yield f"  step {cause.step.step} {cause.how} of step {before.step.step}"
        yield _line(cause.step)
    others = len(why.past) - len(why.chain)
    if others:
        yield f"{others} other steps are in its causal past; --all shows them"


def past(why: Why) -> Iterator[str]:
    """Yield all that a step depends on."""
    yield from map(_line, why.past)


def _line(step: StepLine) -> str:
    sent = "" if step.sent_in is None else f"  (sent in step {step.sent_in})"
    return f"{step.step}  {step.node or '*'}  {step.event}{sent}{at_time(step.time)}"


def statuses(
    shown: Sequence[PropertyStatus], position: int, *, whole: bool
) -> Iterator[str]:
    """Yield where properties are true."""
    name = max((len(each.name) for each in shown), default=0)
    kind = max((len(each.kind) for each in shown), default=0)
    for each in shown:
        runs = [Stretch(s.first, s.last, _truth(s.value)) for s in each.spans]
        here = next((s.value for s in runs if s.first <= position <= s.last), "-")
        yield (
            f"{each.name:<{name}}  {each.kind:<{kind}}  "
            f"here {here:<5}  {_runs(runs, whole=whole)}"
        )
    if not shown:
        yield "the system has no properties"


def ended(ending: UndeclaredEnd) -> str:
    """Return what a run ends in that no property declares."""
    said = f": {one_line(ending.said)}" if ending.said else ""
    return f"ends in {ending.name} at step {ending.step}{said}"


def _truth(value: bool | str) -> str:
    return f"? ({value})" if isinstance(value, str) else str(value).lower()


def _runs(stretches: Sequence[Stretch[str]], *, whole: bool) -> str:
    shown = stretches if whole else stretches[:MOST_SPANS]
    more = (
        f", and {len(stretches) - len(shown)} more"
        if len(shown) < len(stretches)
        else ""
    )
    return ", ".join(f"{span.value} {reach(span)}" for span in shown) + more


def reach(span: Stretch[Any]) -> str:
    """Return the steps of a span: ``3`` or ``3..5``."""
    one = span.first == span.last
    return str(span.first) if one else f"{span.first}..{span.last}"


def tracked(stretches: Sequence[Stretch[str]], *, whole: bool) -> Iterator[str]:
    """Yield the values of an expression along the run."""
    shown = stretches if whole else stretches[:MOST_ROWS]
    width = max((len(reach(span)) for span in shown), default=0)
    yield from (f"{reach(span):>{width}}  {span.value}" for span in shown)
    if len(shown) < len(stretches):
        yield f"... and {len(stretches) - len(shown)} more; --all shows them"


def explanation(
    name: str, why: Explanation | None, due: SpanRecord | None
) -> Iterator[str]:
    """Yield why a property is false, and since when if it is due there."""
    yield f"{name} {'is true' if why is None else 'fails'}"
    if due is not None:
        yield f"  {deadline_phrase(due)}"
    if why is not None:
        yield from (f"  {line}" for line in str(why).splitlines())


def possible(events: Sequence[Possible]) -> Iterator[str]:
    """Yield what can happen, with a mark at what did."""
    lane = max((len(event.node or "*") for event in events), default=0)
    for event in events:
        mark = ">" if event.taken else " "
        yield f"{mark} {event.node or '*':<{lane}}  {event.event}"
    if not events:
        yield "nothing can happen"
