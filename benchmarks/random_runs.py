"""Random runs on Raft with logs: steps per second from cold tables, over warm ones, on threads.

    python benchmarks/random_runs.py            for about four minutes
    python benchmarks/random_runs.py --write    and into docs/results.md

All safety properties are judged at each step; nothing is violated, so that all runs are made.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from results import Part

import worldline as wl
from worldline.engine.bounds import Bounds, Meter
from worldline.engine.schedulers.weighted import Weighted
from worldline.loading.loader import load
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.search.report import Progress
from worldline.search.walks.handover import Counted, Pace
from worldline.search.walks.walkers import walker
from worldline.search.walks.weights import TO_GO_DEEP, weigher
from worldline.worlds.tabulated import TabulatedWorld

RAFT = str(Path(__file__).resolve().parent / "systems" / "raft.py")
CPU_SECONDS = 60.0
EVENTS = 20_000_000
WALKS = 60_000


def raft() -> wl.System:
    """Return Raft without a bug, with room for Figure 8."""
    return load(RAFT, {"max_term": "4", "max_log": "2"})


def cold() -> str:
    """Run for a minute of CPU time from empty tables."""
    began = time.process_time()
    marks: list[tuple[float, int]] = []

    def watch(told: Progress) -> None:
        spent = time.process_time() - began
        if not marks or spent > marks[-1][0] + CPU_SECONDS / 6:
            marks.append((spent, told.walk_steps))
        if spent > CPU_SECONDS:
            raise KeyboardInterrupt

    report = wl.walk(raft(), threads=1, traces=False, progress=watch, events=10**9)
    spent = time.process_time() - began
    rows = [
        f"| {later[0]:.0f} | {later[1]:,} | {(later[1] - one[1]) / (later[0] - one[0]):,.0f} |"
        for one, later in zip([(0.0, 0), *marks], marks, strict=False)
    ]
    rate = f"{report.steps:,} steps in {spent:.0f} CPU s: {report.steps / spent:,.0f} a second"
    return "\n".join(
        [
            f"Cold, one thread, {rate}.\n",
            "| CPU s | steps so far | steps/CPU s since the line before |",
            "|---:|---:|---:|",
            *rows,
        ]
    )


def warm() -> str:
    """Make the same runs again over the same tables, on one thread and on two."""
    system = raft()
    world = TabulatedWorld(system)
    counted = Counted(world)
    (first, *_) = starts(system)
    assert first.snapshot is not None
    row = world.encode(first.snapshot)
    timed: dict[int, list[float]] = {1: [], 2: []}
    for count in (1, *(1, 2) * 3):
        walks = walker(
            world,
            engine="native",
            scheduler=Weighted(),
            weigh=weigher(system, unbiased=False, weights=None, usual=TO_GO_DEEP),
            seed=0,
            most_steps=100,
            threads=count,
            checks=[p for p in system.properties if p.kind is PropertyKind.SAFETY],
            counted=counted,
            pace=Pace(counted),
            meter=Meter(Bounds()),
        )
        if timed[1]:  # plans of what is offered are each thread's own
            list(walks.walk(row, range(2_000)))
        began = time.perf_counter()
        steps = sum(ended.steps for ended in walks.walk(row, range(WALKS)))
        timed[count].append(steps / (time.perf_counter() - began))
        walks.close()
    first_time, *others = timed[1]
    again, on_two = statistics.median(others), statistics.median(timed[2])
    return (
        f"{WALKS:,} runs of the default scheduler, steps/s: {first_time:,.0f} cold; the "
        f"same again {again:,.0f}; and on two threads {on_two:,.0f}, "
        f"{on_two / again:.2f} times as fast."
    )


def facts(report: wl.WalkReport) -> dict[str, Any]:
    """What must not depend on threads."""
    found = report.to_json()
    return {key: found[key] for key in found if key != "seconds"}


def threads() -> str:
    """Make the same runs on one thread and on two."""
    reports, seconds = [], []
    for count in (1, 2):
        began = time.perf_counter()
        reports.append(wl.walk(raft(), threads=count, traces=False, events=EVENTS))
        seconds.append(time.perf_counter() - began)
    same = "equal" if facts(reports[0]) == facts(reports[1]) else "NOT equal"
    return (
        f"{EVENTS:,} steps from cold tables: {seconds[0]:.1f} s on one thread, "
        f"{seconds[1]:.1f} s on two, {seconds[0] / seconds[1]:.2f} times as fast; "
        f"reports are {same}."
    )


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    part = Part("random_runs.py")
    for said in (cold, warm, threads):
        part.say(said())
    if arguments.write:
        part.write()


if __name__ == "__main__":
    main()
