"""Snapshots agree with the books of nodes that count what they send and receive."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from tests.steer.snapshots.ledgers import Auditor, system

import worldline as wl
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

WEATHER = [
    WeatherEvent(time=2.0, what="reset", every=5.0),
    WeatherEvent(time=4.5, what="cut", every=7.0, side=frozenset(wl.ids("a"))),
    WeatherEvent(time=5.5, what="heal", every=7.0),
]


def by_the_clock(seed: int, seconds: float, *, faults: bool) -> Counter[str]:
    rng = random.Random(seed)
    connects, hops = rng.random() < 0.5, rng.choice([1, 2])
    network = wl.streams(buffer=None) if connects else wl.datagrams(loss=True)
    made = system(network, hops=hops)
    auditor = Auditor(made, is_lossless=connects)
    options = GatherOptions(
        interval=rng.choice([1.0, 3.0]), bandwidth=rng.choice([2_000.0, 1e9])
    )
    conditions = Conditions(
        latency=latency_of("uniform 10ms 600ms"),
        loss=0.0 if connects else 0.15,
        weather=WEATHER if faults else [],
    )
    with pytest.MonkeyPatch.context() as patch:
        auditor.stand_over(patch)
        beside = Snapshots(made, options, auditor.taken)
        run = Simulation(made, conditions, seed, companions=[beside])
        while run.next(seconds) is not None:
            run.outcome()
    return auditor.seen


def on_sockets(seed: int, seconds: float, *, faults: bool) -> Counter[str]:
    rng = random.Random(seed)
    connects = rng.random() < 0.5
    network = wl.streams() if connects else wl.datagrams(loss=True)
    made = system(network, hops=rng.choice([1, 2]), pace=0.01)
    auditor = Auditor(made, is_lossless=connects)
    failures: list[BaseException] = []

    def taken(snapshot: object) -> None:
        try:
            auditor.taken(snapshot)  # type: ignore[arg-type]
        except BaseException as error:
            failures.append(error)
            raise

    async def main() -> None:
        options = GatherOptions(interval=0.1, bandwidth=1e9)
        beside = Snapshots(made, options, taken)
        async with (
            asyncio.timeout(seconds + 20),
            wl.Host(made, companions=[beside], say=lambda line: None) as host,
        ):
            for _ in range(int(4 * seconds)):
                await asyncio.sleep(0.25)
                if faults:
                    node = rng.choice(made.ids)
                    host.crash(node)
                    await host.restart(node)

    with pytest.MonkeyPatch.context() as patch:
        auditor.stand_over(patch)
        asyncio.run(main())
    assert not failures
    return auditor.seen


def test_snapshots_by_the_clock_agree_with_the_books():
    seen = by_the_clock(1, 5, faults=True) + by_the_clock(2, 4, faults=True)
    assert min(seen[one] for one in ("under way", "whole", "members")) > 20


def test_snapshots_on_sockets_agree_with_the_books():
    seen = on_sockets(1, 0.5, faults=False) + on_sockets(2, 0.5, faults=True)
    assert min(seen[one] for one in ("whole", "members")) > 20


@pytest.mark.nightly
def test_very_many_snapshots_agree_with_the_books():
    for seed in range(1000, 1200):
        by_the_clock(seed, 20, faults=bool(seed % 3))
    for seed in range(2000, 2040):
        on_sockets(seed, 3.0, faults=bool(seed % 2))
