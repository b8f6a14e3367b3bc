"""The tables of a run as Parquet, for other tools."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from worldline.querying.duck import Connection, errors_told, quoted
from worldline.querying.schema import TABLES, VIEWS
from worldline.trace.storing import store_folder

EXPORTED = tuple(
    table.name for table in (*TABLES, *VIEWS) if not table.name.endswith(")")
)
"""All but macros, which need to be asked something."""

_OURS = re.compile(rf"(?:{'|'.join(EXPORTED)})\.parquet")


def export(connection: Connection, place: Path) -> tuple[str, ...]:
    """Write a file for each table and view into a folder; return their names.

    Raises
    ------
    UsageError
        If they cannot be written there.
    """
    with tempfile.TemporaryDirectory(prefix="worldline-export-") as name:
        for table in EXPORTED:
            draft = Path(name) / f"{table}.parquet"
            with errors_told():
                connection.execute(
                    f"COPY (FROM {table}) TO {quoted(str(draft))} (FORMAT parquet)"
                )
        files = {path.name: path.read_bytes() for path in sorted(Path(name).iterdir())}
    store_folder(place, files, "tables", _OURS)
    return tuple(files)
