"""A world whose steps are written down."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, final

from worldline._version import __version__
from worldline.loading.predicates import PREDICATES
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.events import Choices, Event
from worldline.model.gauges import fold
from worldline.model.network import Networks, Recorded
from worldline.model.node import NodeType
from worldline.model.semantics.hidden import Hidden
from worldline.model.system import System
from worldline.runs.contents import contents_record
from worldline.runs.nested_calls import NestedCalls, watch_of
from worldline.runs.predicted import faults_record
from worldline.runs.senders import Senders
from worldline.runs.step_record import LocalState, step_record
from worldline.runs.unseen import seen_of
from worldline.trace.causality import Order, lamport_time
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode
from worldline.trace.records import (
    CONTENTS,
    DEVIATION,
    DRAWN,
    FREE,
    INJECTED,
    PROLOGUE,
    Header,
    NodeRecord,
    PropertyRecord,
    StepRecord,
)
from worldline.trace.state import PREDICTED, UNSEEN
from worldline.worlds.world import World


@final
class Recorder:
    """Steps a world and returns a record of each step.

    Parameters
    ----------
    world
        The world, in the state before the first step.
    nested
        Whether the calls between the services of a node are written down, too.

    Attributes
    ----------
    world
        The same, in the state after the last step.
    seen
        What is known of a recorded run of which journals are missing; else None.
    """

    def __init__(self, world: World, *, nested: bool = True) -> None:
        self.world = world
        self._watch = watch_of(world) if nested else None
        self._locals: dict[int, Frozen] = {}
        self._senders = Senders(world)
        self._order = Order(sockets_break=world.system.faults.break_sockets)
        self._times: dict[int, int] = {}
        self.seen = seen_of(world)

    def step(
        self,
        number: int,
        phase: str,
        event: Event,
        choices: Choices,
        *,
        lines: int | None = None,
        time: float | None = None,
        steer: str | None = None,
    ) -> StepRecord:
        """Let `event` happen as step `number`.

        Parameters
        ----------
        time
            When it happens, in a world that keeps the time.
        steer
            Why it happens in the place of a message that was refused.

        Raises
        ------
        NotEnabled
            If it cannot happen; nothing has changed.
        """
        if self.seen is not None:
            self.seen.come(number)
        before = self._local(event)
        sent_in = self._senders.find(event)
        happen = functools.partial(
            self.world.step, event, choices, charge=phase != PROLOGUE, lines=lines
        )
        calls: NestedCalls | None = None
        if self._watch is None or lines is not None:
            outcome = happen()
        else:
            outcome, calls = self._watch.step(event, happen)
        self._senders.note(number, event, outcome)
        after = before if outcome.failure else self._local(event, changed=True)
        record = step_record(
            number, phase, event, outcome, before, after, sent_in=sent_in, calls=calls
        )
        lamport = lamport_time(self._times[n] for n in self._order.add(record))
        self._times[number] = lamport
        instruments = self.world.instruments
        if instruments is not None and time is not None:
            instruments.time = time
            if outcome.failure is None and self.world.system.gauges:
                timed = outcome.as_timed(event, time, lamport)
                gauges, view = self.world.system.gauges, self.world.view
                fold(gauges, instruments, timed, view, number=number)
        return dataclasses.replace(record, lamport=lamport, time=time, steer=steer)

    def _local(self, event: Event, *, changed: bool = False) -> LocalState | None:
        """Return the present state of the node of an event.

        Parameters
        ----------
        changed
            Whether its fields may differ from what they were the last time.
        """
        system, world = self.world.system, self.world
        if event.node is None or event.node not in system.index:
            return None
        index = system.index[event.node]
        kind = system.types[index]
        if changed or index not in self._locals:
            self._locals[index] = kind.freeze(world.nodes[index])
        hidden: Hidden = world.cells[system.layout.hidden(index)]
        return LocalState(kind, self._locals[index], hidden.status)


def header_of(
    system: System,
    *,
    engine: str,
    seed: int | None,
    drawn: Mapping[str, Json] | None = None,
) -> Header:
    """Return the header of the traces of a system; `DRAWN` says what `drawn` is."""
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
        faults=faults_record(system.faults),
        options={**_options(system), **({DRAWN: {**drawn}} if drawn else {})},
        cuts=tuple(
            tuple(n.name for n in system.ids if n in cut) for cut in system.cuts
        ),
        properties=tuple(
            PropertyRecord(name=prop.name, kind=prop.kind.value)
            for prop in system.properties
        ),
    )


def _options(system: System) -> dict[str, Json]:
    options: dict[str, Json] = {
        "unhandled": system.unhandled,
        "boot": system.boot,
        "timed": system.timed,
        "ignore_noops": system.ignore_noops,
    }
    if system.open_workload:
        options["open_workload"] = True
    if system.injected is not None:
        options[INJECTED] = system.injected
        options[FREE] = list(system.free_faults)
    if system.is_predicted:
        options[PREDICTED] = True
    if system.deviation is not None:
        step, reason, is_sure = system.deviation
        options[DEVIATION] = {"step": step, "reason": reason, "sure": is_sure}
    if system.unseen is not None:
        nodes, histories = system.unseen
        options[UNSEEN] = {"nodes": {**nodes}, "histories": histories}
    if system.predicates is not None:
        options[PREDICATES] = system.predicates
    if system.contents:
        options[CONTENTS] = [contents_record(one) for one in system.contents]
    return options


def _node(name: str, kind: NodeType, frozen: Frozen) -> NodeRecord:
    fields = {
        field: encode(item)
        for field, item in zip(kind.identity, frozen[1:], strict=True)
    }
    return NodeRecord(name=name, kind=kind.cls.__qualname__, fields=fields)


def _network(network: Any) -> dict[str, Json]:
    if isinstance(network, Networks):
        members = zip(network.labels, network.members, strict=True)
        return {"name": network.name, **{what: _network(one) for what, one in members}}
    if isinstance(network, Recorded):
        missing: list[Json] = [*network.missing]
        of = _network(network.of)
        return {"name": network.name, "of": of, "missing": missing}
    options = {
        field.name: encode(freeze(getattr(network, field.name)))
        for field in dataclasses.fields(network)
        if field.name not in ("name", "capabilities")
    }
    return {"name": network.name, **options}
