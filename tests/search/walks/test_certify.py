"""What is proved of a state, and what walks say of it, agree; both know the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.search.dying import asker, climber, split

import worldline as wl
from worldline.engine.breadth_first import breadth_first
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.tables import Row
from worldline.engine.walks import Walks, WalkSettings
from worldline.loading.loader import load
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.search.walks.certify import Fate, certify, without_faults
from worldline.search.walks.probe import Prober, missed_share
from worldline.search.walks.walkers import all_of
from worldline.search.walks.weights import weigher
from worldline.worlds.tabulated import TabulatedWorld


def twophase() -> wl.System:
    """Return two-phase commit, in which an abort is for ever."""
    system = load("zoo:twophase", {"n": "2"})
    (found,) = [p for p in system.properties if p.name == "all_commit"]
    system.properties = (wl.liveness(found.predicate),)
    return system


SYSTEMS: dict[str, Callable[[], wl.System]] = {
    "climber": lambda: climber(top=8, edge=5),
    "asker": lambda: asker(drops=1),
    "patient": lambda: asker(patient=True, drops=2),
    "split": split,
    "twophase": twophase,
}


WALKS, STEPS = 30, 30
WEIGHTS = {"twophase": {"abort": 1, "choose_to_abort": 1}}
"""Without them few walks get to a commit, and it takes hundreds to meet one."""


def rows_of(world: TabulatedWorld) -> Iterator[Row]:
    """Yield every state that can be reached, as walks see it."""
    expander = Expander(world.tables, world)
    snapshots = [s.snapshot for s in starts(world.system) if s.snapshot is not None]
    pending = [world.encode(snapshot) for snapshot in snapshots]
    seen = {tuple(row) for row in pending}
    while pending:
        row = pending.pop()
        yield without_faults(world, row)
        for _, new, _, _ in expander.successors(row, 0):
            if tuple(new) not in seen:
                seen.add(tuple(new))
                pending.append(new)


def goal_of(world: TabulatedWorld) -> Decision:
    wanted = [p for p in world.system.properties if p.kind is PropertyKind.LIVENESS]
    return world.decision(all_of(wanted))


def can_be_live(world: TabulatedWorld, goal: Decision, row: Row) -> bool:
    """Search by hand, with nothing that is tested here."""
    expander, pending, seen = Expander(world.tables, world), [row], {tuple(row)}
    while pending:
        row = pending.pop()
        if goal(row):
            return True
        for _, new, _, leaf in expander.successors(row, 0):
            if not leaf.failed and tuple(new) not in seen:
                seen.add(tuple(new))
                pending.append(new)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_proofs_and_walks_agree_on_every_state(name: str):
    world = TabulatedWorld(SYSTEMS[name]())
    goal = goal_of(world)
    weigh = weigher(world.system, unbiased=False, weights=WEIGHTS.get(name))
    options = WalkSettings(
        seed=3,
        most_steps=STEPS,
        traits=lambda entry: Traits(weigh(entry.event)),
        goal=goal,
    )
    walks = Walks(world.tables, world, options)
    given: dict[str, Any] = {"walks": WALKS, "run": breadth_first}
    walking = Prober(world, goal, lambda bound: walks, most_states=0, **given)
    proving = Prober(world, goal, lambda bound: walks, most_states=5_000, **given)
    fates = set()
    for row in rows_of(world):
        alive = can_be_live(world, goal, row)
        proof = certify(world, goal, row, most_states=5_000, run=breadth_first)
        assert proof.fate is (Fate.ALIVE if alive else Fate.DEAD)
        probable, proved = walking.probe(row, STEPS), proving.probe(row, STEPS)
        assert probable.alive is proved.alive is alive
        assert proved.certified is not alive
        assert not probable.certified
        if alive:
            assert probable.live is not None
            end = Expander(world.tables, world).follow(row, probable.live)
            assert goal(end)
        else:
            assert (probable.walks, proved.walks) == (WALKS, 1)
        fates.add(alive)
    assert fates == ({True} if name == "split" else {True, False})


def test_a_budget_that_is_used_up_proves_nothing():
    world = TabulatedWorld(climber(edge=-1))
    goal = goal_of(world)
    (start,) = starts(world.system)
    assert start.snapshot is not None
    row = world.encode(start.snapshot)
    # From state 0, the 41 states of a climber of 40 steps lie in a row.
    for most_states, fate in ((40, Fate.UNKNOWN), (41, Fate.ALIVE)):
        found = certify(world, goal, row, most_states=most_states, run=breadth_first)
        assert found.fate is fate


def test_a_failure_on_the_way_does_not_hide_what_else_can_follow():
    world = TabulatedWorld(asker(patient=True, rash=True, drops=0))
    goal = goal_of(world)
    (start,) = starts(world.system)
    assert start.snapshot is not None
    found = certify(
        world,
        goal,
        world.encode(start.snapshot),
        most_states=1_000,
        run=breadth_first,
    )
    # State 0, asked, and asked twice: in everything else it was heard and has failed.
    assert (found.fate, found.states) == (Fate.DEAD, 3)


@pytest.mark.parametrize(("walks", "share"), [(1, 0.95), (60, 0.0487), (299, 0.01)])
def test_the_share_that_walks_would_have_missed(walks: int, share: float):
    assert missed_share(walks) == pytest.approx(share, abs=1e-4)
    assert (1 - missed_share(walks)) ** walks == pytest.approx(0.05)
