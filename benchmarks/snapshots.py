"""What snapshots cost: bits a second of each node, and how large checkpoints are.

By the clock of a simulation, latencies of 30 to 100 ms, and a node reset each minute, for
1.4 hours: of RandTree, Chord and Bullet', of 25 and of 100 nodes. Every node gathers one
each 10 s, and when something has changed. Bits are those of all letters, with what a frame
adds to each, sent by a node on average.

    python benchmarks/snapshots.py                  all
    python benchmarks/snapshots.py randtree-25      some
    python benchmarks/snapshots.py --bandwidth 50   within a limit
    python benchmarks/snapshots.py --write          into docs/results.md
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from worldline.loading.loader import load
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part

HOURS = 1.4
SEED = 1
RESET_S = 60.0


class Job(NamedTuple):
    """A system, how many bits a second a node may send, and what its properties read."""

    target: str
    parameters: dict[str, str]
    most: float
    fields: tuple[str, ...]


def jobs() -> dict[str, Job]:
    """Return the runs, by name."""
    made = {}
    for size in ("25", "100"):
        tree = ("state", "root", "parent", "children", "siblings", "peers")
        made[f"randtree-{size}"] = Job("zoo:randtree", {"size": size}, 200, tree)
        ring, keys = ("state", "predecessor", "successors"), {"bits": "10"}
        made[f"chord-{size}"] = Job("zoo:chord", {"size": size} | keys, 2_000, ring)
        files = ("known", "shadow", "have")
        bullet = {"size": size, "blocks": "200", "fanout": "5", "peers": "4"}
        made[f"bullet-{size}"] = Job("zoo:bullet", bullet, 10_000, files)
    return made


class Measured(NamedTuple):
    """What came of a run."""

    counts: SnapshotCounts
    nodes: int
    seconds: float
    events: int
    cpu: float
    reason: str


def measure(job: Job, options: GatherOptions, hours: float) -> Measured:
    """Run a system by the clock, with snapshots."""
    system = load(job.target, job.parameters)
    system = system.under_injection("resets without limit", ("resets",))
    options = replace(options, fields=frozenset(job.fields))
    snapshots = Snapshots(system, options)
    conditions = Conditions(
        latency=latency_of("uniform 30ms 100ms"),
        weather=[WeatherEvent(time=RESET_S, what="reset", every=RESET_S)],
    )
    began, events, seconds = time.process_time(), 0, hours * 3600
    run = Simulation(system, conditions, SEED, companions=[snapshots])
    while run.next(seconds) is not None:
        events += 1
    spent = time.process_time() - began
    failure = run.world.failure
    reason = "" if failure is None else str(failure)
    counts = [getattr(one, f.name) for one in snapshots.counts.values() for f in FIELDS]
    rows = [counts[i : i + len(FIELDS)] for i in range(0, len(counts), len(FIELDS))]
    summed = SnapshotCounts(*map(sum, zip(*rows, strict=True)))
    return Measured(summed, len(system.ids), run.now, events, spent, reason)


FIELDS = fields(SnapshotCounts)


def row(name: str, job: Job, measured: Measured) -> list[str]:
    """Return the row of a run."""
    counts, spans = measured.counts, measured.nodes * measured.seconds
    sent = counts.replies - counts.same
    whole = sent - counts.differences
    return [
        name,
        f"{measured.seconds / 3600:.2g}",
        f"{8 * counts.sent / spans:,.0f}",
        f"{job.most:,.0f}",
        f"{counts.snapshots:,}",
        f"{counts.same / max(counts.replies, 1):.0%}",
        f"{counts.raw / max(sent, 1):,.0f}",
        f"{counts.packed_bytes / max(whole, 1):,.0f}",
        f"{counts.difference_bytes / max(counts.differences, 1):,.0f}",
        f"{counts.busy:,} / {counts.gone:,} / {counts.late:,} / {counts.orphans:,}",
        f"{measured.cpu:.1f}",
    ]


HEAD = (
    "run",
    "hours",
    "bit/s a node",
    "limit",
    "snapshots",
    "same",
    "raw B",
    "compressed B",
    "difference B",
    "busy / gone / late / orphans",
    "CPU s",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="runs, such as chord-25")
    parser.add_argument("--bandwidth", type=float, default=GatherOptions().bandwidth)
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    given = parser.parse_args(arguments)
    options = GatherOptions(bandwidth=given.bandwidth)
    part, made, rows = Part("snapshots.py"), jobs(), []
    for name in given.names or made:
        measured = measure(made[name], options, given.hours)
        rows.append(row(name, made[name], measured))
        print(name, measured, file=sys.stderr, flush=True)
    lines = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)], *rows]
    part.say("\n".join(f"| {' | '.join(line)} |" for line in lines))
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
