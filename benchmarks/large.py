"""Large state spaces: how long they take, on one thread and on two, and in what memory.

Run ``python benchmarks/large.py``; it prints a table in Markdown, and with `--write` puts
it into docs/results.md. Each run has a process of its own. Two-phase commit with ten
managers takes a minute and 3 GB; `--small` leaves it out.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.results import Part  # noqa: E402

JOBS: list[tuple[str, str]] = [
    ("zoo:twophase", "n=8"),
    ("zoo:twophase", "n=9"),
    ("zoo:paxos-clients", "clients=6"),
    ("zoo:twophase", "n=10"),
]


def measure(target: str, parameter: str, threads: int) -> dict[str, Any]:
    """Check one system in this process and return its figures."""
    import worldline as wl
    from worldline.loading.loader import load

    system = load(target, dict([parameter.split("=")]))
    wall, cpu = time.perf_counter(), time.process_time()
    report = wl.check(system, threads=threads, traces=False)
    report.expect_holds()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "system": f"`{target} -p {parameter}`",
        "threads": threads,
        "states": f"{report.states:,}",
        "generated": f"{report.generated:,}",
        "depth": report.depth,
        "wall s": f"{time.perf_counter() - wall:.1f}",
        "CPU s": f"{time.process_time() - cpu:.1f}",
        "generated/wall s": f"{report.generated / (time.perf_counter() - wall):,.0f}",
        "peak MiB": f"{peak / 2**20:,.0f}",
        "B/state": f"{peak / report.states:.0f}",
    }


def main() -> None:
    """Run every job in a process of its own, on one thread and on two."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--small", action="store_true", help="without the largest")
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    options, lines = parser.parse_args(), list[str]()
    for number, _ in enumerate(JOBS[:-1] if options.small else JOBS):
        for threads in (1, 2):
            command = [sys.executable, __file__, str(number), str(threads)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            figures = json.loads(done.stdout)
            print(done.stdout, end="", file=sys.stderr, flush=True)
            if not lines:
                lines += [f"| {' | '.join(figures)} |"]
                lines += [f"|---{'|---:' * (len(figures) - 1)}|"]
            lines.append(f"| {' | '.join(map(str, figures.values()))} |")
    part = Part("large.py")
    part.say("\n".join(lines))
    if options.write:
        part.write()


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1].isdigit():
        job, its_threads = sys.argv[1:]
        print(json.dumps(measure(*JOBS[int(job)], int(its_threads))))
    else:
        main()
