"""What the change of a large durable field costs a recorded node, and how many bytes it takes.

One node on a host, nothing synced; each event changes one entry. Milliseconds are those of
a processor.

    python benchmarks/durable_fields.py --write          into docs/results.md
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part
from benchmarks.spread import Row, in_turns, run_tables, table, told

import worldline as wl

(NODE,) = wl.ids("node")

SIZES = (100, 10_000, 100_000)
"""Entries."""


@dataclasses.dataclass
class Entry:
    """A record that can change."""

    term: int
    word: str


@wl.node
class Keeper:
    """Has a field of each shape, one of which is filled."""

    texts: dict[str, str] = wl.durable(default_factory=dict)
    lists: dict[str, list[int]] = wl.durable(default_factory=dict)
    records: dict[str, Entry] = wl.durable(default_factory=dict)
    log: list[str] = wl.durable(default_factory=list)
    queue: list[str] = wl.durable(default_factory=list)

    @wl.call
    def fill(self, ctx: wl.Context, shape: str, size: int) -> None:
        """Fill a field."""
        for number in range(size):
            _FILL[shape](self, number)

    @wl.call
    def change(self, ctx: wl.Context, shape: str, number: int) -> None:
        """Change an entry."""
        _CHANGE[shape](self, number)


def _set_text(node: Any, number: int) -> None:
    node.texts[str(number)] = f"v{number}"


def _new_list(node: Any, number: int) -> None:
    node.lists[str(number)] = [number, number]


def _new_record(node: Any, number: int) -> None:
    node.records[str(number)] = Entry(number, "w")


def _append(node: Any, number: int) -> None:
    node.log.append(f"v{number}")


def _enqueue(node: Any, number: int) -> None:
    node.queue.append(f"v{number}")


def _change_text(node: Any, number: int) -> None:
    node.texts[str(number)] = f"w{number}"


def _grow_list(node: Any, number: int) -> None:
    node.lists[str(number)].append(number)


def _change_record(node: Any, number: int) -> None:
    node.records[str(number)].term += 1


def _dequeue(node: Any, number: int) -> None:
    del node.queue[0]


_FILL: dict[str, Callable[[Any, int], None]] = {
    "dict of texts": _set_text,
    "dict of lists": _new_list,
    "dict of mutable records": _new_record,
    "list, appended to": _append,
    "list, its first taken": _enqueue,
}
_CHANGE: dict[str, Callable[[Any, int], None]] = {
    "dict of texts": _change_text,
    "dict of lists": _grow_list,
    "dict of mutable records": _change_record,
    "list, appended to": _append,
    "list, its first taken": _dequeue,
}


def system() -> wl.System:
    """Return the system of one node."""
    return wl.System({NODE: Keeper()}, name="keeper", open_workload=True)


def measure(*, shape: str, size: int, events: int) -> Row:
    """Return what an event takes that changes one entry of so many."""
    return asyncio.run(_measured(shape, size, events))


async def _measured(shape: str, size: int, events: int) -> Row:
    with tempfile.TemporaryDirectory(prefix="worldline-fields-") as folder:
        async with wl.Host(system(), record=folder, sync="never", say=_hush) as host:
            await host.call(NODE, Keeper.fill, shape, size)
            await host.call(NODE, Keeper.change, shape, 0)
            written = host.counts(NODE).journal_bytes
            began = time.process_time()
            for number in range(events):
                await host.call(NODE, Keeper.change, shape, 1 + number)
            took = time.process_time() - began
            written = host.counts(NODE).journal_bytes - written
    return {"ms": 1e3 * took / events, "bytes": written / events}


def _hush(line: str) -> None:
    """Say nothing of handlers that take long: they fill the fields."""


def fields(part: Part, given: argparse.Namespace) -> None:
    """An event that changes one entry of a large field."""
    kinds = itertools.product(_CHANGE, given.sizes)
    cases = [
        {"shape": shape, "size": size, "events": given.events} for shape, size in kinds
    ]
    found = in_turns(__file__, "fields", cases, given.rounds)
    rows = [_line(case, rows) for case, rows in found]
    part.say(f"One entry is changed by each of {given.events} events:")
    part.say(table(("field", "entries", "ms an event", "bytes"), rows))


def _line(case: Row, rows: list[Row]) -> list[str]:
    took = told([row["ms"] for row in rows], ".2f")
    return [case["shape"], f"{case['size']:,}", took, f"{rows[0]['bytes']:,.0f}"]


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=30)


if __name__ == "__main__":
    run_tables(__file__, __doc__, {"fields": fields}, {"fields": measure}, _declare)
