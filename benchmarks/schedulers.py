"""Schedulers beside each other: which safety bug each finds, how fast, from how many seeds.

    python benchmarks/schedulers.py             runs that are not made yet, then the tables
    python benchmarks/schedulers.py raft        those of bugs whose names contain a word
    python benchmarks/schedulers.py --write     the tables into docs/results.md, no runs

Every bug of the zoo that `check` finds, and Raft's; then harder forms, from the initial state
or with more nodes. 20 CPU seconds a run, one thread, three seeds, and ten where all three
found it. The first four columns are portfolios and weights: `1:2` is timers half as likely
as messages. A run is kept as a line of a file in worldline-out, so that an interrupted
benchmark goes on.
"""

from __future__ import annotations

import argparse
import gc
import json
import shlex
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from results import Part

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.search.report import Progress

HERE = Path(__file__).resolve().parent
KEPT = Path("worldline-out/schedulers.jsonl")
TIMERS = {"weighted": 5, "1:100": 1, "1:5": 20, "1:2": 50, "1:1": 100}
"""The weights of timers where messages have 100, by the name of the column."""

SCHEDULERS = (
    "portfolio",
    *TIMERS,
    "swarm",
    "uniform",
    "fifo",
    "pct:3",
    "pos",
    "delay:5",
)
CHECKED = {
    "paxos-wids1": "zoo:paxos -p bugs=wids1 -p size=7 -p start=chosen",
    "paxos-wids2": "zoo:paxos -p bugs=wids2",
}
"""Bugs that `check` finds, too, although the commands of the zoo simulate them."""

RING = "zoo:randtree -p contacts=ring"
HARDER = {
    "paxos-cb1, 5 nodes": "zoo:paxos -p bugs=cb1 -p size=5 -p leaders=3",
    "paxos-cb2, 5 nodes": "zoo:paxos -p bugs=cb2 -p resets=1 -p size=5",
    "paxos-wids1, from the start": "zoo:paxos -p bugs=wids1 -p size=7",
    "paxos-wids2, 3 leaders": "zoo:paxos -p bugs=wids2 -p leaders=3",
    "brokentree-bt2, 8 nodes": "zoo:brokentree -p bugs=bt2 -p size=8",
    "randtree-cb1, from the start": f"{RING} -p bugs=cb1 -p size=3 -p silent_resets=1",
    "randtree-cb3, from the start": f"{RING} -p bugs=cb3 -p size=4 -p resets=1",
    "randtree-cb4, from the start": f"{RING} -p bugs=cb4 -p size=3 -p resets=1",
    "randtree-rt14, from the start": f"{RING} -p bugs=rt14 -p resets=1",
    "randtree-rt17, from the start": f"{RING} -p bugs=rt17 -p resets=1",
    "randtree-rt5, 4 nodes": f"{RING} -p bugs=rt5 -p size=4",
    "single-copy, 2 servers": "zoo:single-copy -p servers=2",
}
CPU_SECONDS = 20.0
FEW, MANY = range(1, 4), range(1, 11)


class Job(NamedTuple):
    """A system with a bug."""

    bug: str
    target: str
    parameters: dict[str, str]


@dataclass(frozen=True)
class Run:
    """One search: `steps` are those on its runs, `length` those of the violating one."""

    bug: str
    scheduler: str
    seed: int
    found: str | None
    seconds: float
    walks: int
    steps: int
    length: int | None


def jobs() -> Iterator[Job]:
    """Yield what is searched: Raft's bugs, the zoo's, and their harder forms."""
    raft = str(HERE / "systems" / "raft.py")
    for bug in ("figure8", "stale-append"):
        sizes = {"max_term": "4", "max_log": "2"}
        yield Job(f"raft-{bug}", raft, {"bugs": bug, **sizes})
    for bug, case in {**zoo.bugs(), **zoo.cross_checks()}.items():
        words = shlex.split(case.command)
        if words[0] == "check":
            yield job_of(bug, words[1:])
    for bug, command in (CHECKED | HARDER).items():
        yield job_of(bug, shlex.split(command))


def job_of(bug: str, words: list[str]) -> Job:
    """Return the job of a command line: a target, then its parameters."""
    pairs = [words[at + 1] for at, word in enumerate(words) if word == "-p"]
    return Job(bug, words[0], dict(pair.split("=", 1) for pair in pairs))


def search(job: Job, scheduler: str, seed: int) -> Run:
    """Run until a violation, or until the time is up."""
    system = load(job.target, job.parameters)
    safety = [
        p.name for p in system.properties if p.kind is not wl.PropertyKind.LIVENESS
    ]
    gc.collect()  # what is left of the runs before is no part of this one
    began = time.process_time()

    def end_in_time(told: Progress) -> None:
        if time.process_time() - began > CPU_SECONDS:
            raise KeyboardInterrupt

    timers = TIMERS.get(scheduler)
    report = wl.walk(
        system,
        scheduler=None if scheduler == "portfolio" else _name(scheduler),
        weights=None if timers is None else {"timer": timers},
        seed=seed,
        threads=1,
        traces=False,
        properties=safety,
        max_seconds=10 * CPU_SECONDS,
        progress=end_in_time,
    )
    violated = report.violated
    return Run(
        job.bug,
        scheduler,
        seed,
        None if violated is None else violated.name,
        round(time.process_time() - began, 2),
        report.walks,
        report.steps,
        None if violated is None else violated.steps,
    )


def _name(column: str) -> str:
    return "weighted" if column in TIMERS else column


def kept() -> dict[tuple[str, str, int], Run]:
    """Return the runs that were made before."""
    if not KEPT.exists():
        return {}
    found = [Run(**json.loads(line)) for line in KEPT.read_text().splitlines()]
    return {(run.bug, run.scheduler, run.seed): run for run in found}


def run_all(words: list[str]) -> None:
    """Make the runs that are lacking, and keep each."""
    known = kept()
    KEPT.parent.mkdir(exist_ok=True)
    for job in jobs():
        if words and not any(word in job.bug for word in words):
            continue
        for scheduler in SCHEDULERS:
            for seed in MANY:
                key = job.bug, scheduler, seed
                if seed not in FEW and not all(
                    known[job.bug, scheduler, one].found for one in FEW
                ):
                    break
                if key not in known:
                    known[key] = search(job, scheduler, seed)
                    with KEPT.open("a") as file:
                        file.write(json.dumps(asdict(known[key])) + "\n")
                    print(known[key], flush=True)


def cell(runs: list[Run]) -> str:
    """Return how many seeds found it, and the median and the most seconds."""
    hits = [run.seconds for run in runs if run.found]
    if not runs:
        return "–"
    if not hits:
        return f"0/{len(runs)}"
    times = f"{statistics.median(hits):.1f}"
    if len(hits) > 1:
        times += f" ({max(hits):.1f})"
    return f"**{len(hits)}/{len(runs)}** {times}"


def table() -> str:
    """Return all runs: a row for each bug, a column for each scheduler."""
    found: dict[str, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in kept().values():
        found[run.bug][run.scheduler].append(run)
    names = "".join(f" {name} |" for name in SCHEDULERS)
    lines = [
        f"| bug | runs, steps |{names}",
        "|---|---:|" + "---:|" * len(SCHEDULERS),
    ]
    for bug, by_scheduler in found.items():
        hits = [run for run in by_scheduler["portfolio"] if run.found]
        effort = "–"
        if hits:
            walks = statistics.median(run.walks for run in hits)
            steps = statistics.median(run.length or 0 for run in hits)
            effort = f"{walks:,.0f}, {steps:,.0f}"
        cells = "".join(f" {cell(by_scheduler[name])} |" for name in SCHEDULERS)
        lines.append(f"| {bug} | {effort} |{cells}")
    totals = [
        sum(
            bool(cells[n]) and all(run.found for run in cells[n])
            for cells in found.values()
        )
        for n in SCHEDULERS
    ]
    sums = "".join(f" {total} of {len(found)} |" for total in totals)
    return "\n".join([*lines, f"| from every seed | |{sums}"])


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if not arguments.write:
        run_all(arguments.words)
    part = Part("schedulers.py")
    part.say(table())
    if arguments.write:
        part.write()


if __name__ == "__main__":
    main()
