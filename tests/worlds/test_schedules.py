"""All worlds obey one semantics: the same schedule means the same in each."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.shares import share
from tests.systems import FINITE, VARIANTS
from tests.worlds.adapters import WORLDS, Adapter, OracleAdapter, describe_outcome

import worldline as wl
import worldline.zoo
from worldline.loading.loader import load
from worldline.model.kinds import BUDGETS
from worldline.model.network import permits

NETWORKS = {"abd": ["ordered"], "paxos-clients": ["ordered"]}
"""Systems of the zoo that come with other networks than their default."""


def with_every_fault(system: wl.System) -> wl.System:
    """The same system where every fault may happen that its network knows."""
    # A client that begins again would invoke while its operation is in flight.
    mortal = tuple(
        node for node in system.ids if type(system.nodes[node]).__name__ != "Client"
    )
    budgets: dict[str, Any] = {
        name: 2 for name in BUDGETS if permits(system.network, name)
    }
    return wl.System(
        system.nodes,
        network=system.network,
        workload=system.workload,
        faults=wl.Faults(
            **budgets, nodes=mortal, cuts=(system.ids[:1], system.ids[:2])
        ),
        properties=system.properties,
        observers=system.observers,
        unhandled=system.unhandled,
        boot=system.boot,
        timed=system.timed,
        ignore_noops=system.ignore_noops,
        prologue=system.prologue,
    )


SMALLER: dict[str, dict[str, str]] = {
    "bitvault": {"size": "4", "objects": "2"},
    "lockserver": {"clients": "3", "threads": "2"},
}
"""Parameters of systems that are large by default: each state is compared whole."""


def zoo() -> dict[str, Callable[[], wl.System]]:
    """The systems of the zoo on each of their networks, with every fault."""
    found: dict[str, Callable[[], wl.System]] = {}
    for name in worldline.zoo.names():
        found[name] = partial(load, f"zoo:{name}", SMALLER.get(name, {}))
        for network in NETWORKS.get(name, ()):
            parameters = {"network": network}
            found[f"{name} {network}"] = partial(load, f"zoo:{name}", parameters)
    return {name: partial(faulty, build) for name, build in found.items()}


def faulty(build: Callable[[], wl.System]) -> wl.System:
    return with_every_fault(build())


SYSTEMS = {
    **VARIANTS,
    **{f"finite: {name}": build for name, build in FINITE.items()},
}
ZOO = zoo()
every_system = pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
the_zoo = pytest.mark.parametrize("build", ZOO.values(), ids=ZOO.keys())


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
@pytest.mark.parametrize("build", share(ZOO, every=2))
def test_all_worlds_run_random_schedules_of_the_zoo_alike(
    build: Callable[[], wl.System],
):
    compare_many(build, count=6, steps=12)


@pytest.mark.nightly
@the_zoo
def test_all_worlds_run_many_schedules_of_the_zoo_alike(
    build: Callable[[], wl.System],
):
    compare_many(build, count=1_000, steps=12)


@pytest.mark.slow
@pytest.mark.parametrize("build", share(SYSTEMS, every=3, first=1))
def test_all_worlds_run_random_schedules_alike(build: Callable[[], wl.System]):
    compare_many(build, count=10, steps=15)


@pytest.mark.nightly
@every_system
def test_all_worlds_run_many_long_schedules_alike(build: Callable[[], wl.System]):
    compare_many(build, count=1_000, steps=30)
