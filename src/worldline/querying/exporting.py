"""The tables of a run as Parquet, for other tools."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from worldline.model.errors import UsageError
from worldline.querying.duck import Connection, errors_told, quoted
from worldline.querying.schema import TABLES, VIEWS
from worldline.trace.storing import store_folder

EXPORTED = tuple(
    table.name for table in (*TABLES, *VIEWS) if not table.name.endswith(")")
)
"""All but macros, which need to be asked something."""

_MARK = "worldline"
"""The key under which a file of ours has the name of its table."""

_OURS = re.compile(rf"(?:{'|'.join(EXPORTED)})\.parquet")


def export(connection: Connection, place: Path) -> tuple[str, ...]:
    """Write a file for each table and view into a folder; return their names.

    Raises
    ------
    UsageError
        If they cannot be written there, or would take the place of what is not ours.
    """
    for table in EXPORTED:
        _refuse_foreign(connection, place / f"{table}.parquet")
    with tempfile.TemporaryDirectory(prefix="worldline-export-") as name:
        for table in EXPORTED:
            draft = Path(name) / f"{table}.parquet"
            with errors_told():
                connection.execute(
                    f"COPY (FROM {table}) TO {quoted(str(draft))} "
                    f"(FORMAT parquet, KV_METADATA {{{_MARK}: {quoted(table)}}})"
                )
        files = {path.name: path.read_bytes() for path in sorted(Path(name).iterdir())}
    store_folder(place, files, "tables", _OURS)
    return tuple(files)


def _refuse_foreign(connection: Connection, file: Path) -> None:
    """Refuse to take the place of a file that is no table of ours."""
    if not os.path.lexists(file):
        return
    is_ours = False
    if file.is_file():
        with contextlib.suppress(UsageError), errors_told():
            found = connection.execute(
                f"SELECT 1 FROM parquet_kv_metadata({quoted(str(file))}) "
                f"WHERE decode(key) = {quoted(_MARK)}"
            )
            is_ours = bool(found.fetchall())
    if not is_ours:
        raise UsageError(
            f"{file} is there already, and is no table of ours",
            remedy="name another folder",
        )
