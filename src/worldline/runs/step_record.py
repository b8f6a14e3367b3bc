"""The records of steps: an event and what it led to, as a trace spells them.

A record is made from what happened alone, so an event and its outcome are enough to
write one down; see `Recorder` for one who runs a world.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, final

from worldline.model.data.content import Frozen
from worldline.model.events import Event
from worldline.model.node import NodeType
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.outcome import Outcome, TimerChange
from worldline.runs.nested_calls import NestedCalls
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode, encode_value
from worldline.trace.records import (
    STATUS,
    FailureRecord,
    SendRecord,
    StepRecord,
    TimerRecord,
)


@final
class LocalState(NamedTuple):
    """A node before or after a step.

    Attributes
    ----------
    kind
        Its class.
    fields
        The frozen node.
    status
        Whether it is new, up or down.
    """

    kind: NodeType
    fields: Frozen
    status: Status


def step_record(
    number: int,
    phase: str,
    event: Event,
    outcome: Outcome,
    before: LocalState | None,
    after: LocalState | None,
    *,
    sent_in: int | None = None,
    lamport: int = 1,
    calls: NestedCalls | None = None,
) -> StepRecord:
    """Return the record of a step.

    Parameters
    ----------
    before, after
        The node at which it happened; None for a step at no node.
    sent_in
        The step in which the message concerned was sent, for events about one.
    calls
        The calls between the services of the node, if somebody looked.
    """
    spelt = event_record(event)
    return StepRecord(
        step=number,
        phase=phase,
        node=spelt.node,
        kind=spelt.kind,
        part=spelt.part,
        name=spelt.name,
        peer=spelt.peer,
        payload=spelt.payload,
        sent_in=sent_in,
        choices=outcome.choices,
        widths=outcome.widths,
        result=outcome.result.value,
        failure=_failure(outcome.failure),
        sends=tuple(map(_send, outcome.sends)),
        timers=tuple(map(_timer, outcome.timers)),
        changes=_changes(outcome, before, after),
        log=outcome.log,
        lamport=lamport,
        calls=None if calls is None else calls.calls,
        more_calls=None if calls is None or not calls.more else True,
    )


def _changes(
    outcome: Outcome, before: LocalState | None, after: LocalState | None
) -> dict[str, tuple[Json, Json]]:
    """Return the changed fields; what a failed handler left behind is void."""
    if before is None or after is None or outcome.failure is not None:
        return {}
    changes: dict[str, tuple[Json, Json]] = {}
    if before.status is not after.status:
        changes[STATUS] = (before.status.value, after.status.value)
    _compare(after.kind, before.fields, after.fields, "", changes)
    return changes


def _compare(
    kind: NodeType,
    before: Frozen,
    after: Frozen,
    prefix: str,
    changes: dict[str, tuple[Json, Json]],
) -> None:
    if before == after:
        return
    for position, name in enumerate(kind.identity, 1):
        old, new = before[position], after[position]
        inner = kind.parts.get(name)
        if inner is not None:
            _compare(inner, old, new, f"{prefix}{name}.", changes)
        elif old != new:
            changes[prefix + name] = (encode(old), encode(new))


@final
@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EventRecord:
    """An event as a trace spells it, whether or not it has happened."""

    node: str | None
    kind: str
    part: str
    name: str
    peer: str | None
    payload: Json


def event_record(event: Event) -> EventRecord:
    """Return an event as a step that is it would have it."""
    return EventRecord(
        node=None if event.node is None else event.node.name,
        kind=event.kind.value,
        part=event.part,
        name=event.name,
        peer=None if event.peer is None else event.peer.name,
        payload=_payload(event),
    )


def _payload(event: Event) -> Json:
    if event.kind.is_about_message and event.envelope is not None:
        return encode(event.envelope.key[3])
    return encode_value(event.payload)


def _failure(failure: Failure | None) -> FailureRecord | None:
    if failure is None:
        return None
    return FailureRecord(
        kind=failure.kind,
        name=failure.name,
        where=failure.where,
        message=failure.message,
    )


def _send(sent: Sent) -> SendRecord:
    return SendRecord(
        to=sent.dst.name,
        part=sent.part,
        name=type(sent.message).__name__,
        message=encode_value(sent.message),
        taken=sent.taken,
    )


def _timer(change: TimerChange) -> TimerRecord:
    return TimerRecord(
        part=change.timer.part,
        name=change.timer.name,
        payload=encode_value(change.timer.payload),
        after=change.after,
    )
