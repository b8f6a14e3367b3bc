"""What hosts cost: an event, a commit, a datagram, a sync, a guard, and unused hooks.

The load is `replicated_log`: three nodes, values of 100 bytes. Each measurement is a process
of its own (three where the nodes are apart); those that are compared run in turns. Medians,
and between which the middle half is. Processor seconds are those of the whole process:
sockets, journals, and whoever puts, who is in the process of the primary. The load of the
machine is printed beside: rates by the clock on the wall are floors.

    python benchmarks/deploy.py                        all
    python benchmarks/deploy.py rates --rounds 3       some: rates, commits, durable,
                                                       datagrams, hooks, guards
    python benchmarks/deploy.py --write                into docs/results.md
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import Row, in_turns, median, run_tables, table, told

from benchmarks import deploy_hooks, deploy_load, deploy_sockets

measure = partial(in_turns, __file__)

NETWORKS = ("streams", "datagrams")
LOOPS = ("asyncio", "uvloop")

RATE = 1_000
"""Puts a second where commits are timed."""

CLIENTS = 400
"""At once, where puts are to keep the processor busy."""

WINDOWS = (64, 512)
"""Entries that may wait for a majority: so few that all wait for the disk, and so many that
nobody has to."""


def rates(part: Part, given: argparse.Namespace) -> None:
    """Events a second and microseconds an event, in one process and in three."""
    cases = [
        {"network": n, "loop": loop, "sync": sync, "apart": apart}
        for apart, n, loop, sync in itertools.product(
            (False, True), NETWORKS, LOOPS, (None, "never")
        )
    ]
    found = measure(
        "load", [c | {"seconds": given.seconds} for c in cases], given.rounds
    )
    part.say(
        f"An event, with {deploy_load.Load(network='').clients} clients that put again "
        f"once they are answered; {given.rounds} times {given.seconds:g} s each:"
    )
    part.say(
        table(
            (
                "network",
                "loop",
                "journal",
                "process of",
                "events/s",
                "CPU us/event",
                "B/event",
                "load",
            ),
            [line for case, rows in found for line in _rates(case, rows)],
        )
    )


def _rates(case: Row, rows: list[Row]) -> list[list[object]]:
    lines = []
    whose = ("the primary", "a backup") if case["apart"] else ("all three",)
    for which, who in enumerate(whose):
        own = [row["processes"][which] for row in rows]
        lines.append(
            [
                case["network"],
                case["loop"],
                "yes" if case["sync"] else "no",
                who,
                told([row["rate"] for row in own], ",.0f"),
                told([row["each_us"] for row in own]),
                f"{median(own, 'bytes'):.0f}" if case["sync"] else "–",
                f"{median(rows, 'load'):.1f}",
            ]
        )
    return lines


def commits(part: Part, given: argparse.Namespace) -> None:
    """From put to commit, at a rate that leaves room."""
    cases = [
        {"network": n, "apart": apart, "rate": RATE, "sync": "never"}
        for n, apart in itertools.product(NETWORKS, (False, True))
    ]
    durable = {"durable": True, "sync": "durable", "window": WINDOWS[-1]}
    cases += [case | durable for case in cases]
    found = measure(
        "load", [c | {"seconds": given.seconds} for c in cases], given.rounds
    )
    part.say(
        f"From put to commit at {RATE:,} puts a second, as `host.until` sees it at the "
        "primary; a sync is `fdatasync`, as the journals of the primary's process wait for "
        "it in the run, on average, and before it, after 300 bytes, alone:"
    )
    rows = []
    for case, many in found:
        syncs, ratio = ["–", "–"], "–"
        if case["sync"] == "durable":
            syncs = [
                told([row[name] for row in many], ".2f")
                for name in ("sync_ms", "alone_ms")
            ]
            ratio = told([row["p50_ms"] / row["alone_ms"] for row in many], ".2f")
        rows.append(
            [
                case["network"],
                "one each" if case["apart"] else "one",
                case["sync"],
                told([row["p50_ms"] for row in many], ".2f"),
                told([row["p99_ms"] for row in many], ".2f"),
                *syncs,
                ratio,
                f"{median(many, 'puts'):,.0f}",
                f"{median(many, 'load'):.1f}",
            ]
        )
    head = ("network", "processes", "sync", "p50 ms", "p99 ms", "sync ms", "alone ms")
    part.say(table((*head, "p50 ÷ alone", "puts/s", "load"), rows))


def durable(part: Part, given: argparse.Namespace) -> None:
    """Throughput with syncs beside that without, everything else alike."""
    case = {"durable": True, "clients": CLIENTS, "seconds": given.seconds}
    cases = [
        case | {"network": n, "window": window, "sync": sync}
        for n, window, sync in itertools.product(
            NETWORKS, WINDOWS, ("never", "durable")
        )
    ]
    found = measure("load", cases, given.pairs)
    part.say(
        f"Durable fields, {CLIENTS} clients, all in one process; {given.pairs} pairs of "
        f"{given.seconds:g} s. *Under way* is how many entries may wait for a majority: so "
        "few that they wait for the disk, or more than there are clients; *idle* is for "
        "how much of the time the loop had nothing to do, with syncs:"
    )
    rows = []
    for (one, never), (_, synced) in zip(found[::2], found[1::2], strict=True):
        pairs = list(zip(never, synced, strict=True))
        rows.append(
            [
                one["network"],
                f"{one['window']:,}",
                told([row["puts"] for row in never], ",.0f"),
                told([row["puts"] for row in synced], ",.0f"),
                told([b["puts"] / a["puts"] for a, b in pairs], ".2f"),
                told([_cost(b) / _cost(a) for a, b in pairs], ".2f"),
                told([row["processes"][0]["idle"] for row in synced], ".2f"),
                f"{median(synced, 'sync_ms'):.2f}",
                f"{median(synced, 'load'):.1f}",
            ]
        )
    head = ("network", "under way", "puts/s, never", "puts/s, durable", "ratio")
    part.say(table((*head, "CPU/event, ratio", "idle", "sync ms", "load"), rows))


def _cost(row: Row) -> float:
    cost: float = row["processes"][0]["each_us"]
    return cost


def datagrams(part: Part, given: argparse.Namespace) -> None:
    """A datagram there and back, beside asyncio's own protocol."""
    kinds = ("drained", "coded", "plain")
    cases = [
        {"loop": loop, "window": window, "kind": kind}
        for loop, window, kind in itertools.product(LOOPS, (1, 64), kinds)
    ]
    found = measure("sockets", cases, given.rounds)
    part.say(
        "A datagram of 60 bytes there and back, at one end, so many under way: the socket "
        "of a host, the same with its codec, and `DatagramProtocol`, without any:"
    )
    rows = []
    for at in range(0, len(found), 3):
        many = [rows for _, rows in found[at : at + 3]]
        costs = [[row["each_us"] for row in one] for one in many]
        rows.append(
            [
                *(found[at][0][name] for name in ("loop", "window")),
                *map(told, costs),
                *(
                    told([b / a for a, b in zip(ours, costs[2], strict=True)], ".2f")
                    for ours in costs[:2]
                ),
                *(f"{median(one, 'rate'):,.0f}" for one in many[1:]),
                f"{median(many[0], 'load'):.1f}",
            ]
        )
    head = ("loop", "window", "CPU us, socket", "with codec", "protocol")
    ratios = ("protocol ÷ socket", "÷ with codec", "with codec/s", "protocol/s")
    part.say(table((*head, *ratios, "load"), rows))


def hooks(part: Part, given: argparse.Namespace) -> None:
    """What hooks cost without companions."""
    found = measure("hooks", [{"events": given.events // 2}], 1)
    ((_, (row,)),) = found
    part.say(
        f"{given.events:,} events, half of them by the code as it is and half by the same "
        f"without its hooks, in {len(row['hooks_ns'])} pairs of {deploy_hooks.CHUNK:,} "
        f"(see the script): {told(row['with_us'], '.2f')} us an event, of which hooks "
        f"{told(row['hooks_ns'], '.0f')} ns; mean {statistics.mean(row['hooks_ns']):.0f} "
        f"ns, load {row['load']:.1f}."
    )


def guards(part: Part, given: argparse.Namespace) -> None:
    """What the guard of a handler costs a message."""
    cases = [{"events": 8 * deploy_hooks.CHUNK, "plain": one} for one in (False, True)]
    (_, with_guard), (_, plain) = measure("hooks", cases, given.rounds)
    guarded, bare = (
        [value for row in rows for value in row["with_us"]]
        for rows in (with_guard, plain)
    )
    ratio = statistics.median(guarded) / statistics.median(bare)
    part.say(
        f"A message in turns of {deploy_hooks.TURN}, without sockets, {given.rounds} "
        f"processes each: {told(guarded, '.2f')} us where its handler has a guard, "
        f"{told(bare, '.2f')} where it has none, {ratio:.2f} times; "
        f"load {max(row['load'] for row in (*with_guard, *plain)):.1f}."
    )


MEASUREMENTS: dict[str, Callable[..., Row]] = {
    "load": deploy_load.measure,
    "sockets": deploy_sockets.measure,
    "hooks": deploy_hooks.measure,
}
TABLES: dict[str, Callable[[Part, argparse.Namespace], None]] = {
    one.__name__: one for one in (rates, commits, durable, datagrams, hooks, guards)
}


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=10, help="of `durable`")
    parser.add_argument("--seconds", type=float, default=1.5, help="of each run")
    parser.add_argument("--events", type=int, default=10_000_000, help="of `hooks`")


if __name__ == "__main__":
    run_tables(__file__, __doc__, TABLES, MEASUREMENTS, _declare)
