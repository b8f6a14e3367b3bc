"""Systems with rich local states beside a naive explorer, and where the time goes.

Run ``python benchmarks/rich.py``; it prints a table in Markdown, and a profile for each
system. The naive explorer is the oracle of the tests: nodes are copied, handlers run, and
whole states are kept in a set. Both explore breadth-first; the naive one as many states as
it can in `--seconds`, the kernel on one thread up to `--states`. Each has a process of its
own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

JOBS: list[tuple[str, dict[str, str]]] = [
    ("zoo:randtree", {"size": "5", "resets": "1", "connection_errors": "1"}),
    ("zoo:paxos-clients", {"clients": "2", "servers": "5"}),
]


def naive(target: str, parameters: dict[str, str], seconds: float) -> dict[str, Any]:
    """Explore with the oracle until the time is over."""
    from tests.oracle import Oracle

    from worldline.loading.loader import load
    from worldline.model.semantics.execute import Failure

    oracle = Oracle(load(target, parameters))
    began = time.process_time()
    states = {oracle.identity(state): state for state in oracle.initial()}
    level, generated = list(states.values()), len(states)
    while level and time.process_time() - began < seconds:
        following = []
        for state in level:
            if time.process_time() - began > seconds:
                break
            for *_, after in oracle.successors(state):
                generated += 1
                if isinstance(after, Failure):
                    continue
                identity = oracle.identity(after)
                if identity not in states:
                    states[identity] = after
                    following.append(after)
        level = following
    return figures(len(states), generated, time.process_time() - began)


def ours(target: str, parameters: dict[str, str], states: int) -> dict[str, Any]:
    """Explore with the kernel on one thread."""
    import worldline as wl
    from worldline.loading.loader import load

    system = load(target, parameters)
    began = time.process_time()
    report = wl.check(
        system, max_states=states, threads=1, traces=False, liveness=False
    )
    spent = time.process_time() - began
    profile = wl.check(
        load(target, parameters),
        max_states=states,
        threads=1,
        traces=False,
        liveness=False,
        profile=True,
    )
    shown = str(profile).partition("where the time went")
    return figures(report.states, report.generated, spent) | {
        "profile": shown[1] + shown[2]
    }


def figures(states: int, generated: int, seconds: float) -> dict[str, Any]:
    """Return what a run comes to."""
    return {"states": states, "generated": generated, "seconds": seconds}


def run(*arguments: str) -> dict[str, Any]:
    """Run this script in a process of its own."""
    command = [sys.executable, __file__, "job", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure every system, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="of the naive one")
    parser.add_argument("--states", type=int, default=1_000_000, help="of the kernel")
    options = parser.parse_args()
    print("| system | naive: states, /CPU s | native: states, /CPU s | ratio |")
    print("|---|---:|---:|---:|")
    profiles = []
    for number, (target, parameters) in enumerate(JOBS):
        name = " ".join([target, *[f"-p {k}={v}" for k, v in parameters.items()]])
        slow = run("naive", str(number), str(options.seconds))
        fast = run("ours", str(number), str(options.states))
        rates = [one["generated"] / one["seconds"] for one in (slow, fast)]
        cells = [
            f"{one['states']:,}, {rate:,.0f}"
            for one, rate in zip((slow, fast), rates, strict=True)
        ]
        print(
            f"| `{name}` | {cells[0]} | {cells[1]} | {rates[1] / rates[0]:.0f} |",
            flush=True,
        )
        profiles.append(f"\n`{name}`\n\n{fast['profile']}")
    print("\n".join(profiles))


if __name__ == "__main__":
    if sys.argv[1:2] == ["job"]:
        kind, job, limit = sys.argv[2:]
        if kind == "naive":
            print(json.dumps(naive(*JOBS[int(job)], float(limit))))
        else:
            print(json.dumps(ours(*JOBS[int(job)], int(limit))))
    else:
        main()
