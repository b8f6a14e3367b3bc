"""The beginning of a run or search: the start, or a state that a trace gives.

Then come the start handlers, in a run from the start, and the prologue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from worldline.model.absent import restored_cell, unknown_in
from worldline.model.events import Choices, Event, Schedule
from worldline.model.faults import FaultBudget, Faults
from worldline.model.semantics.execute import Failure
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.layout import Layout
from worldline.model.system import System
from worldline.worlds.checkpoint import Checkpoint, go_back
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import Snapshot, World


@final
@dataclass(frozen=True, slots=True)
class Start:
    """One initial state and how it came about.

    Attributes
    ----------
    boot, prologue
        The schedules that lead to it.
    snapshot
        The state, or None if a handler failed on the way.
    failure
        How it failed.
    begins
        The state in which the schedules begin; None for the start.
    absent
        The names of what nothing is known of there.
    """

    boot: tuple[tuple[Event, Choices], ...]
    prologue: tuple[tuple[Event, Choices], ...]
    snapshot: Snapshot | None
    failure: Failure | None
    begins: Checkpoint | None = None
    absent: tuple[str, ...] = ()

    @property
    def is_anywhere(self) -> bool:
        """Whether perhaps no run of the system leads there.

        It was recorded, or it had other faults: a network may be cut and a node down
        though the system has no partitions and no crashes.
        """
        return self.begins is not None or bool(self.prologue)


@final
@dataclass(frozen=True, slots=True)
class Beginning:
    """The initial states of a search, and what is left out by beginning there.

    Attributes
    ----------
    scope
        What a verdict is about, as a few words each; empty if about all runs.
    trace
        The file that has the run up to there, if one has.
    notes
        What the user should know of that file.
    """

    starts: list[Start]
    scope: tuple[str, ...] = ()
    trace: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def anywhere(self) -> bool:
        """Whether it is in a state to which perhaps no run of the system leads."""
        return any(start.is_anywhere for start in self.starts)

    @property
    def absent(self) -> tuple[str, ...]:
        """The names of what nothing is known of: nodes, and observers."""
        return tuple(
            dict.fromkeys(name for start in self.starts for name in start.absent)
        )

    def down(self, system: System) -> tuple[str, ...]:
        """Return the names of the nodes that are down in one of the states."""
        names: dict[str, None] = {}
        for start in self.starts:
            if start.snapshot is not None:
                names.update(dict.fromkeys(_down_in(system, start.snapshot)))
        return tuple(names)

    def charged(self, faults: Faults) -> Beginning:
        """Return it with these faults left, each as often as they say."""
        return replace(self, starts=[_charged(start, faults) for start in self.starts])


def starts(system: System) -> list[Start]:
    """Return every initial state: one per combination of choices while booting.

    With a prologue there is one: it begins with the first choices.
    """
    begun: list[Start] = []
    for choices in _odometer(system):
        begun.append(choices)
        if system.prologue or choices.failure is not None:
            break
    return begun


def lead(
    world: World, boot: Schedule, prologue: Schedule, begins: Checkpoint | None
) -> None:
    """Bring a fresh world to state 0: where a run begins, after boot and prologue.

    Raises
    ------
    NotEnabled
        If an event cannot happen.
    """
    if begins is not None:
        go_back(world, begins)
    for charge, part in ((True, boot), (False, prologue)):
        for event, choices in part:
            world.step(event, choices, charge=charge)


def start_after(
    system: System,
    boot: Schedule,
    prologue: Schedule,
    begins: Checkpoint | None = None,
) -> Start:
    """Return the state to which a run leads, as one to begin with.

    The run becomes a prologue: its faults are charged to no budget, so each may happen
    from there on as often as the system says, however often it has; and however many
    were left in the state in which it begins.

    Raises
    ------
    NotEnabled
        If an event cannot happen.
    """
    if begins is not None:
        begins = Checkpoint(
            _with_budget(begins.snapshot, system.faults), begins.ignored
        )
    absent = () if begins is None else unknown_in(system, begins.snapshot)
    if begins is not None and not (boot or prologue):
        return Start((), (), begins.snapshot, None, begins, absent)
    world = DirectWorld(system)
    lead(world, boot, prologue, begins)
    snapshot = None if world.failure else world.snapshot()
    return Start(tuple(boot), tuple(prologue), snapshot, world.failure, begins, absent)


def _down_in(system: System, snapshot: Snapshot) -> list[str]:
    columns = map(system.layout.hidden, range(len(system.ids)))
    cells = [restored_cell(system, column, snapshot[column]) for column in columns]
    pairs = zip(system.ids, cells, strict=True)
    return [node.name for node, cell in pairs if cell.status is Status.DOWN]


def _charged(start: Start, faults: Faults) -> Start:
    if start.snapshot is None:
        return start
    begins = start.begins
    if begins is not None:
        begins = Checkpoint(_with_budget(begins.snapshot, faults), begins.ignored)
    snapshot = _with_budget(start.snapshot, faults)
    return replace(start, snapshot=snapshot, begins=begins)


def _with_budget(snapshot: Snapshot, faults: Faults) -> Snapshot:
    columns = list(snapshot)
    columns[Layout.BUDGET] = FaultBudget(faults).freeze()
    return tuple(columns)


def _odometer(system: System) -> Iterator[Start]:
    given: list[int] | None = []
    while given is not None:
        world = DirectWorld(system)
        taken: list[int] = []
        widths: list[int] = []
        boot: list[tuple[Event, Choices]] = []
        for event in world.boot_events():
            outcome = world.step(event, tuple(given[len(taken) :]))
            boot.append((event, outcome.choices))
            taken += outcome.choices
            widths += outcome.widths
            if world.failure is not None:
                break
        prologue = [] if world.failure else world.prepare(system.prologue)
        snapshot = None if world.failure else world.snapshot()
        yield Start(tuple(boot), tuple(prologue), snapshot, world.failure)
        given = _next(taken, widths)


def _next(taken: list[int], widths: list[int]) -> list[int] | None:
    for position in range(len(taken) - 1, -1, -1):
        if taken[position] + 1 < widths[position]:
            return [*taken[:position], taken[position] + 1]
    return None
