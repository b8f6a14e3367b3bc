"""All worlds obey one semantics: the same schedule means the same in each."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.systems import FINITE, VARIANTS
from tests.worlds.adapters import WORLDS, Adapter, describe_outcome

import worldline as wl

SCHEDULES = 1_000
STEPS = 15

SYSTEMS = {
    **VARIANTS,
    **{f"finite: {name}": build for name, build in FINITE.items()},
}


def compare(worlds: list[Adapter], rng: random.Random, steps: int) -> int:
    """Run one random schedule in all worlds and compare every step."""
    reference, *others = worlds
    for world in worlds:
        world.reset()
    trail: list[wl.Event] = []
    for _ in range(steps):
        offered = reference.enabled()
        for world in others:
            assert world.enabled() == offered, trail
        if not offered:
            break
        event = rng.choice(offered)
        choices = [rng.randrange(2) for _ in range(2)]
        trail.append(event)
        done = describe_outcome(reference.step(event, choices))
        state = reference.describe()
        for world in others:
            assert describe_outcome(world.step(event, choices)) == done, trail
            if done["failure"] is None:
                assert world.describe() == state, trail
    return len(trail)


@pytest.mark.slow
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_all_worlds_run_random_schedules_alike(build: Callable[[], wl.System]):
    system = build()
    worlds = [world(system) for world in WORLDS]
    rng = random.Random(0)
    steps = sum(compare(worlds, rng, STEPS) for _ in range(SCHEDULES))
    assert steps > SCHEDULES
