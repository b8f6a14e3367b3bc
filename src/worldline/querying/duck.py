"""DuckDB as a database that can reach nothing outside."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from worldline.model.errors import UsageError
from worldline.runs.extras import duckdb

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Connection: TypeAlias = "DuckDBPyConnection"


def database() -> Any:
    """Return the module of the database.

    Raises
    ------
    UsageError
        If it is not installed.
    """
    return duckdb("queries")


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
    connection = database().connect(":memory:", config=settings)
    try:
        yield connection
    except RuntimeError as error:
        # What a signal raises while a statement runs, the database makes this of.
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise
    finally:
        connection.close()


def shut(connection: Connection) -> None:
    """Take files and settings from a database, for good."""
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


@contextlib.contextmanager
def errors_told() -> Iterator[None]:
    """Say what DuckDB does not take as an error of its caller.

    Raises
    ------
    UsageError
        For whatever the database refuses.
    """
    module = database()
    try:
        yield
    except module.OutOfMemoryException as error:
        raise _refusal(
            f"DuckDB has not enough memory: {_said(error)}",
            "give it more: --max-memory MB (in Python: max_memory=)",
        ) from None
    except module.InterruptException:
        raise KeyboardInterrupt from None
    except (module.Error, OverflowError, ValueError) as error:
        raise _refusal(_said(error)) from None


def _refusal(said: str, remedy: str = "") -> UsageError:
    """Return an error of several lines: a mark below the statement shows where it is."""
    error = UsageError(said, remedy=remedy)
    error.has_lines = True
    return error


def _said(error: Exception) -> str:
    return str(error).strip()


def quoted(text: str) -> str:
    """Return a text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


def listed(texts: Iterable[str]) -> str:
    """Return texts as SQL spells a list of them."""
    return ", ".join(map(quoted, texts))
