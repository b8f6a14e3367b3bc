"""Snapshots of random runs of systems that are made at random are consistent (D76)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from tests.shares import share
from tests.steer import making
from tests.steer.snapshots.judging import Judge
from tests.steer.snapshots.test_consistency import conditions

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.options import GatherOptions

NETWORKS: dict[str, Callable[[], Network]] = {
    "streams": lambda: wl.streams(buffer=None),
    "datagrams": lambda: wl.datagrams(loss=True, duplication=True),
    "in order": lambda: wl.datagrams(loss=True, duplication=True, reordering=False),
    "both": lambda: wl.networks(
        {making.Rich: wl.datagrams(loss=True, duplication=True)},
        otherwise=wl.streams(buffer=None),
    ),
}


def judged(name: str, how: str, seed: int, steps: int = 100) -> int:
    """Judge the snapshots of a run; return how many there were."""
    rng, network = Random(seed), NETWORKS[name]()
    system = making.system(network, rng)
    options = GatherOptions(
        interval=rng.choice([1.0, 4.0, 10.0]),
        pause=rng.choice([0.1, 0.5]),
        deadline=rng.choice([0.5, 2.0]),
        bandwidth=rng.choice([1e3, 1e4, 1e9]),
        most_neighbours=rng.choice([2, 16]),
        kept=rng.choice([4, 32]),
    )
    if how == "walked":
        pace = rng.choice([0.02, 0.1, 0.15])  # datagrams are forgotten after 30 s
        hard = rng.random() < 0.5
        return Judge.walked(system, seed, options, pace=pace, hard=hard).run(steps)
    return Judge.simulated(system, seed, conditions(network), options).run(steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", share(list(NETWORKS), only=["streams", "both"]))
def test_snapshots_of_random_systems_are_consistent(name: str):
    assert judged(name, "walked", 1, steps=40) + judged(name, "simulated", 2) > 5


@pytest.mark.nightly
@pytest.mark.parametrize("how", ["walked", "simulated"])
@pytest.mark.parametrize("name", NETWORKS)
def test_snapshots_of_many_random_systems_are_consistent(name: str, how: str):
    assert sum(judged(name, how, seed, steps=150) for seed in range(60)) > 1000
