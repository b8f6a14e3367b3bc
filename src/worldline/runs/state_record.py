"""The record of a state, as a trace has it that begins there; see `restoring`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from worldline.model.absent import NO_VALUE, absent_in
from worldline.model.data.identity import BY_DECLARATION
from worldline.model.data.values import freeze
from worldline.model.errors import InputError, ModelError
from worldline.model.kinds import BUDGETS
from worldline.model.message import Envelope
from worldline.model.network import Mailbox
from worldline.model.network.link import CLOSED
from worldline.model.node import NodeType
from worldline.model.node_template import first_value
from worldline.model.semantics.hidden import Hidden
from worldline.model.semantics.layout import Layout
from worldline.model.system import System
from worldline.runs.restoring import restored
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode, encode_value
from worldline.trace.state import (
    CONNECTION,
    LinkRecord,
    MessageRecord,
    NodeStateRecord,
    PendingRecord,
    StateRecord,
)
from worldline.worlds.checkpoint import Checkpoint


def state_record(system: System, state: Checkpoint) -> StateRecord:
    """Return the record of a state of a system.

    Raises
    ------
    ModelError
        If it holds something that could not be read again.
    """
    snapshot, layout = state.snapshot, system.layout
    absent = absent_in(system, snapshot)
    record = StateRecord(
        budget=dict(zip(BUDGETS, snapshot[Layout.BUDGET][1:], strict=True)),
        cut=snapshot[Layout.PARTITION],
        observers={
            observer.name: encode(snapshot[layout.observer(number)])
            for number, observer in enumerate(system.observers)
            if snapshot[layout.observer(number)] != NO_VALUE
        },
        nodes=tuple(
            _node(system, state, index)
            for index in range(len(system.ids))
            if index not in absent
        ),
        absent=tuple(system.ids[index].name for index in sorted(absent)),
    )
    try:
        again = restored(system, record).snapshot
    except InputError as error:
        raise ModelError(f"a state cannot be kept: {error.what}") from None
    for column, before, after in zip(layout.columns, snapshot, again, strict=True):
        if before != after:
            raise ModelError(
                f"a state cannot be kept: its {column.kind.value} {column.index} comes "
                "back otherwise",
                remedy="a network keeps nothing but messages and connections, and a "
                "field plain data",
            )
    return record


def _node(system: System, state: Checkpoint, index: int) -> NodeStateRecord:
    layout, kind, snapshot = system.layout, system.types[index], state.snapshot
    local = snapshot[layout.local(index)]
    hidden: Any = system.cell(layout.hidden(index))
    hidden.restore(snapshot[layout.hidden(index)])
    inbox: Any = system.cell(layout.inbox(index))
    inbox.restore(snapshot[layout.inbox(index)])
    values = state.ignored[index] if state.ignored else {}
    ignored = dict(_ignored(kind, system.prototypes[index], values))
    return NodeStateRecord(
        name=system.ids[index].name,
        status=hidden.status.value,
        fields={
            name: encode(item)
            for name, item in zip(kind.identity, local[1:], strict=True)
        },
        ignored=ignored or None,
        timers=tuple(_pending(hidden)),
        scripts=tuple(hidden.positions),
        calls=tuple(len(script.calls) for script in hidden.scripts) or None,
        sequence=hidden.counter,
        messages=tuple(map(_message, inbox.envelopes())),
        links=tuple(_links(inbox)),
    )


def _ignored(
    kind: NodeType, prototype: Any, values: dict[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Json]]:
    """Yield the ignored fields that have not their first values."""
    for name, value in values.items():
        inner = kind.parts.get(name)
        if inner is not None:
            below = prototype.__dict__[name]
            yield from _ignored(inner, below, value, f"{prefix}{name}.")
        elif freeze(value) != freeze(first_value(kind.cls, prototype, name)):
            yield prefix + name, encode_value(value)


def _pending(hidden: Hidden) -> Iterator[PendingRecord]:
    for timer, after in hidden.timers.items():
        yield PendingRecord(
            part=timer.part,
            name=timer.name,
            payload=encode_value(timer.payload),
            after=after if hidden.timed else None,
        )


def _message(envelope: Envelope) -> MessageRecord:
    return MessageRecord(
        src=envelope.src.name, part=envelope.part, message=encode(envelope.key[3])
    )


def _links(inbox: Mailbox) -> Iterator[LinkRecord]:
    links = inbox.connections()
    for peer in sorted(links, key=BY_DECLARATION):
        end, error = links[peer].mine, links[peer].error_here
        if end != CLOSED or error:
            yield LinkRecord(peer=peer.name, end=CONNECTION[end], error=error)
