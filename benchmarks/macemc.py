"""MaceMC's measurements beside ours: its tables 2 and 3, its figures 2 and 4 (NSDI 2007).

Run ``python benchmarks/macemc.py``; it prints Markdown and writes the two figures to
``docs/figures``. With ``--quick`` each search runs once, walks are few, and no figure is
written unless `--figures` says where to.

A number of ours is the median of `--repeat` searches in one process, each with tables
that are cold and a seed of its own. Seconds are of the wall clock, from making the
system to the confirmed result; the kernel is loaded before.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.cdf import Line, svg  # noqa: E402
from benchmarks.live_steps import DEPTH, Curve, Sample, table  # noqa: E402

import worldline as wl  # noqa: E402
from worldline.loading.loader import load  # noqa: E402

MOST_SECONDS = 30.0
"""For each search; in CPU seconds, for the walks of each curve."""

Options = Mapping[str, Any]


class Row(NamedTuple):
    """A line of a table.

    Attributes
    ----------
    technique
        What was done.
    paper
        The paper's paths, depth of search and time.
    options
        For `wl.walk` if they have a ``depth``, else for `wl.check`; None if there is
        nothing of ours to compare with.
    """

    technique: str
    paper: str
    options: Options | None = None


class Job(NamedTuple):
    """A bug in one setting, and how it is searched for."""

    bug: str
    target: str
    parameters: dict[str, str]
    rows: list[Row]


TREE = "one_spanning_tree"
SAFE: Options = {"properties": ["no_loops"]}
LIVE: Options = {"properties": [TREE]}
UNBIASED: Options = {"unbiased": True}


def _walks(events: int, **options: Any) -> Options:
    """Return what `wl.walk` is told; its depth counts states, the first one included."""
    return {"depth": events + 1, **options}


def _brokentree(bug: str, events: int, paper: Sequence[str]) -> Job:
    """Return the searches for a bug of BrokenTree, beside the lines of table 2."""
    plain, hash_1, hash_2, walks, hashed, biased = paper
    rows = [
        Row("exhaustive, no hashing", plain),
        Row("hash 1: `check --exact`", hash_1, {**SAFE, "exact": True}),
        Row("hash 2: `check`", hash_2, SAFE),
        Row("walks (/biased), no hashing", walks),
        Row(
            "walks, hash 1 (/2): `walk --unbiased`", hashed, _walks(events, **UNBIASED)
        ),
        Row("biased, hash 1 (/2): `walk`", biased, _walks(events)),
        Row(f"`check --property {TREE}`", "", LIVE),
        Row(f"`walk --property {TREE}`", "", _walks(events, **LIVE)),
    ]
    return Job(f"{bug.upper()} (table 2)", "zoo:brokentree", {"bugs": bug}, rows)


def _overcast(events: int, **setting: str) -> Job:
    """Return the searches for the bug of Overcast, beside the lines of table 3."""
    rows = [
        Row("walks (/biased), no hashing", "16 K/13 K, 15/10, 76 s/51 s"),
        Row(
            "walks, hash 1 (/2): `walk --unbiased`",
            "10 K/5 K, 20, 29 s/13 s",
            _walks(events, **UNBIASED),
        ),
        Row(
            "biased, hash 1 (/2): `walk`", "5 K/16 K, 20/25, 11 s/46 s", _walks(events)
        ),
    ]
    return Job("OV1 (table 3)", "zoo:overcast", {"bugs": "ov1", **setting}, rows)


JOBS = [
    _brokentree(
        "bt1",
        1,
        [
            "87, 10 (11), 56 ms",
            "55, 10 (11), 63 ms",
            "27, 10 (9), 36 ms",
            "0, 5 (14/22), 15 ms",
            "0, 5 (14), 16 ms",
            "0, 5 (22), 16 ms",
        ],
    ),
    _brokentree(
        "bt2",
        10,
        [
            "15 M, 20 (21), 6.5 h",
            "18 K, 20 (21), 30 s",
            "2.5 K, 20 (21), 4.5 s",
            "445/2.6 K, 10 (25/42), 0.37 s/1.9 s",
            "120/55, 10 (41/67), 0.16 s",
            "213/78, 10 (27/68), 0.25 s/0.14 s",
        ],
    ),
    _overcast(15, buffer="2"),
    _overcast(20, buffer="2"),
    _overcast(15, buffer="3", connection_errors="1"),
]


HOW_TO_READ = """\
Medians of {} searches. The depth is that of the exhaustive search; in brackets, the steps
of the run that was found. MaceMC's depth counts choices, ours events. Its nodes reorganise
themselves again and again, ours once, so that there are fewer states here. Its hash 1 tells
all states apart and its hash 2 does not; ours compares whole states or 64 bits of each.
Searches that remember no states are not to be had here. BT1 is two events away, so walks
for it begin after one. Of the paper, paths, depth and time are given, in brackets the
depth of what was found; where there are two figures, the second is that of the variant in
brackets."""

HOW_THEY_WALK = f"""
From up to {{}} distinct states after {DEPTH} unbiased random events, faults included, one walk
each without faults: the steps from state 0 to the first live state, by quantile. MaceMC
samples the states beyond its search. Its figure 2 has 60 % of MaceTransport live within 50
steps, less than 1 % of RandTree, and of Pastry nothing; BrokenTree and Overcast are not in it.
MaceTransport has two nodes here, that send each other four messages, and may lose two and
double one; the others have eight, and a reset and a broken connection but for BrokenTree."""


class Run(NamedTuple):
    """What one search came to.

    Attributes
    ----------
    walks
        How many were over before; 0 for an exhaustive search.
    steps
        Of the run that was found; None if none was.
    seconds, processor
        Of the wall clock, and of all threads.
    """

    walks: int
    states: int
    steps: int | None
    seconds: float
    processor: float


def search(job: Job, options: Options, seed: int) -> Run:
    """Search once."""
    walks = "depth" in options
    began, busy = time.perf_counter(), time.process_time()
    report = (wl.walk if walks else wl.check)(
        load(job.target, job.parameters),
        seed=seed,
        max_seconds=MOST_SECONDS,
        traces=False,
        **options,
    )
    seconds, busy = time.perf_counter() - began, time.process_time() - busy
    made = report.walks if isinstance(report, wl.WalkReport) else 0
    found = next((p.steps for p in report.properties if p.steps is not None), None)
    return Run(made, report.states, found, seconds, busy)


def tables(repeat: int) -> Iterator[str]:
    """Search for every bug in every way; return Markdown."""
    for job in JOBS:
        given = " ".join(f"-p {key}={value}" for key, value in job.parameters.items())
        yield f"\n{job.bug}, `{job.target} {given}`:\n"
        yield (
            "| technique: ours | paper | walks | states | depth (steps) | seconds "
            "| CPU s | found |"
        )
        yield "|---|---:|---:|---:|---:|---:|---:|---:|"
        for row in job.rows:
            yield f"| {row.technique} | {row.paper} | {' | '.join(cells(job, row, repeat))} |"


def cells(job: Job, row: Row, repeat: int) -> list[str]:
    """Return what a line says of ours."""
    if row.options is None:
        return [""] * 6
    runs = [search(job, row.options, seed) for seed in range(repeat)]
    steps = [run.steps for run in runs if run.steps is not None]
    depth = row.options.get("depth")
    actual = f"{statistics.median_low(steps)}" if steps else "-"
    return [
        "" if depth is None else f"{statistics.median_low(r.walks for r in runs):,}",
        f"{statistics.median_low(r.states for r in runs):,}",
        actual if depth is None else f"{depth - 1} ({actual})",
        f"{statistics.median(r.seconds for r in runs):.3f}",
        f"{statistics.median(r.processor for r in runs):.3f}",
        f"{len(steps)} of {len(runs)}",
    ]


FAULTS = {"resets": "1", "connection_errors": "1"}
SENDING = {"senders": "all", "messages": "4", "drops": "2", "duplicates": "1"}
SYSTEMS = {
    "MaceTransport": ("zoo:macetransport", {"size": "2", **SENDING}),
    "RandTree": ("zoo:randtree", {"size": "8", **FAULTS}),
    "Pastry": ("zoo:pastry", {"size": "8", **FAULTS}),
    "Overcast": ("zoo:overcast", {"size": "8", **FAULTS}),
    "BrokenTree": ("zoo:brokentree", {"size": "8"}),
}
"""What is walked through for the figures: the paper's three systems first. How large they
were there it does not say, but for Pastry and RandTree; the transport's is the smallest."""


def figures(paths: int, folder: Path | None) -> Iterator[str]:
    """Walk to live states; return tables in Markdown and write the figures."""
    yield HOW_THEY_WALK.format(paths)
    samples = {
        name: Sample(load(target, parameters), paths=paths)
        for name, (target, parameters) in SYSTEMS.items()
    }
    biased = {
        name: sample.walk(name, unbiased=False, seconds=MOST_SECONDS)
        for name, sample in samples.items()
    }
    unbiased = samples["RandTree"].walk("", unbiased=True, seconds=2 * MOST_SECONDS)
    both = [
        biased["RandTree"]._replace(name="biased"),
        unbiased._replace(name="unbiased"),
    ]
    for number, title, drawn in (
        (2, f"Steps to a live state, depth {DEPTH}", list(biased.values())),
        (4, f"RandTree, 8 nodes with failures, depth {DEPTH}", both),
    ):
        yield f"\nFigure {number}. {title}:\n"
        yield from table(drawn)
        if folder is not None:
            yield f"\nThe plot: `{write(folder, number, title, drawn)}`."


def write(folder: Path, number: int, title: str, curves: Sequence[Curve]) -> Path:
    """Write a figure and return its file."""
    lines = [Line(curve.name, curve.steps, curve.walks) for curve in curves]
    path = folder / f"macemc-figure-{number}.svg"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(svg(title, "simulator steps to liveness", lines), "utf-8")
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, metavar="N", help="searches (default: 5)")
    parser.add_argument("--quick", action="store_true", help="one search, 40 walks")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="where they go")
    given = parser.parse_args()
    if given.repeat is not None and given.repeat < 1:
        parser.error(f"--repeat {given.repeat} is too little: give at least 1")
    repeat = given.repeat or (1 if given.quick else 5)
    folder = given.figures or (None if given.quick else ROOT / "docs" / "figures")
    wl.check(load("zoo:toy", {}), traces=False)  # loads the kernel
    print(HOW_TO_READ.format(repeat))
    for line in tables(repeat):
        print(line, flush=True)
    for line in figures(40 if given.quick else 500, folder and folder.resolve()):
        print(line, flush=True)


if __name__ == "__main__":
    main()
