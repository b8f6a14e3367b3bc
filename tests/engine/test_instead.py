"""What happens instead of blocked events: compared with running real nodes, state by state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.engine.exploring import explored
from tests.shares import share
from tests.systems import FINITE

import worldline as wl
from worldline.engine.breadth_first import breadth_first
from worldline.engine.consequence import consequence
from worldline.model.events import Event
from worldline.model.filters import REFUSABLE, EventFilter
from worldline.model.semantics.instead import instead_of
from worldline.model.semantics.transitions import changes
from worldline.runs.start import starts
from worldline.worlds.direct import DirectWorld
from worldline.worlds.instead import Blocking
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot


def filters_of(world: TabulatedWorld) -> list[EventFilter]:
    """Every filter that blocks something that the tables know."""
    events: list[Event] = [entry.event for entry in world.tables.entries]
    refusable = [event for event in events if event.kind in REFUSABLE]
    return list(dict.fromkeys(map(EventFilter.of, refusable)))


def happened(world: DirectWorld, event: Event, before: Snapshot) -> Iterator[Snapshot]:
    """The states after an event, one for each combination of choices."""
    given: tuple[int, ...] | None = ()
    while given is not None:
        world.restore(before)
        outcome = world.step(event, given)
        if outcome.failure is None:
            yield world.snapshot()
        taken, widths = list(outcome.choices), outcome.widths
        while taken and taken[-1] + 1 == widths[len(taken) - 1]:
            taken.pop()
        given = (*taken[:-1], taken[-1] + 1) if taken else None


def replaced(world: DirectWorld, event: Event, before: Snapshot) -> Iterator[Snapshot]:
    """The state after what happens instead of an event, if anything does."""
    world.restore(before)
    system = world.system
    assert event.node is not None
    inbox: Any = world.cells[system.layout.inbox(system.index[event.node])]
    instead = instead_of(system, event, inbox)
    if instead is not None:
        for column, operation in changes(system, instead, charge=False):
            getattr(world.cells[column], operation[0])(*operation[1:])
        yield world.snapshot()


def reachable(system: wl.System, one: EventFilter) -> set[Snapshot]:
    """Every state that is reached with a filter, by real nodes."""
    world = DirectWorld(system)
    left = [s.snapshot for s in starts(system) if s.snapshot is not None]
    seen = set(left)
    while left:
        before = left.pop()
        world.restore(before)
        for event in world.enabled():
            move = replaced if one.matches(event) else happened
            for after in move(world, event, before):
                if after not in seen:
                    seen.add(after)
                    left.append(after)
    return seen


@pytest.mark.parametrize("build", share(FINITE, every=3, first=2))
def test_the_same_states_are_reached_as_by_real_nodes(
    build: Callable[[], wl.System],
) -> None:
    world = TabulatedWorld(build())
    explored(world, breadth_first, keep_going=True)
    filters = filters_of(world)[:4]
    assert filters
    for one in filters:
        instead = Blocking(world.stead, [one])
        search = explored(
            world, consequence, repeat_cost=2, keep_going=True, instead=instead
        )
        assert search.exhausted
        assert search.statistics.states == len(reachable(world.system, one))


def test_what_happens_instead_draws_on_no_budget_and_is_never_put_off() -> None:
    world = TabulatedWorld(FINITE["players on streams"]())
    explored(world, breadth_first, keep_going=True)
    free = [
        instead
        for one in filters_of(world)
        for entry in [*world.tables.entries]
        if one.matches(entry.event)
        for instead in Blocking(world.stead, [one])(entry) or ()
    ]
    assert {entry.event.kind.value for entry in free} == {"disconnect", "refuse"}
    for entry in free:
        assert not entry.own
        assert all(change.column != 0 for change in entry.changes)
