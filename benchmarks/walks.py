"""Random walks: steps per CPU second, a property checked at every step.

Run ``python benchmarks/walks.py``; it prints two tables in Markdown.

- Over warm tables: the first batch fills the tables; the same walks again find them warm.
- Tables beside the direct world: batches of new walks, so the tables are as warm as those
  before have left them. The hit rate is that of reports: of so many steps, at least this
  share found all they needed. The last line of a system is its last batch once more.
  Walks in the direct world are the first ones, and end alike.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from typing import NamedTuple

from worldline.engine.native.walks import NativeWalks
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.schedulers.weighted import Weighted
from worldline.engine.tables import Entry
from worldline.engine.walks import Ended, WalkSettings
from worldline.loading.loader import load
from worldline.model.events import Event
from worldline.model.kinds import Origin
from worldline.model.properties import Property, PropertyKind
from worldline.runs.start import starts
from worldline.search.walks.handover import Counted
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import DirectWalks


class Job(NamedTuple):
    """A system, and walks in a batch."""

    target: str
    parameters: dict[str, str]
    batch: int

    @property
    def name(self) -> str:
        options = [f"-p {key}={value}" for key, value in self.parameters.items()]
        return f"`{' '.join([self.target, *options])}`"


TWO_PHASE = Job("zoo:twophase", {"n": "8"}, 5_000)
BROKENTREE = Job("zoo:brokentree", {}, 20_000)
RANDTREE = Job("zoo:randtree", {"size": "5"}, 100)
WARM = [
    TWO_PHASE,
    Job("zoo:paxos-clients", {"clients": "2"}, 20_000),
    Job("zoo:paxos-clients", {"clients": "2", "servers": "5"}, 20_000),
    BROKENTREE,
    RANDTREE,
]
BESIDE = [
    (TWO_PHASE._replace(batch=500), 5),
    (BROKENTREE, 500),
    (RANDTREE, 5),
]
"""With the number of walks in the direct world."""

STEPS = 1_000
SHOWN = (1, 4, 16, 64)
"""Batches of new walks that are shown."""

NEVER = Property("never", PropertyKind.LIVENESS, lambda _: False)


def weigh(event: Event) -> int:
    """No faults; all else alike."""
    return 0 if event.origin is Origin.FAULT else 1


def traits(entry: Entry) -> Traits:
    """Weigh its event."""
    return Traits(weigh(entry.event))


class Bench:
    """Walks from the beginning of one system, in either world."""

    def __init__(self, job: Job) -> None:
        system = load(job.target, job.parameters)
        self._world = world = TabulatedWorld(system)
        (first, *_) = starts(system)
        assert first.snapshot is not None
        self._start = world.encode(first.snapshot)
        self._safety = [
            known for known in system.properties if known.kind is PropertyKind.SAFETY
        ]
        checks = tuple((world.decision(known), False) for known in self._safety)
        options = WalkSettings(seed=1, most_steps=STEPS, traits=traits, checks=checks)
        self.counted = Counted(world)
        self._walks = NativeWalks(world.tables, self.counted, options)

    def over_tables(self, numbers: range) -> tuple[int, float]:
        """Return steps, and steps per CPU second."""
        return rate(self._walks.walk(self._start, numbers))

    def in_direct_world(self, numbers: range) -> float:
        """Return steps per CPU second."""
        direct = DirectWalks(
            self._world,
            seed=1,
            most_steps=STEPS,
            scheduler=Weighted(),
            traits=lambda event: Traits(weigh(event)),
            checks=self._safety,
            goal=NEVER,
        )
        _, found = rate(
            direct.go_on(self._start, self._start, number, 0) for number in numbers
        )
        return found

    def close(self) -> None:
        """Free what the kernel holds."""
        self._walks.close()


def rate(walks: Iterable[Ended]) -> tuple[int, float]:
    """Walk, and return steps, and steps per CPU second."""
    began, steps = time.process_time(), 0
    for walk in walks:
        steps += walk.steps
    return steps, steps / (time.process_time() - began)


def warm(job: Job) -> str:
    """Walk through one system, the same walks each time; return a line of the table."""
    bench = Bench(job)
    numbers = range(job.batch)
    steps, cold = bench.over_tables(numbers)
    rates = [bench.over_tables(numbers)[1] for _ in range(5)]
    bench.close()
    return f"| {job.name} | {steps:,} | {cold:,.0f} | {statistics.median(rates):,.0f} |"


def beside(job: Job, walks: int) -> list[str]:
    """Walk through one system in either world; return lines of the table."""
    bench = Bench(job)
    direct = statistics.median(bench.in_direct_world(range(walks)) for _ in range(3))
    lines, total = [], 0

    def line(which: str, hit_rate: float, tables: float) -> str:
        return (
            f"| {job.name} | {which} | {total:,} | {hit_rate:.2%} | {tables:,.0f} "
            f"| {direct:,.0f} | {tables / direct:,.0f} |"
        )

    numbers = range(0)
    for batch in range(1, max(SHOWN) + 1):
        numbers = range(numbers.stop, numbers.stop + job.batch)
        misses = bench.counted.misses
        steps, tables = bench.over_tables(numbers)
        total += steps
        if batch in SHOWN:
            hit_rate = max(0.0, 1 - (bench.counted.misses - misses) / steps)
            lines.append(line(str(batch), hit_rate, tables))
    rates = [bench.over_tables(numbers)[1] for _ in range(5)]
    bench.close()
    return [*lines, line(f"{max(SHOWN)} again", 1.0, statistics.median(rates))]


def main() -> None:
    """Measure every system."""
    print("| system | steps of a batch | cold: steps/CPU s | warm: steps/CPU s |")
    print("|---|---:|---:|---:|")
    for job in WARM:
        print(warm(job), flush=True)
    print(
        "\n| system | batch | steps so far | hit rate | over tables: steps/CPU s "
        "| direct world: steps/CPU s | ratio |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    for job, walks in BESIDE:
        print("\n".join(beside(job, walks)), flush=True)


if __name__ == "__main__":
    main()
