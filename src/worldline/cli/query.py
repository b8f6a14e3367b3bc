"""``worldline query``: ask a recorded run in SQL."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from worldline import _command
from worldline.cli.options import (
    add_json,
    add_partial,
    assignments,
    place,
    positive,
    print_json,
)
from worldline.cli.recordings import add_target_option, again_with_target, as_trace
from worldline.cli.terminal import print_lines
from worldline.cli.termination import ended_by_termination
from worldline.model.counts import counted

if TYPE_CHECKING:
    from worldline.querying.asking import QueryResult
    from worldline.querying.duck import Connection

SUMMARY = "ask a recorded run in SQL"

DESCRIPTION = """\
The question: whatever can be asked of a recorded run in SQL.

The run is loaded into tables (steps, sends, messages, changes, timers, calls, nodes, run),
with views for the usual questions (history, state_at(step), last_writer, unreceived,
traffic). Without SQL, they are listed with their columns. Nothing is run, the system's
source is not needed, and a statement can read nothing but these tables. But a recording
of 'worldline run' is replayed first, with its system.
Needs the extra: pip install 'worldline[query]'.
"""

EPILOG = """\
SQL is that of DuckDB; '-' reads it from standard input. Values are text as 'worldline
show' has them; a column NAME_json beside has them as JSON, for $.field and the like.

examples:
  worldline query run.wl
  worldline query run.wl "SELECT kind, count(*) FROM steps GROUP BY kind"
  worldline query run.wl "SELECT node, value FROM state_at(7) WHERE field = 'term'"
  worldline query run.wl "SELECT message_json->>'$.round' FROM sends" --csv
  worldline query run.wl "FROM unreceived" --json
  worldline query run.wl --export tables      for other tools, as Parquet
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from worldline.querying.asking import MEMORY_MB

    parser.set_defaults(run=run)
    parser.add_argument(
        "trace",
        metavar="TRACE",
        type=Path,
        help="a trace file, or the folder of a recording, which is replayed first",
    )
    parser.add_argument("sql", metavar="SQL", nargs="?", help="what to ask; see below")
    parser.add_argument(
        "--export",
        metavar="DIR",
        type=place,
        help="write all tables and views into a folder, as Parquet",
    )
    add_target_option(parser)
    forms = parser.add_mutually_exclusive_group()
    add_json(forms)
    forms.add_argument(
        "--csv", action="store_true", help="print rows with commas between"
    )
    add_partial(parser)
    parser.add_argument(
        "--threads",
        metavar="N",
        type=positive,
        help="threads of the database (default: one for each processor)",
    )
    parser.add_argument(
        "--max-memory",
        metavar="MB",
        type=positive,
        default=MEMORY_MB,
        help="memory of the database, in MiB; what does not fit is written into a "
        f"temporary folder (default: {MEMORY_MB})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Load a trace and answer; the exit code is 0."""
    from worldline.querying.duck import database

    sql = sys.stdin.read() if arguments.sql == "-" else arguments.sql
    database()  # what is imported while Ctrl-C is raised may be torn
    with (
        ended_by_termination(),
        as_trace(
            "query",
            arguments.trace,
            arguments.target,
            assignments(arguments.parameters),
            partial=arguments.partial,
            how=again_with_target(arguments.given),
        ) as trace,
    ):
        _command.begin()
        _answer(trace, sql, arguments)
    return 0


def _answer(trace: Path, sql: str | None, arguments: argparse.Namespace) -> None:
    """Do what is asked of a trace."""
    from worldline.querying.asking import ask, opened
    from worldline.querying.duck import shut
    from worldline.querying.exporting import export

    with opened(
        trace,
        partial=arguments.partial,
        threads=arguments.threads,
        max_memory=arguments.max_memory,
    ) as connection:
        written: tuple[str, ...] = ()
        if arguments.export is not None:
            written = export(connection, arguments.export)
        shut(connection)
        if sql is not None:
            _print(ask(connection, sql), arguments)
        elif arguments.export is None:
            _print_schema(connection, arguments)
        elif arguments.json:
            print_json({"folder": str(arguments.export), "files": list(written)})
        else:
            print(f"{len(written)} files in {arguments.export}: {', '.join(written)}")


def _print(result: QueryResult, arguments: argparse.Namespace) -> None:
    from worldline.cli import rows

    if arguments.json:
        print_json(rows.as_json(result))
    elif arguments.csv:
        rows.print_csv(result)
    else:
        rows.print_table(result)


def _print_schema(connection: Connection, arguments: argparse.Namespace) -> None:
    """Print what can be asked: of a table also how many rows this run has."""
    from worldline.querying.schema import EXAMPLES, TABLES, VIEWS

    counts = {table.name: len(connection.table(table.name)) for table in TABLES}
    if arguments.json:
        print_json(
            {
                kind: {
                    table.name: {
                        "meaning": table.meaning,
                        "rows": counts.get(table.name),
                        "columns": [column._asdict() for column in table.columns],
                    }
                    for table in tables
                }
                for kind, tables in (("tables", TABLES), ("views", VIEWS))
            }
        )
        return
    print_lines(_schema_lines(counts))
    print_lines(["examples", *(f"  {example}" for example in EXAMPLES)])


def _schema_lines(counts: dict[str, int]) -> Iterator[str]:
    from worldline.querying.schema import TABLES, VIEWS

    for table in (*TABLES, *VIEWS):
        count = counts.get(table.name)
        many = "" if count is None else f", {counted(count, 'row')}"
        yield f"{table.name}{many}: {table.meaning}"
        widths = [max(map(len, column), default=0) for column in _pairs(table.columns)]
        for column in table.columns:
            yield (
                f"  {column.name:<{widths[0]}}  {column.type:<{widths[1]}}  "
                f"{column.meaning}"
            )
        yield ""


def _pairs(columns: tuple[tuple[str, str, str], ...]) -> list[tuple[str, ...]]:
    return [tuple(column[at] for column in columns) for at in (0, 1)]
