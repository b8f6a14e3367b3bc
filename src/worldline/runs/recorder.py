"""A direct world whose steps are written down."""

from __future__ import annotations

import dataclasses
from typing import Any, final

from worldline._version import __version__
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.events import ENVELOPE_KINDS, Choices, Event
from worldline.model.faults import BUDGETS
from worldline.model.node import NodeType
from worldline.model.observers import Sent
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.hidden import Hidden, Status
from worldline.model.semantics.outcome import Outcome, TimerChange
from worldline.model.system import System
from worldline.runs.senders import Senders
from worldline.trace.causality import Order, lamport_time
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode, encode_value
from worldline.trace.records import (
    FREE,
    INJECTED,
    PROLOGUE,
    STATUS,
    FailureRecord,
    Header,
    NodeRecord,
    PropertyRecord,
    SendRecord,
    StepRecord,
    TimerRecord,
)
from worldline.worlds.direct import DirectWorld


@final
class Recorder:
    """Runs a system step by step and returns a record of each.

    Parameters
    ----------
    system
        The system; it is not started.

    Attributes
    ----------
    world
        The world, in the state after the last step.
    """

    def __init__(self, system: System) -> None:
        self.world = DirectWorld(system)
        self._locals = list(system.initial)
        self._senders = Senders(self.world)
        self._order = Order(sockets_break=system.faults.break_sockets)
        self._times: dict[int, int] = {}

    def step(
        self,
        number: int,
        phase: str,
        event: Event,
        choices: Choices,
        *,
        lines: int | None = None,
    ) -> StepRecord:
        """Let `event` happen as step `number`.

        Raises
        ------
        NotEnabled
            If it cannot happen; nothing has changed.
        """
        status = self._status(event)
        sent_in = self._senders.find(event)
        outcome = self.world.step(event, choices, charge=phase != PROLOGUE, lines=lines)
        self._senders.note(number, event, outcome)
        record = StepRecord(
            step=number,
            phase=phase,
            node=None if event.node is None else event.node.name,
            kind=event.kind.value,
            part=event.part,
            name=event.name,
            peer=None if event.peer is None else event.peer.name,
            payload=_payload(event),
            sent_in=sent_in,
            choices=outcome.choices,
            widths=outcome.widths,
            result=outcome.result.value,
            failure=_failure(outcome.failure),
            sends=tuple(map(_send, outcome.sends)),
            timers=tuple(map(_timer, outcome.timers)),
            changes=self._changes(event, outcome, status),
            log=outcome.log,
            lamport=1,
        )
        time = lamport_time(self._times[n] for n in self._order.add(record))
        self._times[number] = time
        return dataclasses.replace(record, lamport=time)

    def _changes(
        self, event: Event, outcome: Outcome, status: Status | None
    ) -> dict[str, tuple[Json, Json]]:
        """Return the changed fields; what a failed handler left behind is void."""
        if event.node is None or outcome.failure is not None:
            return {}
        found: dict[str, tuple[Json, Json]] = {}
        now = self._status(event)
        if status is not None and now is not None and status is not now:
            found[STATUS] = (status.value, now.value)
        index = self.world.system.index[event.node]
        kind = self.world.system.types[index]
        before, after = self._locals[index], kind.freeze(self.world.nodes[index])
        self._locals[index] = after
        _compare(kind, before, after, "", found)
        return found

    def _status(self, event: Event) -> Status | None:
        system = self.world.system
        if event.node is None or event.node not in system.index:
            return None
        index = system.index[event.node]
        hidden: Hidden = self.world.cells[system.layout.hidden(index)]
        return hidden.status


def _compare(
    kind: NodeType,
    before: Frozen,
    after: Frozen,
    prefix: str,
    found: dict[str, tuple[Json, Json]],
) -> None:
    if before == after:
        return
    for position, name in enumerate(kind.identity, 1):
        old, new = before[position], after[position]
        inner = kind.parts.get(name)
        if inner is not None:
            _compare(inner, old, new, f"{prefix}{name}.", found)
        elif old != new:
            found[prefix + name] = (encode(old), encode(new))


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
    if event.kind in ENVELOPE_KINDS and event.envelope is not None:
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


def header_of(system: System, *, engine: str, seed: int | None) -> Header:
    """Return the header of the traces of a system."""
    origin = system.origin
    return Header(
        worldline=__version__,
        system=system.name,
        target=None if origin is None else origin.target,
        parameters={} if origin is None else dict(origin.parameters),
        source=None if origin is None else origin.source,
        seed=seed,
        engine=engine,
        nodes=tuple(
            _node(name.name, kind, frozen)
            for name, kind, frozen in zip(
                system.ids, system.types, system.initial, strict=True
            )
        ),
        network=_network(system.network),
        faults=_faults(system),
        options=_options(system),
        cuts=tuple(
            tuple(n.name for n in system.ids if n in cut) for cut in system.cuts
        ),
        properties=tuple(
            PropertyRecord(name=known.name, kind=known.kind.value)
            for known in system.properties
        ),
    )


def _options(system: System) -> dict[str, Json]:
    found: dict[str, Json] = {
        "unhandled": system.unhandled,
        "boot": system.boot,
        "timed": system.timed,
        "ignore_noops": system.ignore_noops,
    }
    if system.open_workload:
        found["open_workload"] = True
    if system.injected is not None:
        found[INJECTED] = system.injected
        found[FREE] = list(system.free_faults)
    return found


def _node(name: str, kind: NodeType, frozen: Frozen) -> NodeRecord:
    fields = {
        field: encode(item)
        for field, item in zip(kind.identity, frozen[1:], strict=True)
    }
    return NodeRecord(name=name, kind=kind.cls.__qualname__, fields=fields)


def _network(network: Any) -> dict[str, Json]:
    options = {
        field.name: encode(freeze(getattr(network, field.name)))
        for field in dataclasses.fields(network)
        if field.name not in ("name", "capabilities")
    }
    return {"name": network.name, **options}


def _faults(system: System) -> dict[str, Json]:
    faults = system.faults
    found: dict[str, Json] = {name: getattr(faults, name) for name in BUDGETS}
    found["nodes"] = None if faults.nodes is None else [n.name for n in faults.nodes]
    found["break_sockets"] = faults.break_sockets
    if faults.deaf is not None:
        found["deaf"] = faults.deaf
    return found
