"""Random walks on warm tables: steps per CPU second, a property checked at every step.

Run ``python benchmarks/walks.py``; it prints a table in Markdown. The first batch fills
the tables; the rates are those of the batches after it.
"""

from __future__ import annotations

import statistics
import time

from worldline.engine.native.walks import Walks
from worldline.engine.tables import Entry
from worldline.engine.walks import WalkOptions
from worldline.model.loader import load
from worldline.model.properties import PropertyKind
from worldline.search.start import starts
from worldline.worlds.tabulated import TabulatedWorld

JOBS: list[tuple[str, dict[str, str], int]] = [
    ("zoo:twophase", {"n": "8"}, 5_000),
    ("zoo:paxos-clients", {"clients": "2"}, 20_000),
    ("zoo:paxos-clients", {"clients": "2", "servers": "5"}, 20_000),
    ("zoo:brokentree", {}, 20_000),
    ("zoo:randtree", {"size": "5"}, 100),
]
"""System, parameters, and walks in a batch."""

STEPS = 1_000


def weight(entry: Entry) -> int:
    """No faults; all else alike."""
    return 0 if entry.fault else 1


def measure(target: str, parameters: dict[str, str], batch: int) -> list[str]:
    """Walk through one system and return a line of the table."""
    system = load(target, parameters)
    world = TabulatedWorld(system)
    (first, *_) = starts(system)
    checks = tuple(
        (world.decision(known), False)
        for known in system.properties
        if known.kind is PropertyKind.SAFETY
    )
    options = WalkOptions(seed=1, most_steps=STEPS, weight=weight, checks=checks)
    walks = Walks(world.tables, world, options)
    assert first.snapshot is not None
    start, rates = world.encode(first.snapshot), []
    for number in range(6):
        began, steps = time.process_time(), 0
        # The same walks each time: the first fills the tables, the others find them warm.
        for walk in walks.walk(start, range(batch)):
            steps += walk.steps
        seconds = time.process_time() - began
        if number == 0:
            cold = steps / seconds
        else:
            rates.append(steps / seconds)
    walks.close()
    name = " ".join([target, *[f"-p {k}={v}" for k, v in parameters.items()]])
    return [
        f"`{name}`",
        f"{steps:,}",
        f"{cold:,.0f}",
        f"{statistics.median(rates):,.0f}",
    ]


def main() -> None:
    """Measure every system."""
    print("| system | steps of a batch | cold: steps/CPU s | warm: steps/CPU s |")
    print("|---|---:|---:|---:|")
    for job in JOBS:
        print(f"| {' | '.join(measure(*job))} |", flush=True)


if __name__ == "__main__":
    main()
