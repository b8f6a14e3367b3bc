"""What a durable commit takes on slower disks than this machine's: how many of their syncs.

Where a sync takes a fifth of a millisecond, it is the processor that a commit waits for. Here
each sync of the nodes lasts as long as one of a slower disk would (`slow_disk.cpp`, loaded before
the C library; what is measured is as it always is): of one disk for all three nodes, whose
flushes are one after the other, or of a disk for each. Each node is a process; a sync *in the
run* is what the primary's journal waits for, on average.

    python benchmarks/deploy_disks.py --sync-ms 2      one disk
    python benchmarks/deploy_disks.py --write          into docs/results.md
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import Row, in_turns, median, run_tables, table, told

from benchmarks import deploy_load

NETWORKS = ("streams", "datagrams")

SYNCS_MS = (1.0, 2.0, 5.0, 10.0)

RATES = (1_000, 100)
"""Puts a second."""

WINDOW = 512
"""Entries that may wait for a majority."""

LIBRARY = "WORLDLINE_SLOW_LIBRARY"
"""Names the compiled `slow_disk.cpp` to the processes that measure."""


def build(folder: Path) -> Path:
    """Compile the slow disk; return the library."""
    library = folder / "slow_disk.so"
    compiler = os.environ.get("CXX", "c++")
    source = str(Path(__file__).with_name("slow_disk.cpp"))
    options = ["-O2", "-std=c++17", "-fPIC", "-shared"]
    subprocess.run([compiler, *options, source, "-o", str(library), "-ldl"], check=True)
    return library


def environment(
    library: Path, shared: Path, disk_ms: float, *, each: bool = False
) -> dict[str, str]:
    """Return what is in the environment of processes on such a disk.

    Parameters
    ----------
    shared
        A file that those on one disk share, empty at first.
    disk_ms, each
        As `measure` has them.
    """
    said = {"LD_PRELOAD": str(library), "WORLDLINE_SLOW_DISK": str(shared)}
    said["WORLDLINE_SLOW_NS"] = str(round(1e6 * disk_ms))
    return said | ({"WORLDLINE_SLOW_EACH": "1"} if each else {})


def measure(*, disk_ms: float, each: bool, **load: Any) -> Row:
    """Return what a load measures on a disk whose flush takes so long.

    Parameters
    ----------
    disk_ms
        Milliseconds of a flush; 0 for this machine's disk.
    each
        Whether each node has a disk of its own.
    """
    with tempfile.NamedTemporaryFile(prefix="worldline-disk-") as shared:
        there: dict[str, str] = {}
        if disk_ms:
            library = Path(os.environ[LIBRARY])
            there = environment(library, Path(shared.name), disk_ms, each=each)
        command = [sys.executable, __file__, "--here", "load", json.dumps(load)]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, env=os.environ | there, check=True
        )
    row: Row = json.loads(done.stdout)
    return row


def commits(part: Part, given: argparse.Namespace) -> None:
    """From put to commit, in syncs."""
    whole = {"apart": not given.together, "durable": True, "sync": "durable"}
    whole |= {"window": WINDOW, "seconds": given.seconds}
    kinds = itertools.product(given.sync_ms, (True, False), RATES, NETWORKS)
    cases = [
        whole | {"disk_ms": ms, "each": each, "rate": rate, "network": network}
        for ms, each, rate, network in kinds
    ]
    with tempfile.TemporaryDirectory(prefix="worldline-disk-") as folder:
        os.environ[LIBRARY] = str(build(Path(folder)))
        found = in_turns(__file__, "disk", cases, given.rounds)
    part.say(
        "From put to commit on disks whose flush takes longer, three processes with a node "
        f"each on this machine; {given.rounds} times {given.seconds:g} s:"
    )
    head = ("disk of", "a sync, ms", "puts/s", "network", "p50 ms", "p90 ms")
    ratios = ("p50, syncs", "p90, syncs", "in the run, ms", "p50 ÷ that", "load")
    part.say(table((*head, *ratios), [_line(case, rows) for case, rows in found]))


def _line(case: Row, rows: list[Row]) -> list[object]:
    p50, p90, run = (
        [row[name] for row in rows] for name in ("p50_ms", "p90_ms", "sync_ms")
    )
    takes = case["disk_ms"] or median(rows, "alone_ms")
    return [
        "each" if case["each"] else "all",
        f"{takes:.2g}",
        f"{case['rate']:,}",
        case["network"],
        told(p50, ".2f"),
        told(p90, ".2f"),
        told([took / takes for took in p50], ".2f"),
        told([took / takes for took in p90], ".2f"),
        told(run, ".2f"),
        told([took / each for took, each in zip(p50, run, strict=True)], ".2f"),
        f"{median(rows, 'load'):.1f}",
    ]


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sync-ms", type=float, nargs="*", default=SYNCS_MS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.5, help="of each run")
    parser.add_argument(
        "--together", action="store_true", help="all nodes in one process"
    )


if __name__ == "__main__":
    run_tables(
        __file__,
        __doc__,
        {"commits": commits},
        {"disk": measure, "load": deploy_load.measure},
        _declare,
    )
