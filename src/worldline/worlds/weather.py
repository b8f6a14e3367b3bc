"""Weather: what befalls nodes and the network of a run at given times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.layout import Layout
from worldline.worlds.chance import Chance
from worldline.worlds.clocked import ClockedWorld

FAULTS = {
    "crash": ("crashes", "restarts"),
    "restart": ("crashes", "restarts"),
    "reset": ("resets",),
    "cut": ("partitions",),
    "heal": ("partitions",),
    "loss": ("drops",),
    "delay": (),
}
"""The faults, by their names in `Faults`, that each kind of weather needs."""

SILENT = "silent"
"""What stands beside a reset that not all peers notice."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherEvent:
    """Something that befalls a run, once or again and again.

    Attributes
    ----------
    time
        When it does first, in seconds since the run began.
    every
        Seconds from one time to the next; None if it happens once.
    what
        A key of `FAULTS`.
    node
        Which node it befalls: for crash, restart and reset. None for one that is drawn,
        each time, of those that it can befall.
    side
        The nodes on one side, for a cut.
    silent
        The share of the connected peers that do not notice a reset; each is drawn by
        itself, each time.
    amount
        From then on: the share of messages that is lost, or by what latencies are
        multiplied.
    """

    time: float
    what: str
    every: float | None = None
    node: NodeId | None = None
    side: frozenset[NodeId] = frozenset()
    silent: float = 0.0
    amount: float = 0.0

    def __str__(self) -> str:
        words = [self.what]
        if self.what in _OF_NODES:
            words.append("any" if self.node is None else str(self.node))
        words += sorted(map(str, self.side))
        if self.silent:
            words.append(f"{SILENT} {self.silent:g}")
        if self.what in ("loss", "delay"):
            words.append(f"{self.amount:g}")
        again = "" if self.every is None else f"every {self.every:g} s "
        return f"{again}at {self.time:g} s {' '.join(words)}"


_OF_NODES = {
    "crash": (Kind.CRASH, Status.UP),
    "restart": (Kind.RESTART, Status.DOWN),
    "reset": (Kind.RESET, Status.UP),
}
"""The event, and the status of a node that it can befall."""


def event_of(one: WeatherEvent, world: ClockedWorld, chance: Chance) -> Event | None:
    """Return what weather does now; None if nothing, as to crash what is down."""
    if one.what in _OF_NODES:
        return _strike(one, world, chance)
    partition = world.around[Layout.PARTITION]
    if one.what == "heal" and partition.cut is not None:
        return Event(Kind.HEAL)
    if one.what == "cut" and partition.cut is None:
        number = cut_of(one.side, world.system.cuts, frozenset(world.system.ids))
        return None if number is None else Event(Kind.PARTITION, payload=number)
    return None


def _strike(one: WeatherEvent, world: ClockedWorld, chance: Chance) -> Event | None:
    kind, status = _OF_NODES[one.what]
    system, hidden = world.system, world.hidden
    node = one.node
    if node is None:
        struck = chance.strike(
            index
            for index, other in enumerate(system.ids)
            if hidden[index].status is status and system.faults.strikes(other)
        )
        node = None if struck is None else system.ids[struck]
    elif hidden[system.index[node]].status is not status:
        node = None
    if node is None:
        return None
    payload: Any = _deaf(one, world, chance, node) if kind is Kind.RESET else None
    return Event(kind, node, payload=payload)


def _deaf(
    one: WeatherEvent, world: ClockedWorld, chance: Chance, node: NodeId
) -> tuple[NodeId, ...]:
    """Return the peers that do not notice a reset, in the order of its event."""
    if not one.silent:
        return ()
    system = world.system
    peers = world.mailbox(system.index[node]).silent_peers()
    places = (system.index[peer] for peer in peers)
    return tuple(system.ids[deaf] for deaf in chance.deafen(places, one.silent))


def cut_of(
    side: frozenset[NodeId],
    cuts: tuple[frozenset[NodeId], ...],
    all_: frozenset[NodeId],
) -> int | None:
    """Return which cut has these nodes on one side; None if none has."""
    sides = (side, all_ - side)
    return next((number for number, cut in enumerate(cuts) if cut in sides), None)
