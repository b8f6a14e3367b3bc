"""Events that companions refuse in a run by the clock: undone, and what is in their place.

What is in the place of an event is an ordinary event of the system, so that the run is
one that every world replays: `disconnect` for a message on a connection, `refuse` where
it is not open yet, `drop` for a datagram. A timer or a call that is put off is none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.faults import FaultBudget
from worldline.model.filters import REFUSABLE
from worldline.model.kinds import Kind
from worldline.model.network import permits
from worldline.model.network.networks import carrier
from worldline.model.node import Handler
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.instead import all_instead_of, fits
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.transitions import changes
from worldline.model.system import System
from worldline.worlds.clocked import ClockedWorld
from worldline.worlds.companions import Companion, Instead
from worldline.worlds.undoing import Before
from worldline.worlds.virtual_life import VirtualLife

Undo: TypeAlias = Callable[[], bool]
"""Puts back what was before an event, if that is not to be; says whether it did."""

REFUSING = ("drops", "connection_errors")
"""The faults that stand in the place of messages, by their names in `Faults`."""


def able_to_refuse(system: System) -> tuple[str, ...]:
    """Return those of the faults that the network of a system has."""
    return tuple(name for name in REFUSING if permits(system.network, name))


@final
class Vetted:
    """An event that may be undone once its handler has returned.

    Called then, it asks companions, puts back what was before if one of them refuses the
    event, and says whether one did.

    Attributes
    ----------
    refusal
        Who refused it, and what is to happen instead.
    """

    def __init__(
        self,
        world: ClockedWorld,
        life: VirtualLife,
        event: Event,
        companions: Sequence[Companion],
    ) -> None:
        self._world, self._life, self._event = world, life, event
        self._companions = companions
        self.refusal: tuple[Companion, Instead] | None = None
        index, hidden = life.index, world.hidden[life.index]
        if life.before is None:
            life.before = Before(world.system.types[index], life.node)
        self._before = life.before
        if event.kind not in REFUSABLE:
            return
        self._timers = dict(hidden.timers)
        self._positions = list(hidden.positions)
        # Nothing else is changed by what arrives, and by what its node does.
        arrives = world.keeps_mail and event.kind is Kind.DELIVER
        changed = changes(world.system, event) if arrives else ()
        self._columns = [
            (column, world.cells[column].freeze()) for column, _ in changed
        ]

    def __call__(self) -> bool:
        self._world.door.written = changed = self._before.changes()
        for companion in self._companions:
            instead = companion.vet(self._life, self._event, self._world.door)
            if instead is not None:
                self.refusal = companion, instead
                if self._event.kind in REFUSABLE:
                    self._put_back()
                return True
        self._before.renew(changed)
        return False

    def _put_back(self) -> None:
        world, index = self._world, self._life.index
        self._before.put_back(self._life.node)
        hidden = world.hidden[index]
        hidden.timers.clear()
        hidden.timers.update(self._timers)
        hidden.positions[:] = self._positions
        for column, frozen in self._columns:
            world.cells[column].restore(frozen)
            world.touched.add(column)
        layout = world.system.layout
        world.touched.update((layout.local(index), layout.hidden(index)))


def run_vetted(
    world: ClockedWorld,
    index: int,
    handler: Handler,
    arguments: tuple[Any, ...],
    now: float,
    undo: Undo,
) -> Result | Failure | None:
    """Run a plain handler as `ClockedWorld.run` does; None if it was undone.

    Whoever looks at its node after each handler does so only if it was not.
    """
    hidden, before = world.hidden[index], world.hidden[index].counter
    then, world.then = world.then, None
    try:
        result = world.run(index, handler, arguments, now)
    finally:
        world.then = then
    if type(result) is Failure:
        return result
    after, hidden.counter = hidden.counter, before
    if undo():
        return None
    hidden.counter = after
    if then is not None:
        world.series.enter(handler.number)
        try:
            then(index)
        finally:
            world.series.leave()
    return result


def in_place_of(world: ClockedWorld, event: Event, instead: Instead) -> Event | None:
    """Return the event that happens in the place of one that is refused.

    None where nothing does: for timers and calls, for what is put off, and for a message
    of a node to itself, which has no connection.

    Raises
    ------
    ModelError
        If the network has no such event.
    """
    node, peer, envelope = event.node, event.peer, event.envelope
    is_lost = event.kind is Kind.DELIVER and instead is not Instead.PUT_OFF
    if not is_lost or node == peer or node is None or peer is None or envelope is None:
        return None
    network = carrier(world.system.network, event.part, type(event.payload))
    fault = "drops" if instead is Instead.CONSUMED else "connection_errors"
    budget: FaultBudget = world.around[Layout.BUDGET]
    if not permits(network, fault) or not budget.allows(fault):
        raise ModelError(
            f"a companion wants {event!r} to be {instead.value}, and {network.name} "
            f"have no {fault}",
            remedy="put it off, or let the system have these faults without limit",
        )
    possible = all_instead_of(world.system, event)
    if len(possible) == 1:
        return possible[0]  # to look into a mailbox would have all of them kept
    inbox = world.mailbox(world.system.index[node])
    return next(one for one in possible if fits(one, event, inbox))
