"""The file of a simulation's metrics: a row for each seed and time."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from worldline.model.errors import UsageError
from worldline.runs.extras import duckdb, matplotlib
from worldline.search.simulating.sampling import GaugeValue, RunSample
from worldline.trace.storing import store

COLUMNS = ("seed", "time", "events", "messages", "lost", "up")
"""Those before the gauges."""

SeedSamples = tuple[int, Sequence[RunSample]]
"""A seed and the samples of its run."""

_BEGINNINGS = {
    ".csv": b"seed,time,",
    ".parquet": b"PAR1",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
}
"""How a file of ours begins, by the end of its name."""

METRICS, PLOTS = (".csv", ".parquet"), (".svg", ".png")


def refuse_unwritable(
    option: str, place: Path, suffixes: Sequence[str], gauges: Sequence[str]
) -> None:
    """Refuse before the runs what could not be written after them.

    Parameters
    ----------
    option
        Its name, for the message.
    suffixes
        The ends of names that say what is written.

    Raises
    ------
    UsageError
        If the name ends otherwise, something else is there, it cannot be written, an
        extra is missing, or a gauge has the name of another column.
    """
    if place.suffix not in suffixes:
        raise UsageError(
            f"{option} {str(place)!r} says not what to write",
            remedy=f"end its name with {' or '.join(suffixes)}",
        )
    if place.suffix == ".parquet":
        duckdb("Parquet files")
    if suffixes is PLOTS:
        matplotlib()
    taken = sorted(set(gauges) & {*COLUMNS})
    if taken:
        raise UsageError(
            f"the gauge {taken[0]} has the name of another column of the metrics",
            remedy="give it another name",
        )
    why = _hindrance(place)
    if why:
        raise UsageError(f"{option}: {str(place)!r} {why}", remedy="name another file")


def _hindrance(place: Path) -> str:
    """Return why a file cannot be written, as far as that can be told."""
    try:
        if place.is_dir():
            return "is a folder, and a file is wanted"
        if place.exists():
            with place.open("rb") as file:
                beginning = _BEGINNINGS[place.suffix]
                if file.read(len(beginning)) not in (b"", beginning):
                    return "is there already, and is none of ours"
        parent = place.absolute().parent
        while not parent.exists():
            parent = parent.parent
    except OSError as error:
        return f"cannot be used: {error.strerror}"
    if not parent.is_dir():
        return f"cannot be written: {parent} is no folder"
    return "" if os.access(parent, os.W_OK) else f"cannot be written into {parent}"


def write_metrics(
    place: Path, gauges: Sequence[str], samples: Sequence[SeedSamples]
) -> int:
    """Write the samples of some runs, all of them or nothing; return the rows.

    Raises
    ------
    UsageError
        If the file cannot be written there.
    """
    rows = [*_rows(samples)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *gauges])
    writer.writerows(rows)
    content = text.getvalue().encode("utf-8", "backslashreplace")
    if place.suffix == ".parquet":
        content = _parquet(content, _types(gauges, rows))
    store(place, content, "metrics")
    return len(rows)


def _rows(samples: Sequence[SeedSamples]) -> Iterator[tuple[GaugeValue, ...]]:
    for seed, taken in samples:
        for one in taken:
            yield (seed, *one[:-1], *one.gauges)


def _types(
    gauges: Sequence[str], rows: Sequence[tuple[GaugeValue, ...]]
) -> dict[str, str]:
    """Return the types in SQL of all columns: a gauge is of numbers, or of text."""
    types = dict.fromkeys(COLUMNS, "BIGINT") | {"time": "DOUBLE"}
    for number, name in enumerate(gauges, len(COLUMNS)):
        is_text = any(isinstance(row[number], str) for row in rows)
        types[name] = "VARCHAR" if is_text else "DOUBLE"
    return types


def _parquet(content: bytes, types: dict[str, str]) -> bytes:
    """Return a CSV file as Parquet."""
    with (
        tempfile.TemporaryDirectory(prefix="worldline-metrics-") as name,
        duckdb("Parquet files").connect(":memory:") as connection,
    ):
        draft, made = Path(name) / "metrics.csv", Path(name) / "metrics.parquet"
        draft.write_bytes(content)
        read = connection.read_csv(
            str(draft), dtype=types, header=True, delimiter=",", quotechar='"'
        )
        read.write_parquet(str(made))
        return made.read_bytes()
