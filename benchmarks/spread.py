"""What is measured again and again: each time in a process of its own; medians and quartiles."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.results import Part

T = TypeVar("T")

Row = dict[str, Any]
"""What a process has measured, by name."""


def measured(script: str, what: str, **given: Any) -> Row:
    """Return what a script says of one measurement, in a process of its own.

    The script takes ``--here WHAT OPTIONS``, both as `here` does, and prints a row as JSON.
    """
    command = [sys.executable, script, "--here", what, json.dumps(given)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{Path(script).name} {what} {given}: exit {done.returncode}")
    row: Row = json.loads(done.stdout)
    return row


def here(asked: Sequence[str], measurements: Mapping[str, Callable[..., Row]]) -> None:
    """Make one measurement in this process, and print its row."""
    what, given = asked
    print(json.dumps(measurements[what](**json.loads(given))))


Tables = Mapping[str, Callable[[Part, argparse.Namespace], None]]
"""What makes each table of a script, by its name on the command line."""


def run_tables(
    script: str,
    about: str,
    tables: Tables,
    measurements: Mapping[str, Callable[..., Row]],
    declare: Callable[[argparse.ArgumentParser], object],
) -> None:
    """Make the tables of a script that are asked for, and print them; or one measurement.

    Parameters
    ----------
    declare
        Declares the arguments of the script's own.
    """
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[[], *tables], default=[])
    declare(parser)
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        here(given.here, measurements)
        return
    part = Part(Path(script).name)
    for name in given.tables or tables:
        tables[name](part, given)
    if given.write:
        part.write()


async def by_turns(
    pairs: int, bare: Callable[[], Awaitable[T]], other: Callable[[], Awaitable[T]]
) -> list[tuple[T, T]]:
    """Take stretches of two, each of them first in turn; the very first pair does not count."""
    took: list[tuple[T, T]] = []
    for number in range(-1, pairs):
        if number % 2:
            first, second = await bare(), await other()
        else:
            second, first = await other(), await bare()
        if number >= 0:  # before, all of it was new
            took.append((first, second))
    return took


def in_turns(
    script: str, what: str, cases: Iterable[Row], rounds: int
) -> list[tuple[Row, list[Row]]]:
    """Measure each of some cases in each round; return the rows of each."""
    found: list[tuple[Row, list[Row]]] = [(case, []) for case in cases]
    for _ in range(rounds):
        for case, rows in found:
            rows.append(measured(script, what, **case))
    return found


def median(rows: Sequence[Row], name: str) -> float:
    """Return the median of what rows have by a name."""
    return float(statistics.median(row[name] for row in rows))


def told(values: Sequence[float], form: str = ".1f") -> str:
    """Return the median of some values, and between which the middle half of them is.

    Examples
    --------
    >>> told([20, 22, 24, 30, 50])
    '24.0 (22.0–30.0)'
    """
    middle = f"{statistics.median(values):{form}}"
    if len(values) < 2:
        return middle
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle} ({low:{form}}–{high:{form}})"


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of some values is."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown, numbers to the right of it."""
    lines = [f"| {' | '.join(map(str, row))} |" for row in rows]
    rule = f"|---|{'--:|' * (len(head) - 1)}"
    return "\n".join([f"| {' | '.join(head)} |", rule, *lines])


def load() -> float:
    """Return how many processes wanted the processors, on average in the last minute."""
    return os.getloadavg()[0]
