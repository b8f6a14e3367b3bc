"""A world whose events are judged before they count: each node knows what it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import worldline as wl
from worldline.model.events import Event
from worldline.model.node import Handler
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.usercode.running import Series
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.snapshots.records import ChannelRecord, MemberRecord
from worldline.worlds.companions import Beside, Instead
from worldline.worlds.direct import DirectWorld
from worldline.worlds.undoing import Before

ChoiceSource: TypeAlias = Callable[[int, tuple[float, ...] | None], int]


class Standing(Beside):
    """A node of a direct world, as a companion sees it."""

    def __init__(self, world: DirectWorld, me: wl.NodeId) -> None:
        self.world, self._me = world, me
        self.index = world.system.index[me]

    @property
    def me(self) -> wl.NodeId:
        return self._me

    @property
    def incarnation(self) -> int:
        return 1

    @property
    def lamport(self) -> int:
        return 0

    @property
    def node(self) -> Any:
        return self.world.nodes[self.index]

    @property
    def now(self) -> float:
        return 0.0

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        timers: Mapping[PendingTimer, float] = self._hidden.timers
        return timers

    @property
    def sequence(self) -> int:
        return int(self._hidden.counter)

    @property
    def positions(self) -> Sequence[int]:
        return tuple(self._hidden.positions)

    @property
    def _hidden(self) -> Any:
        return self.world.cells[self.world.system.layout.hidden(self.index)]

    def waiting(self) -> Sequence[tuple[wl.NodeId, str, Any]]:
        return ()

    def life_of(self, peer: wl.NodeId) -> int | None:
        return 1

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        raise NotImplementedError

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        raise NotImplementedError

    def checkpoint(self) -> bytes:
        raise NotImplementedError

    def tell(self, peer: wl.NodeId, companion: str, body: bytes) -> None:
        raise NotImplementedError


class Judged:
    """A direct world of which each event is judged, and undone where that is said.

    Parameters
    ----------
    quickly
        Whether messages are judged as a host has them judged, in a series.
    """

    def __init__(
        self, world: DirectWorld, check: ImmediateCheck, *, quickly: bool = False
    ) -> None:
        self.world, self.check, self._quickly = world, check, quickly
        system = world.system
        self.nodes = [Standing(world, node) for node in system.ids]
        self._before = [
            Before(kind, node)
            for kind, node in zip(system.types, world.nodes, strict=True)
        ]

    def step(
        self,
        event: Event,
        choices: Sequence[int] = (),
        source: ChoiceSource | None = None,
    ) -> Instead | None:
        """Let an event happen unless it is refused; say what is to happen instead."""
        world = self.world
        if event.node is None or not event.kind.runs_handler:
            world.step(event, tuple(choices), charge=False, source=source)
            return None
        beside = self.nodes[world.system.index[event.node]]
        before = self._before[beside.index]
        if event.kind.value in ("reset", "restart"):
            self.check.joined(beside)
        self.check.before(beside, event)
        cells = [None if cell is None else cell.freeze() for cell in world.cells]
        world.step(event, tuple(choices), charge=False, source=source)
        if world.failure is not None:
            return None
        handler = self._handler(event)
        world.door.written = changed = before.changes_after(handler)
        instead = self._judged(beside, event)
        if instead is None:
            before.renew(changed, handler)
            return None
        before.put_back(world.nodes[beside.index])
        for cell, frozen in zip(world.cells, cells, strict=True):
            if cell is not None:
                cell.restore(frozen)
        return instead

    def _handler(self, event: Event) -> Handler | None:
        """Return the only handler that an event can have run."""
        if event.kind is not wl.Kind.DELIVER or event.part or event.node is None:
            return None
        kind = self.world.system.types[self.world.system.index[event.node]]
        return kind.on.get(type(event.payload))

    def _judged(self, beside: Standing, event: Event) -> Instead | None:
        door = self.world.door
        if not self._quickly or event.kind is not wl.Kind.DELIVER or event.part:
            return self.check.after(beside, event, door)
        assert event.peer is not None
        vet, known = self.check.vetting(beside, lambda: None, lambda event: None)
        written: Any = door.written
        again = None
        if type(written) is tuple and not door.timers:
            again = known.get(written)
        with Series() as series:
            if again is not None and again(series):
                return None
            said = vet(event.peer, event.payload, door, series)
        return None if said is None else said[1]


def record(
    world: DirectWorld,
    index: int,
    number: int = 1,
    channels: Mapping[int, ChannelRecord] | None = None,
) -> MemberRecord:
    """Return a checkpoint of a node as it is now."""
    system = world.system
    hidden: Any = world.cells[system.layout.hidden(index)]
    return MemberRecord(
        number=number,
        life=1,
        local=system.types[index].freeze(world.nodes[index]),
        timers=tuple(hidden.timers.items()),
        positions=tuple(hidden.positions),
        sequence=hidden.counter,
        waiting=(),
        channels=channels or {},
    )


def records_of(
    world: DirectWorld, *names: str, number: int = 1
) -> dict[int, MemberRecord]:
    """Return the checkpoints of some nodes as they are now."""
    wanted = [n for n, node in enumerate(world.system.ids) if node.name in names]
    return {index: record(world, index, number) for index in wanted}
