"""All worlds obey one semantics: the same schedule means the same in each."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable

import pytest
from tests.systems import FINITE, VARIANTS
from tests.worlds.adapters import WORLDS, Adapter, OracleAdapter, describe_outcome

import worldline as wl
import worldline.zoo


def zoo() -> dict[str, Callable[[], wl.System]]:
    """The systems of the zoo, each with its default parameters."""
    return {
        name: importlib.import_module(module).system
        for name in worldline.zoo.names()
        if (module := f"worldline.zoo.{name.replace('-', '_')}")
        and hasattr(importlib.import_module(module), "system")
    }


SYSTEMS = {
    **VARIANTS,
    **{f"finite: {name}": build for name, build in FINITE.items()},
    **{f"zoo: {name}": build for name, build in zoo().items()},
}
every_system = pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())


def compare(
    oracle: OracleAdapter, worlds: list[Adapter], rng: random.Random, steps: int
) -> int:
    """Run one random schedule in all worlds and compare every step."""
    for world in (oracle, *worlds):
        world.reset()
    trail: list[wl.Event] = []
    for _ in range(steps):
        offered = oracle.enabled()
        for world in worlds:
            assert world.enabled() == offered, trail
        if not offered:
            break
        event = rng.choice(offered)
        trail.append(event)
        done = describe_outcome(oracle.draw(event, rng))
        state = oracle.describe()
        for world in worlds:
            outcome = world.step(event, done["choices"])
            assert describe_outcome(outcome) == done, trail
            if done["failure"] is None:
                assert world.describe() == state, trail
    return len(trail)


def compare_many(build: Callable[[], wl.System], count: int, steps: int) -> None:
    """Run that many schedules of at most that many steps, always the same ones."""
    system = build()
    oracle, worlds = OracleAdapter(system), [world(system) for world in WORLDS]
    rng = random.Random(0)
    assert sum(compare(oracle, worlds, rng, steps) for _ in range(count)) > count


@pytest.mark.slow
@every_system
def test_all_worlds_run_random_schedules_alike(build: Callable[[], wl.System]):
    compare_many(build, count=100, steps=15)


@pytest.mark.nightly
@every_system
def test_all_worlds_run_many_long_schedules_alike(build: Callable[[], wl.System]):
    compare_many(build, count=1_000, steps=30)
