"""`query`: a question in SQL to a recorded run."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.model.amounts import refuse_other_than_whole
from worldline.model.arguments import check_trace, named
from worldline.model.errors import UsageError
from worldline.querying.duck import Connection, connected, database, errors_told, shut
from worldline.querying.tables import load
from worldline.querying.views import add_views
from worldline.trace.format import StrPath

MEMORY_MB = 2_048
"""What a query takes unless it is told otherwise, in MiB; beyond it, it uses a disk."""


@final
@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows that a statement gave.

    Attributes
    ----------
    columns, types
        The names of the columns, and their types in SQL.
    rows
        In the order in which the statement gave them. JSON is text in them.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def dicts(self) -> list[dict[str, Any]]:
        """Return each row by the names of the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def query(
    trace: StrPath,
    sql: str,
    values: Sequence[Any] | Mapping[str, Any] = (),
    *,
    partial: bool = False,
    threads: int | None = None,
    max_memory: int = MEMORY_MB,
) -> QueryResult:
    """Ask a recorded run a question in SQL; nothing is run, and no system is needed.

    Its tables and views are those of ``docs/query.md``. The statement can read nothing
    but them.

    Parameters
    ----------
    trace
        The file.
    sql
        A statement for DuckDB, or several with semicolons between; the last one's rows
        are the answer.
    values
        For the ``?`` in it, in order, or for each ``$name``.
    partial
        Whether a file that breaks off is taken for what it has.
    threads
        None for one for each processor.
    max_memory
        In MiB; what does not fit is written into a temporary folder meanwhile.

    Raises
    ------
    InputError
        If there is no such file, or it is not a whole and right trace.
    UsageError
        If DuckDB is not installed, or refuses the statement.

    Examples
    --------
    >>> query("run.wl", "SELECT kind, count(*) FROM steps GROUP BY kind").rows
    ... # doctest: +SKIP
    (('start', 2), ('deliver', 7))
    """
    if not isinstance(sql, str):
        raise UsageError(f"sql is {named(sql)}", remedy="give a statement as text")
    with opened(
        trace, partial=partial, threads=threads, max_memory=max_memory
    ) as connection:
        shut(connection)
        return ask(connection, sql, values)


@contextlib.contextmanager
def opened(
    trace: StrPath,
    *,
    partial: bool = False,
    threads: int | None = None,
    max_memory: int = MEMORY_MB,
) -> Iterator[Connection]:
    """Give a database with the tables and views of a trace, while the block runs.

    It can still write files: `shut` it before anybody's statement is run.
    """
    check_trace(trace)
    refuse_other_than_whole(threads=threads, max_memory=max_memory)
    database()
    with (
        tempfile.TemporaryDirectory(prefix="worldline-query-") as name,
        connected(Path(name), threads=threads, memory=max_memory) as connection,
    ):
        load(connection, Path(trace), Path(name), partial=partial)
        add_views(connection)
        yield connection


def ask(
    connection: Connection, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()
) -> QueryResult:
    """Run a statement.

    Raises
    ------
    UsageError
        If it is none, or DuckDB refuses it.
    """
    if not sql.strip().strip(";"):
        raise _no_statement()
    with errors_told():
        done = connection.execute(sql, values)
        if not isinstance(done, type(connection)):  # for nothing but comments
            raise _no_statement()
        described = done.description or []
        types = tuple(str(column[1]) for column in described)
        _refuse_zones(types)
        return QueryResult(
            columns=tuple(column[0] for column in described),
            types=types,
            rows=tuple(done.fetchall()) if described else (),
        )


def _no_statement() -> UsageError:
    return UsageError("there is no statement", remedy="give one: SELECT * FROM steps")


def _refuse_zones(types: Sequence[str]) -> None:
    """Refuse times with a zone: a run has none, and Python's need another package."""
    for number, kind in enumerate(types, 1):
        if "TIMESTAMP WITH TIME ZONE" in kind:
            raise UsageError(
                f"column {number} is {kind}, which cannot be given",
                remedy="cast it: now()::TIMESTAMP, or to VARCHAR",
            )
