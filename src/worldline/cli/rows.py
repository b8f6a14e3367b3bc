"""Rows of a query as a table, as CSV and as JSON."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from worldline.cli.terminal import print_lines, unguarded
from worldline.model.counts import counted
from worldline.model.printable import one_line

if TYPE_CHECKING:
    from worldline.querying.asking import QueryResult

_NULL = "NULL"


def as_json(result: QueryResult) -> dict[str, Any]:
    """Return what was asked as one object: JSON in it is JSON."""
    return {
        "columns": [
            {"name": name, "type": kind}
            for name, kind in zip(result.columns, result.types, strict=True)
        ],
        "rows": [
            [_json(value, kind) for value, kind in zip(row, result.types, strict=True)]
            for row in result.rows
        ],
    }


def _json(value: Any, kind: str = "") -> Any:
    if isinstance(value, str):
        return json.loads(value) if kind == "JSON" else value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json(item) for key, item in value.items()}
    return value.hex() if isinstance(value, bytes) else str(value)


def print_csv(result: QueryResult) -> None:
    """Print rows with commas between; what is NULL is nothing, and lists are JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(result.columns)
    for row in result.rows:
        writer.writerow(["" if value is None else _cell(value) for value in row])


def print_table(result: QueryResult) -> None:
    """Print rows as a table: on a terminal within its width, else as they are."""
    if sys.stdout.isatty():
        _print_fitting(result)
    else:
        print_lines(_lines(result))
    print(f"({counted(len(result.rows), 'row')})")


def _print_fitting(result: QueryResult) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD)
    for name, right in zip(result.columns, _are_numbers(result), strict=True):
        table.add_column(
            Text(one_line(name)),
            justify="right" if right else "left",
            overflow="fold",
        )
    for row in result.rows:
        # No cell is markup: what stands in it comes from a file.
        table.add_row(*[Text(_shown(value)) for value in row])
    Console(file=unguarded(sys.stdout)).print(table)


def _lines(result: QueryResult) -> Iterator[str]:
    if not result.columns:
        return
    numbers = _are_numbers(result)
    head = [one_line(name) for name in result.columns]
    body = [[_shown(value) for value in row] for row in result.rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    for cells in (head, ["─" * width for width in widths], *body):
        yield "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numbers, strict=True)
        ).rstrip()


def _are_numbers(result: QueryResult) -> list[bool]:
    words = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
    return [
        any(word in kind for word in words) and "[" not in kind and "(" not in kind[:4]
        for kind in result.types
    ]


def _shown(value: Any) -> str:
    return one_line(_NULL if value is None else _cell(value))


def _cell(value: Any) -> str:
    """Return a value as text: a float as short as it can be told from others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return json.dumps(_json(value), ensure_ascii=False)
    return value.hex() if isinstance(value, bytes) else str(value)
