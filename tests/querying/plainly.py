"""What the tables of a run say, worked out step by step in Python from its records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from worldline.model.kinds import KINDS
from worldline.trace.json_text import show
from worldline.trace.records import STATUS, StepRecord, Trace

Row = tuple[Any, ...]


def key(value: Any) -> str:
    return json.dumps(value)


def text(value: Any) -> str | None:
    return None if value is None else show(value)


def times(trace: Trace) -> dict[int | None, float | None]:
    return {step.step: step.time for step in trace.steps} | {None: None}


def messages(trace: Trace) -> list[Row]:
    """Sending step, source, destination, part, name, text, fate, step of the fate."""
    open_: dict[Row, list[Row]] = {}
    rows: list[Row] = []
    last: dict[Row, Row] = {}

    def put(sent_in: int | None, src: Any, dst: str, part: str, name: str, m: Any):
        at = (sent_in, src, dst, part, key(m))
        row = (sent_in, src, dst, part, name, show(m))
        open_.setdefault(at, []).append(row)
        last[at] = row

    for node in trace.state.nodes if trace.state else ():
        for message in node.messages:
            name = message.message["$is"].rpartition(".")[2]
            put(None, message.src, node.name, message.part, name, message.message)
    for step in trace.steps:
        kind = KINDS[step.kind]
        at = (step.sent_in, step.peer, step.node, step.part, key(step.payload))
        if kind.doubles_message:
            put(
                step.sent_in,
                step.peer,
                step.node or "",
                step.part,
                step.name,
                step.payload,
            )
        elif kind.takes_message:
            if waiting := open_.get(at):
                row = waiting.pop(0)
            else:
                told = (step.sent_in, step.peer, step.node, step.part, step.name)
                row = last.get(at) or (*told, show(step.payload))
            rows.append((*row, step.kind, step.step))
        for send in step.sends:
            if send.taken:
                put(step.step, step.node, send.to, send.part, send.name, send.message)
    rows += [(*row, "left", None) for waiting in open_.values() for row in waiting]
    return rows


def timers(trace: Trace) -> list[Row]:
    """Step that set it, node, part, name, payload, delay, fate, step of the fate."""
    pending: dict[Row, Row] = {}
    rows: list[Row] = []

    def end(at: Row, fate: str, step: int | None) -> None:
        if at in pending:
            rows.append((*pending.pop(at), fate, step))

    for node in trace.state.nodes if trace.state else ():
        for one in node.timers:
            at: Row = (node.name, one.part, one.name, key(one.payload))
            event: Row = (node.name, one.part, one.name, text(one.payload), one.after)
            pending[at] = (None, *event)
    for step in trace.steps:
        if step.kind == "timer":
            end(
                (step.node, step.part, step.name, key(step.payload)), "timer", step.step
            )
        if KINDS[step.kind].forgets:
            for at in [at for at in pending if at[0] == step.node]:
                end(at, step.kind, step.step)
        for timer in step.timers:
            at = (step.node, timer.part, timer.name, key(timer.payload))
            end(at, "cancel" if timer.after is None else "set", step.step)
            if timer.after is not None:
                told = (timer.part, timer.name, text(timer.payload), timer.after)
                pending[at] = (step.step, step.node, *told)
    rows += [(*row, "left", None) for row in pending.values()]
    return rows


def calls(trace: Trace) -> list[Row]:
    return [
        (
            step.step,
            number,
            call.depth,
            step.time,
            step.node,
            call.caller,
            call.callee,
            call.name,
            call.handler,
            show([*call.arguments]),
            call.returned,
            show(call.result),
        )
        for step in trace.steps
        for number, call in enumerate(step.calls or (), 1)
    ]


def sends(trace: Trace) -> list[Row]:
    return [
        (
            step.step,
            n,
            step.time,
            step.node,
            s.to,
            s.part,
            s.name,
            show(s.message),
            s.taken,
        )
        for step in trace.steps
        for n, s in enumerate(step.sends, 1)
    ]


def steps(trace: Trace) -> list[Row]:
    cycle = trace.end.cycle if trace.end else None
    return [
        (
            *(step.step, step.phase, step.time, step.lamport, step.node, step.kind),
            *(step.part, step.name, step.peer, text(step.payload), step.sent_in),
            *([*step.choices], [*step.widths], step.result),
            *(None if step.failure is None else str(step.failure), [*step.log]),
            cycle is not None and step.step >= cycle,
        )
        for step in trace.steps
    ]


def changes(trace: Trace) -> list[Row]:
    return [
        (step.step, step.time, step.node, field, show(before), show(after))
        for step in trace.steps
        for field, (before, after) in step.changes.items()
    ]


def first_values(trace: Trace) -> dict[tuple[str, str], str]:
    """Of each node its fields as declared, or in the state; none of them has parts."""
    if trace.state is None:
        nodes = [(node.name, "new", node.fields) for node in trace.header.nodes]
    else:
        nodes = [(node.name, node.status, node.fields) for node in trace.state.nodes]
    return {
        (name, field): show(value)
        for name, status, fields in nodes
        for field, value in {STATUS: status, **fields}.items()
    }


def state_at(trace: Trace, number: int) -> dict[tuple[str, str], str]:
    values = first_values(trace)
    for step in _until(trace, number):
        for field, (_, after) in step.changes.items():
            values[step.node or "", field] = show(after)
    return values


def last_writer(trace: Trace, number: int) -> dict[tuple[str, str], Row]:
    """Of each field that changed: value, step, kind, name, peer, payload, sent in."""
    writers: dict[tuple[str, str], Row] = {}
    for step in _until(trace, number):
        for field, (_, after) in step.changes.items():
            event = (step.kind, step.name, step.peer, text(step.payload), step.sent_in)
            writers[step.node or "", field] = (show(after), step.step, *event)
    return writers


def _until(trace: Trace, number: int) -> Iterator[StepRecord]:
    return (step for step in trace.steps if step.step <= number)


def history(trace: Trace) -> list[Row]:
    """Node, field, step, time, until, value."""
    values: dict[tuple[str, str], tuple[int | None, float | None, str]] = {
        at: (None, None, value) for at, value in first_values(trace).items()
    }
    rows: list[Row] = []
    for step in trace.steps:
        for field, (_, after) in step.changes.items():
            at = (step.node or "", field)
            since, time, value = values[at]
            rows.append((*at, since, time, step.step, value))
            values[at] = (step.step, step.time, show(after))
    rows += [(*at, s, t, None, value) for at, (s, t, value) in values.items()]
    return rows


def traffic(trace: Trace) -> dict[tuple[str, str, str], tuple[int, ...]]:
    """Of each class and pair: messages, received, dropped, refused, remaining."""
    counts: dict[tuple[str, str, str], list[int]] = {}
    for _, src, dst, _, name, _, fate, _ in messages(trace):
        row = counts.setdefault((name, src, dst), [0] * 5)
        row[0] += 1
        row[("deliver", "drop", "refuse", "left").index(fate) + 1] += 1
    return {at: tuple(row) for at, row in counts.items()}
