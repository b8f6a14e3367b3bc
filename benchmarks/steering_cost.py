"""What steering costs a node that runs: processor time for each message, on real sockets.

A host with nothing beside it and one with something take turns in one process, so that each
pair is of one moment. Processor seconds are those of the host's process; the predictor is
another, at nice 19. Handlers do next to nothing, so that shares are of the least that a
message can cost. Medians, and between which the middle half is.

    python benchmarks/steering_cost.py                       all
    python benchmarks/steering_cost.py --cases predictor     some
    python benchmarks/steering_cost.py --write               into docs/results.md
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import in_turns, run_tables, table, told

from benchmarks import steering_load

measure = partial(in_turns, __file__)

BESIDE = {
    "nothing": "nothing, again",
    "hooks": "a companion that does nothing",
    "snapshots": "snapshots",
    "predictor": "a predictor that is always asked, against snapshots alone",
    "predict": "mode predict",
    "check": "mode check",
    "steer": "mode steer",
}


def messages(part: Part, given: argparse.Namespace) -> None:
    """What a message costs with something beside its nodes."""
    cases = [
        {"case": case, "network": network, "pairs": given.pairs}
        for network in given.networks
        for case in given.cases
    ]
    found = measure("messages", cases, given.rounds)
    rows = []
    for case, many in found:
        values = {
            name: [value for row in many for value in row[name]]
            for name in ("bare_us", "us", "cpu", "wall")
        }
        answered = sum((row["predictor"] or {}).get("answered", 0) for row in many)
        rows.append(
            (
                BESIDE[case["case"]],
                case["network"],
                told(values["bare_us"]),
                told(values["us"]),
                told([100 * (share - 1) for share in values["cpu"]], "+.1f"),
                told([100 * (share - 1) for share in values["wall"]], "+.1f"),
                answered or "",
                f"{max(row['load'] for row in many):.1f}",
            )
        )
    head = ("beside", "network", "CPU us, without", "with it", "CPU %", "wall %")
    part.say(
        f"A message, {given.rounds} times {given.pairs} pairs of stretches of "
        f"{steering_load.STRETCH:,}, with {steering_load.BALLS} under way:"
    )
    part.say(table((*head, "predictions", "load"), rows))


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--cases", nargs="+", choices=[*BESIDE], default=[*BESIDE])
    names = ("datagrams", "streams")
    parser.add_argument("--networks", nargs="+", choices=names, default=["datagrams"])


if __name__ == "__main__":
    run_tables(
        __file__,
        __doc__,
        {"messages": messages},
        {"messages": steering_load.measure},
        _declare,
    )
