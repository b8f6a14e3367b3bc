"""How fast and how large: exhaustive exploration of systems of the zoo.

Run ``python benchmarks/exploration.py``; it prints one line per system: generated
transitions per CPU second, and bytes of peak memory per state. Each system runs in a
process of its own, so that memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import worldline as wl
from worldline.loading.loader import load

JOBS: list[tuple[str, dict[str, str], int | None]] = [
    ("zoo:twophase", {"n": "7"}, None),
    ("zoo:paxos-clients", {"clients": "2", "network": "unordered"}, None),
    ("zoo:paxos-clients", {"clients": "2", "network": "ordered"}, None),
    ("zoo:single-copy", {"clients": "3"}, None),
    ("zoo:randtree", {"size": "3", "resets": "1"}, 1_000_000),
]


def measure(target: str, parameters: dict[str, str], states: int | None) -> str:
    """Check one system and return a line of figures as JSON."""
    system = load(target, parameters)
    began = time.process_time()
    report = wl.check(system, max_states=states, traces=False)
    seconds = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return json.dumps(
        {
            "system": " ".join([target, *[f"{k}={v}" for k, v in parameters.items()]]),
            "verdict": report.verdict.value,
            "states": report.states,
            "generated": report.generated,
            "cpu_s": round(seconds, 2),
            "generated_per_cpu_s": round(report.generated / seconds),
            "peak_mib": round(peak / 2**20),
            "bytes_per_state": round(peak / report.states),
        }
    )


def main() -> None:
    """Run every job in a process of its own."""
    for number, _ in enumerate(JOBS):
        command = [sys.executable, __file__, str(number)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        print(done.stdout.strip())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(measure(*JOBS[int(sys.argv[1])]))
    else:
        main()
