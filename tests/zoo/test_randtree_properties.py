"""RandTree's properties, said node by node, mean what they meant as loops over all nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.runs.test_state import recorded
from tests.trace.runs import random_run
from tests.zoo.test_randtree import FOUND, command

import worldline as wl
from worldline.loading.loader import load
from worldline.model.absent import without
from worldline.runs.rerun import Rerun
from worldline.runs.restoring import world_of
from worldline.trace.format import read, write
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld
from worldline.zoo import randtree
from worldline.zoo.randtree.protocol import State


def loops(view: wl.View) -> bool:
    for node in view:
        seen = [node]
        while view[seen[-1]].state is State.JOINED and not view[seen[-1]].is_root():
            parent = view[seen[-1]].parent
            if parent is None:
                break
            if parent in seen:
                return True
            seen.append(parent)
    return False


def waits(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].state is State.INIT)


def recovers(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view.timers(node, "recovery"))


def joined(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].state is State.JOINED)


MEANINGS: dict[str, Callable[[wl.View], bool]] = {
    "no_loops": lambda view: not loops(view),
    "timers": lambda view: all(
        waits(view, n) != recovers(view, n) for n in filter(view.is_up, view)
    ),
    "joined_under_a_parent": lambda view: (
        not any(
            joined(view, n) and view[n].parent is None and not view[n].is_root()
            for n in view
        )
    ),
    "forced_root_agrees": lambda view: not any(view[n].misforced for n in view),
    "joins_as_its_own_root": lambda view: (
        not any(view[n].state is State.JOINING and not view[n].is_root() for n in view)
    ),
    "children_are_not_siblings": lambda view: (
        not any(view[n].children & view[n].siblings for n in view)
    ),
    "root_is_above": lambda view: (
        not any(view[n].root in view[n].children | view[n].siblings for n in view)
    ),
    "root_has_no_siblings": lambda view: (
        not any(
            joined(view, n) and view[n].is_root() and view[n].siblings for n in view
        )
    ),
    "recovery_runs": lambda view: all(
        waits(view, n) or recovers(view, n) for n in filter(view.is_up, view)
    ),
}


def disturb(world: DirectWorld, rng: Random) -> None:
    """Give nodes any fields, also such as no run gives them."""
    ids = list(world.system.ids)
    for node in world.nodes:
        if rng.random() < 0.6:
            node.state = rng.choice(list(State))
            node.parent = rng.choice([None, *ids])
            node.root = rng.choice(ids)
            node.misforced = rng.random() < 0.3
            node.children = set(rng.sample(ids, rng.randrange(3)))
            node.siblings = set(rng.sample(ids, rng.randrange(3)))


def test_in_random_states_each_property_is_what_it_means():
    said: Counter[tuple[str, bool]] = Counter()
    rng = Random(8)
    for seed in range(60):
        system = randtree.system(size=3, resets=1, connection_errors=1)
        boot, _, run, _ = random_run(system, seed, seed % 30)
        world = DirectWorld(system)
        for event, choices in [*boot, *run]:
            world.step(event, choices)
        disturb(world, rng)
        for prop in system.properties:
            if prop.name in MEANINGS:
                holds = prop.judge(world.view).holds
                assert holds is MEANINGS[prop.name](world.view), prop.name
                said[prop.name, holds] += 1
    assert said.keys() == {
        (name, holds) for name in MEANINGS for holds in (True, False)
    }


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["cb1", "cb4", "cb5", "cb6", "rt11"])
def test_a_bug_is_predicted_from_what_its_neighbourhood_knows(
    bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    target, given, depth = command(bug)
    system = load(target, given)
    name, steps = FOUND[bug]
    report = wl.check(system, max_depth=depth, out="found.wl", properties=[name])
    assert report.expect_violated(name).steps == steps
    trace = read("found.wl")
    rerun, last = Rerun(trace.header, world_of(trace, system)), trace.steps[-1]
    for step in trace.steps[:-1]:
        rerun.step(step)
    known = {last.node, last.peer, *(send.to for send in last.sends)}
    absent = [node for node in system.ids if node.name not in known]
    assert absent
    state = without(system, rerun.world.snapshot(), absent)
    write(recorded(system, Checkpoint(state), []), "state.wl")
    again: Any = wl.check(
        system, from_="state.wl", max_depth=3, out="again.wl", properties=[name]
    )
    assert again.expect_violated(name).steps == 1
    assert wl.replay("again.wl", system).reproduced
    assert read("again.wl").state.absent == tuple(node.name for node in absent)  # type: ignore[union-attr]
