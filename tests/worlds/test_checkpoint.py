"""Going back to a state of a direct world, and on from it as before."""

from __future__ import annotations

import random

import pytest
from tests.systems import VARIANTS
from tests.trace.runs import boot

import worldline as wl
from worldline.worlds.checkpoint import go_back, take
from worldline.worlds.direct import DirectWorld


def steps(world: DirectWorld, rng: random.Random, count: int) -> list[object]:
    """Take random steps; return what they led to."""
    found: list[object] = []
    for _ in range(count):
        enabled = world.enabled()
        if not enabled:
            break
        event = rng.choice(enabled)
        outcome = world.step(event, source=lambda count, weights: rng.randrange(count))
        found += [event, outcome.result, outcome.choices, world.snapshot()]
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_world_goes_on_from_a_checkpoint_as_it_did(variant: str):
    world = DirectWorld(VARIANTS[variant]())
    boot(world)
    for seed in range(5):
        steps(world, random.Random(seed), 10)
        if world.failure is not None:
            return
        kept = take(world)
        first = steps(world, random.Random(-seed), 20)
        go_back(world, kept)
        assert world.snapshot() == kept.snapshot
        assert steps(world, random.Random(-seed), 20) == first
        go_back(world, kept)


@wl.node
class Below:
    noise: list[int] = wl.ignored(default_factory=list)

    @wl.call
    def unused(self, ctx: wl.Context) -> None: ...


@wl.node
class Above:
    below: Below = wl.part()
    count: int = wl.ignored(default=0)
    seen: int = 0

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        self.seen = self.count


def test_ignored_fields_come_back_as_copies():
    [node] = wl.ids("a")
    world = DirectWorld(wl.System({node: Above(Below())}))
    boot(world)
    [above] = world.nodes
    above.count = 3
    above.below.noise.append(1)
    kept = take(world)
    above.below.noise.append(2)
    above.count = 4
    for _ in range(2):
        go_back(world, kept)
        [again] = world.nodes
        assert (again.count, again.below.noise) == (3, [1])
        again.below.noise.append(9)


def test_a_failure_is_gone_in_a_state_from_before():
    system = VARIANTS["unhandled is an error"]()
    for seed in range(40):
        world = DirectWorld(system)
        boot(world)
        kept = take(world)
        steps(world, random.Random(seed), 40)
        if world.failure is not None:
            go_back(world, kept)
            assert world.failure is None
            assert world.enabled() != []
            return
    pytest.fail("no run failed")
