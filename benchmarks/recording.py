"""What recording costs: in the paper's run of BitVault, and where there is nothing but events.

Processor seconds of whole processes, compression of closed segments included. The two sides
of a pair run at the same time, so that both have the same machine around them, in turns as
the first and the second; medians of pairs, and between which the middle half is.

    python benchmarks/recording.py                     all, 20 pairs of each kind of contents
    python benchmarks/recording.py vault --pairs 3     some: vault, turns
    python benchmarks/recording.py --write             into docs/results.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import Row, in_turns, measured, median, run_tables, table, told

from benchmarks import recording_turns, recording_vault

TURNS = (1, 4, 16, 64)


def vault(part: Part, given: argparse.Namespace) -> None:
    """The whole run and the minute of inserts, with recording and without."""
    rows = []
    for incompressible in (True, False):
        pairs = _pairs(given.pairs, ("on", "off"), incompressible=incompressible)
        rows += [_compared(pairs, what, incompressible) for what in ("cpu", "minute")]
    pairs = _pairs(max(given.pairs // 4, 1), ("on", "none"), incompressible=True)
    rows += [_compared(pairs, what, incompressible=True) for what in ("cpu", "minute")]
    part.say(
        "BitVault, 4 nodes in one process, 100 objects of 100 KB, a crash and return, "
        f"retrieval; tempo 0.1, {recording_vault.OVER:g} s a run:"
    )
    head = (
        "contents",
        "CPU s of",
        "beside",
        "pairs",
        "recorded",
        "not",
        "recorded ÷ not",
    )
    part.say(table((*head, "journals MB", "not, MB", "events", "load"), rows))


def _pairs(
    count: int, arms: tuple[str, str], *, incompressible: bool
) -> list[list[Row]]:
    pairs = []
    run = partial(measured, __file__, "vault", incompressible=incompressible)
    with ThreadPoolExecutor(2) as both:
        for number in range(count):
            order = arms if number % 2 else arms[::-1]
            begun = {arm: both.submit(run, arm=arm) for arm in order}
            pairs.append([begun[arm].result() for arm in arms])
            print(f"{number + 1}/{count}", end="\r", file=sys.stderr, flush=True)
    return pairs


def _compared(pairs: list[list[Row]], what: str, incompressible: bool) -> list[object]:
    on, off = ([pair[which] for pair in pairs] for which in (0, 1))
    nothing = not off[0]["journal_mb"]
    return [
        "incompressible" if incompressible else "zeros",
        "whole run" if what == "cpu" else "insert minute",
        "no journal" if nothing else "durable fields",
        len(pairs),
        told([row[what] for row in on], ".3f"),
        told([row[what] for row in off], ".3f"),
        told([a[what] / b[what] for a, b in pairs], ".3f"),
        f"{median(on, 'journal_mb'):.1f}",
        f"{median(off, 'journal_mb'):.1f}",
        f"{median(on, 'events'):,.0f}",
        f"{median(on, 'load'):.1f}",
    ]


def turns(part: Part, given: argparse.Namespace) -> None:
    """What is added to an event, by how many there are in a turn."""
    cases = [{"turn": turn, "pairs": given.stretches} for turn in TURNS]
    found = in_turns(__file__, "turns", cases, 1)
    part.say(
        f"An entry of 100 bytes at a backup, without sockets; {given.stretches} pairs of "
        f"{recording_turns.CHUNK:,} events:"
    )
    rows = [
        [
            case["turn"],
            told(row["plain_us"], ".2f"),
            told(row["extra_us"], ".2f"),
            f"{row['bytes']:.0f}",
            f"{row['packed']:.1f}",
            f"{row['load']:.1f}",
        ]
        for case, (row,) in found
    ]
    head = ("events in a turn", "us/event", "recorder, us/event", "B/event")
    part.say(table((*head, "compressed by", "load"), rows))


MEASUREMENTS: dict[str, Callable[..., Row]] = {
    "vault": recording_vault.measure,
    "turns": recording_turns.measure,
}
TABLES: dict[str, Callable[[Part, argparse.Namespace], None]] = {
    one.__name__: one for one in (vault, turns)
}


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=20, help="of runs of BitVault")
    parser.add_argument("--stretches", type=int, default=240, help="of turns")


if __name__ == "__main__":
    run_tables(__file__, __doc__, TABLES, MEASUREMENTS, _declare)
