"""Values as people read them: each that a run has is spelt once.

DuckDB has no words for them, and a function in Python for each row would be slow. So the
values are sorted out first: a run has few, compared with how often they occur.
"""

from __future__ import annotations

import json
from pathlib import Path

from worldline.querying.duck import Connection, quoted
from worldline.trace.json_checks import check
from worldline.trace.json_text import show

_BATCH = 10_000


def spell(connection: Connection, folder: Path, sources: tuple[str, ...]) -> None:
    """Make the table `spelt`: of each value a number, its JSON, and a text.

    Parameters
    ----------
    folder
        Where a draft of it may be written.
    sources
        Queries with one column, JSON.

    Raises
    ------
    Malformed
        If one is no value.
    """
    all_values = " UNION ALL ".join(
        f"SELECT value::VARCHAR AS value FROM ({source}) AS s(value)"
        for source in sources
    )
    connection.execute(
        "CREATE TEMP TABLE met AS SELECT row_number() OVER () AS id, value FROM "
        f"(SELECT DISTINCT value FROM ({all_values}) WHERE value IS NOT NULL)"
    )
    draft = folder / "texts"
    with draft.open("x", encoding="utf-8") as file:
        cursor = connection.execute("SELECT id, value FROM met")
        while batch := cursor.fetchmany(_BATCH):
            values = json.loads(f"[{','.join(value for _, value in batch)}]")
            file.writelines(
                f'{{"id":{number},"text":{json.dumps(show(check(value)))}}}\n'
                for (number, _), value in zip(batch, values, strict=True)
            )
    connection.execute(
        "CREATE TEMP TABLE spelt AS SELECT id, value, text FROM met JOIN read_json("
        f"{quoted(str(draft))}, format = 'newline_delimited', "
        "columns = {id: 'BIGINT', text: 'VARCHAR'}, maximum_object_size = 134217728"
        ") USING (id)"
    )
    connection.execute("DROP TABLE met")
    draft.unlink()
