"""Recordings of simulated runs: the journals that hosts would have written of them."""

from __future__ import annotations

import copy
import operator
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.trace.journal.reframed import contents_of, reframed

import worldline as wl
from worldline._version import __version__
from worldline.model.drawn import OneOf
from worldline.model.events import Event
from worldline.model.fields import Role
from worldline.model.kinds import Kind
from worldline.model.node import NodeType
from worldline.model.semantics.execute import Result
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.outcome import Outcome, as_made
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.simulate import _question
from worldline.search.simulating.tally import SeedTally
from worldline.trace.journal.alike import ALIKE
from worldline.trace.journal.checkpoints import (
    NodeCheckpoint,
    SavedTimer,
    pack_checkpoint,
)
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH
from worldline.trace.journal.lasting import lasting_paths
from worldline.trace.journal.messagepack import pack, unpack
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    CheckpointRecord,
    DeltaRecord,
    ErredRecord,
    FailedRecord,
    FateRecord,
    FiredRecord,
    JournalRecord,
    ReceivedRecord,
    StartedRecord,
    StoppedRecord,
    spell,
)
from worldline.trace.journal.segments import (
    VERSION,
    JournalHeader,
    folder_of,
    opening,
)
from worldline.worlds.simulation import Simulation

WALL = 1_700_000_000 * 10**9
"""Nanoseconds: when all of these runs began."""


_LASTING = frozenset({Role.DURABLE, Role.GHOST})


@dataclass
class Life:
    """What one incarnation has written down so far."""

    number: int
    turns: list[tuple[float, list[JournalRecord]]] = field(default_factory=list)


class Scribe:
    """Writes down a simulation as the hosts of its nodes would."""

    def __init__(
        self, simulation: Simulation, system: wl.System, every: float | None = None
    ) -> None:
        self.simulation, self.system = simulation, system
        self.every = every
        self.saved = [0.0] * len(system.ids)
        self.codec = Codec(system)
        self.lives: list[list[Life]] = [[] for _ in system.ids]
        self.lamport = [0] * len(system.ids)
        # With the message, so that no other has the identity of one that was lost.
        self.under_way: dict[Any, deque[tuple[bytes, int, Any]]] = defaultdict(deque)
        self.names = [[*lasting_paths(kind)] for kind in system.types]
        self.durable: list[dict[str, Any]] = [{} for _ in system.ids]
        self.counters = [0] * len(system.ids)

    def after(self) -> None:
        """Write down the last event."""
        event, outcome = self.simulation.event, self.simulation.outcome()
        if event.node is None or event.kind is Kind.CRASH:
            return
        index, kind = self.system.index[event.node], event.kind
        under_way = self.under_way[event.peer, index, id(event.payload)]
        if kind is Kind.DUPLICATE:
            under_way.appendleft(under_way[0])
            return
        if kind in (Kind.DROP, Kind.REFUSE):
            under_way.popleft()
            return
        packet = b""
        if kind is Kind.DELIVER:
            packet, sent, _ = under_way.popleft()
            self.lamport[index] = max(self.lamport[index], sent)
        made = as_made(event, outcome.choices)  # a host is told what was drawn
        drawn = 0
        if made is not event:
            drawn = sum(type(a) is OneOf and len(a.options) > 1 for a in event.payload)
        records = [self.event(made, index, packet), *self.notes(outcome, index, drawn)]
        self.lamport[index] += 1
        self.block(index, records)
        now = self.simulation.now
        if self.every is not None and now >= self.saved[index] + self.every:
            self.saved[index] = now
            self.block(index, [self.checkpoint(index)])
        for place, one in enumerate(outcome.sends):
            if one.taken:
                to, now = self.system.index[one.dst], self.lamport[index]
                name = index, len(self.lives[index]), now, place
                packet = self.codec.packet(*name, one.part, one.message)
                parcel = packet, now, one.message
                self.under_way[one.src, to, id(one.message)].append(parcel)

    def event(self, event: Event, index: int, packet: bytes) -> JournalRecord:
        kind, lives = event.kind, self.lives[index]
        if kind in (Kind.START, Kind.RESTART, Kind.RESET):
            lives.append(Life(len(lives) + 1))
            is_first = len(lives) == 1
            durable = None if is_first else dict(self.durable[index])
            counter, lamport = self.counters[index], self.lamport[index]
            return StartedRecord(len(lives), lamport, counter, durable, 0.0)
        if kind is Kind.DELIVER:
            return ReceivedRecord(packet)
        if kind is Kind.TIMER:
            return FiredRecord(event.part, event.name, event.payload)
        if kind is Kind.CALL:
            return CalledRecord(event.name, event.payload)
        assert kind is Kind.TRANSPORT_ERROR, kind
        assert event.peer is not None
        return ErredRecord(self.system.index[event.peer], event.name, "")

    def notes(
        self, outcome: Outcome, index: int, drawn: int
    ) -> Iterator[JournalRecord]:
        world = self.simulation.world
        refused = tuple(n for n, sent in enumerate(outcome.sends) if not sent.taken)
        clock = world.door.clock if world.door.clock_read else None
        choices = outcome.choices[drawn:]
        if choices or refused or clock is not None:
            yield AnswersRecord(0, choices, clock, refused)
        if outcome.result is Result.UNHANDLED:
            yield FateRecord(0, "unhandled", "")
        failure = outcome.failure
        if failure is not None:
            said = failure.kind, failure.name, failure.where, failure.message
            yield FailedRecord(0, *said)
            return
        node, kept = world.nodes[index], self.durable[index]
        self.counters[index] = world.hidden[index].counter
        there = {path: operator.attrgetter(path)(node) for path in self.names[index]}
        changed = [n for n in there if n not in kept or kept[n] != there[n]]
        if changed:
            kept.update({name: copy.deepcopy(there[name]) for name in changed})
            now = {name: kept[name] for name in changed}
            yield DeltaRecord(0, now, self.counters[index])

    def checkpoint(self, index: int) -> CheckpointRecord:
        """Return the state of a node, as its host would save it."""
        world = self.simulation.world
        hidden, node = world.hidden[index], world.nodes[index]
        state = NodeCheckpoint(
            len(self.lives[index]),
            self.lamport[index],
            hidden.counter,
            dict(fields_of(self.system.types[index], node)),
            tuple(
                SavedTimer(timer.part, timer.name, timer.payload, float(after))
                for timer, after in hidden.timers.items()
            ),
            (),
            b"",
            (),
        )
        return CheckpointRecord(pack_checkpoint(state, self.codec))

    def block(self, index: int, records: list[JournalRecord]) -> None:
        self.block_at(self.simulation.now, index, records)

    def block_at(self, time: float, index: int, records: list[JournalRecord]) -> None:
        self.lives[index][-1].turns.append((time, records))

    def spelt(
        self, index: int, records: list[JournalRecord], passed: int, *, first: bool
    ) -> bytes:
        """Return what is in the block of a turn, so many nanoseconds after the one before."""
        values = self.codec.values
        clock, offset = (5_000 * index, WALL - 5_000 * index) if first else (0, 0)
        said = [shortened(r) or spell(r, values) for r in records]
        return pack([clock + passed, offset, said])

    def stop(self) -> None:
        """Let all nodes that are up leave."""
        for index, hidden in enumerate(self.simulation.world.hidden):
            if hidden.status is Status.UP and self.simulation.world.failure is None:
                self.block(index, [StoppedRecord("asked to")])

    def write(self, folder: Path, *, segmented: bool = False) -> None:
        """Write all journals.

        Parameters
        ----------
        segmented
            Whether a segment begins with each checkpoint.
        """
        for index, lives in enumerate(self.lives):
            node = self.system.ids[index].name
            place = folder_of(folder, node)
            place.mkdir(parents=True)
            for life in lives:
                parts: list[list[bytes]] = [[]]
                before = 0
                for time, records in life.turns:
                    if segmented and isinstance(records[-1], CheckpointRecord):
                        parts.append([])
                        before = 0
                    now, first = int(time * 1e9), not parts[-1]
                    passed = now - before
                    parts[-1].append(self.spelt(index, records, passed, first=first))
                    before = now
                size: int | None = None
                for segment, contents in enumerate(parts):
                    head = opening(self.header(node, life.number, segment, size))
                    data = reframed([*contents_of(head), *contents])
                    size = len(data)
                    file = place / f"{life.number}-{segment}.wlj"
                    file.write_bytes(data)

    def header(
        self, node: str, life: int, segment: int, before: int | None
    ) -> JournalHeader:
        origin = self.system.origin
        return JournalHeader(
            version=VERSION,
            worldline=__version__,
            system=self.system.name,
            target=None if origin is None else origin.target,
            parameters={} if origin is None else dict(origin.parameters),
            digest=self.codec.digest.lines,
            fields={},
            node=node,
            incarnation=life,
            segment=segment,
            run="simulated",
            seed=0,
            source=None if origin is None else origin.source,
            before=before,
        )


def shortened(record: JournalRecord) -> list[Any] | None:
    """Return the short form of a message that came in, if it has one."""
    if not isinstance(record, ReceivedRecord):
        return None
    if record.packets[:LENGTH] != (len(record.packets) - LENGTH).to_bytes(LENGTH):
        return None
    frame = unpack(record.packets[LENGTH:])
    _, sender, life, time, place, beside, part, number, *fields = frame
    if beside is not None or part:
        return None
    return [ALIKE, sender, life, len(fields), place, number, time, *fields]


def fields_of(kind: NodeType, node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all fields of a node, by path."""
    for name in kind.roles:
        if name in kind.parts:
            part = node.__dict__[name]
            yield from fields_of(kind.parts[name], part, f"{path}{name}.")
        else:
            yield path + name, copy.deepcopy(node.__dict__[name])


def simulation_of(system: wl.System, seed: int, **options: Any) -> Simulation:
    """Return the simulation that `wl.simulate` would run."""
    made = _question(system, [], SimulateOptions(**options))
    return Simulation(made.system, made.conditions, seed)


def by_hand(
    folder: Path,
    system: wl.System,
    turns: list[tuple[float, str, JournalRecord | list[JournalRecord]]],
) -> Path:
    """Write a recording: what happened when, and at which node, all in first lives."""
    scribe = Scribe(simulation_of(system, 0), system)
    names = [node.name for node in system.ids]
    for index in range(len(names)):
        scribe.lives[index].append(Life(1))
        scribe.block_at(0.0, index, [StartedRecord(1, 0, 0, None, 0.0)])
    for time, node, record in turns:
        records = record if isinstance(record, list) else [record]
        scribe.block_at(time, names.index(node), records)
    scribe.write(folder)
    return folder


def simulated(system: wl.System, seed: int, **options: Any) -> SeedTally:
    """Return what a simulation judges of a run; all properties after each event."""
    question = _question(system, [*system.properties], SimulateOptions(**options))
    return JudgedRun(question, seed, lambda: None, detailed=True).run()


def record(
    folder: Path,
    system: wl.System,
    *,
    every: float | None = None,
    segmented: bool = False,
    **options: Any,
) -> Path:
    """Write the recording of a simulated run; return its folder.

    Parameters
    ----------
    every
        Seconds between two checkpoints of a node; None for none.
    """
    scribe_of(system, every=every, **options).write(folder, segmented=segmented)
    return folder


def scribe_of(
    system: wl.System,
    *,
    seed: int = 0,
    seconds: float = 60.0,
    events: int | None = None,
    every: float | None = None,
    **options: Any,
) -> Scribe:
    """Return what the journals of a simulated run have."""
    simulation = simulation_of(system, seed, **options)
    scribe = Scribe(simulation, system, every)
    count = 0
    with listening(), watched():
        while True:
            if simulation.next(seconds) is None or count == events:
                break
            count += 1
            scribe.after()
    scribe.stop()
    return scribe
