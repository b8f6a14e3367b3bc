"""DuckDB, which is installed on request only: a database that can reach nothing outside.

It is imported here and nowhere else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from worldline.model.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Connection: TypeAlias = "DuckDBPyConnection"


def duckdb() -> Any:
    """Return the module of the database.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    try:
        import duckdb as module
    except ImportError:
        raise UsageError(
            "queries need DuckDB, which is not installed",
            remedy="run: pip install 'worldline[query]'",
        ) from None
    return module


@contextlib.contextmanager
def connected(
    folder: Path, *, threads: int | None, memory: int
) -> Iterator[Connection]:
    """Give a new database in memory, for as long as the block runs.

    Parameters
    ----------
    folder
        Where it may write what it has no room for.
    threads
        None for one for each processor.
    memory
        What it may take, in MiB.
    """
    settings: dict[str, Any] = {
        "memory_limit": f"{memory}MiB",
        "temp_directory": str(folder / "spilt"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,  # a name in SQL is no variable in Python
        "extension_directory": str(folder / "extensions"),
    }
    if threads is not None:
        settings["threads"] = threads
    connection = duckdb().connect(":memory:", config=settings)
    try:
        yield connection
    finally:
        connection.close()


def shut(connection: Connection) -> None:
    """Take files and settings from a database, for good."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


@contextlib.contextmanager
def errors_told(remedy: str = "") -> Iterator[None]:
    """Say what DuckDB does not take as an error of its caller.

    Raises
    ------
    UsageError
        For whatever the database refuses.
    """
    module = duckdb()
    try:
        yield
    except module.OutOfMemoryException as error:
        raise Refused(
            f"DuckDB has not enough memory: {_said(error)}",
            remedy="give it more: --max-memory MB (in Python: max_memory=)",
        ) from None
    except module.InterruptException:
        raise KeyboardInterrupt from None
    except (module.Error, OverflowError, ValueError) as error:
        raise Refused(_said(error), remedy=remedy) from None


class Refused(UsageError):
    """A statement that DuckDB refuses: what it says has lines, with a mark below one."""

    has_lines = True


def _said(error: Exception) -> str:
    return str(error).strip()


def quoted(text: str) -> str:
    """Return a text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"
