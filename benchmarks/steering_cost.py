"""What steering costs a node that runs: processor time for each message, on real sockets.

Processor seconds are those of the host's process; the predictor is another, at nice 19.
Medians, and between which the middle half is.

First the least that a message can cost: handlers that do next to nothing, many messages in
each round of the loop, always something to do; hosts with something beside them and without
take turns in one process, so that each pair is of one moment. So is RandTree at rest, whose
nodes probe as fast as they can (`steering_tree`). Then services that run: RandTree at its own
rate (`steering_service`) and a download (`steering_download`).

    python benchmarks/steering_cost.py                                 all
    python benchmarks/steering_cost.py messages --cases predictor      some
    python benchmarks/steering_cost.py --write                         into docs/results.md
"""

from __future__ import annotations

import argparse
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import Row, in_turns, measured, run_tables, table, told

from benchmarks import (
    steering_download,
    steering_load,
    steering_service,
    steering_tree,
)

measure = partial(in_turns, __file__)

BESIDE = {
    "nothing": "nothing, again",
    "hooks": "a companion that does nothing",
    "snapshots": "snapshots",
    "predictor": "a predictor that is always asked, against snapshots alone",
    "predict": "mode predict",
    "check": "mode check, each message writes what a property reads",
    "check-quiet": "mode check, none does, but its handler might",
    "predict-apart": "mode predict, handlers write nothing that a property reads",
    "check-apart": "mode check, handlers write nothing that a property reads",
    "steer": "mode steer, each message writes what a property reads",
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


def tree(part: Part, given: argparse.Namespace) -> None:
    """What a message of RandTree costs at rest, as fast as nodes can probe."""
    asked = [one for one in steering_tree.CASES if one in given.cases]
    cases = [{"case": case, "pairs": given.pairs} for case in asked]
    rows = []
    for case, many in measure("tree", cases, given.rounds):
        values = {
            name: [value for row in many for value in row[name]]
            for name in ("bare_us", "us", "cpu")
        }
        rows.append(
            (
                "nothing, again"
                if case["case"] == "nothing"
                else f"mode {case['case']}",
                told(values["bare_us"]),
                told(values["us"]),
                told([100 * (share - 1) for share in values["cpu"]], "+.1f"),
                f"{max(row['load'] for row in many):.1f}",
            )
        )
    part.say(
        f"A probe of RandTree and its timer, {steering_tree.NODES} nodes at rest, streams, "
        f"{given.rounds} times {given.pairs} pairs of stretches of "
        f"{steering_tree.STRETCH_S} s:"
    )
    part.say(table(("beside", "CPU us, without", "with it", "CPU %", "load"), rows))


def service(part: Part, given: argparse.Namespace) -> None:
    """What a message of RandTree costs at its own rate."""
    rows = []
    for period in steering_service.PERIODS:
        for case in steering_service.CASES:
            pairs = paired("service", given.runs, case, period=period)
            rows.append(
                (
                    f"{statistics.median(two['rate'] for _, two in pairs):,.0f}",
                    f"mode {case}",
                    len(pairs),
                    *_compared(pairs, "each_us", ".0f"),
                    *(
                        told([pair[which]["cpu_ms"] for pair in pairs])
                        for which in (0, 1)
                    ),
                    f"{max(row['load'] for pair in pairs for row in pair):.1f}",
                )
            )
    part.say(
        f"A message of RandTree, {steering_service.NODES} nodes in one process, streams; "
        f"{steering_service.LASTS_S:g} s each:"
    )
    head = ("messages/s", "beside", "pairs", "CPU us, without", "with it", "CPU %")
    part.say(table((*head, "CPU ms/s, without", "with it", "load"), rows))


def download(part: Part, given: argparse.Namespace) -> None:
    """What a download takes."""
    rows = []
    for latency in ("", steering_download.LATENCY):
        for case in steering_download.CASES:
            pairs = paired("download", given.runs, case, latency=latency)
            rows.append(
                (
                    latency or "none",
                    f"mode {case}",
                    len(pairs),
                    *_compared(pairs, "cpu", ".2f"),
                    *_compared(pairs, "wall", ".2f"),
                    f"{max(row['load'] for pair in pairs for row in pair):.1f}",
                )
            )
    part.say(
        f"Bullet', {steering_download.NODES} nodes in one process, a file of 2 MB, streams:"
    )
    head = ("latency", "beside", "pairs", "CPU s, without", "with it", "CPU %")
    part.say(table((*head, "wall s, without", "with it", "wall %", "load"), rows))


def paired(what: str, count: int, case: str, **given: Any) -> list[tuple[Row, Row]]:
    """Measure with nothing and with what a case says, both at once, so many times."""
    pairs, run = [], partial(measured, __file__, what, **given)
    with ThreadPoolExecutor(2) as both:
        for number in range(count):
            order = ("nothing", case) if number % 2 else (case, "nothing")
            begun = {one: both.submit(run, case=one) for one in order}
            pairs.append((begun["nothing"].result(), begun[case].result()))
            print(f"{case} {number + 1}/{count}", end="\r", file=sys.stderr, flush=True)
    return pairs


def _compared(pairs: list[tuple[Row, Row]], what: str, form: str) -> tuple[str, ...]:
    return (
        told([bare[what] for bare, _ in pairs], form),
        told([other[what] for _, other in pairs], form),
        told([100 * (other[what] / bare[what] - 1) for bare, other in pairs], "+.1f"),
    )


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=20, help="pairs of services")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--cases", nargs="+", choices=[*BESIDE], default=[*BESIDE])
    names = ("datagrams", "streams")
    parser.add_argument("--networks", nargs="+", choices=names, default=["datagrams"])


if __name__ == "__main__":
    run_tables(
        __file__,
        __doc__,
        {"messages": messages, "tree": tree, "service": service, "download": download},
        {
            "messages": steering_load.measure,
            "tree": steering_tree.measure,
            "service": steering_service.measure,
            "download": steering_download.measure,
        },
        _declare,
    )
