"""The tables of what is no step: nodes, the run, and what there was before it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from worldline.querying.duck import Connection, quoted
from worldline.querying.opening import first_values, pending, under_way
from worldline.querying.source import TraceSource, spelt_out
from worldline.trace.json_text import Json, show
from worldline.trace.schema import dump

LEAST_OBJECT = 1 << 20
"""Bytes of a line that DuckDB makes room for in any case."""


def add_beside(connection: Connection, read: TraceSource, folder: Path) -> None:
    """Make `nodes`, `run`, `opening`, `pending` and `under_way`.

    Parameters
    ----------
    folder
        Where drafts of them may be written.
    """
    _add_nodes(connection, read, folder)
    _add_run(connection, read, folder)
    header = read.header
    named = "node: 'VARCHAR', part: 'VARCHAR', name: 'VARCHAR'"
    _put(
        connection,
        folder,
        "pending",
        f"{named}, payload_json: 'JSON', after: 'DOUBLE'",
        pending(read.state),
    )
    _put(
        connection,
        folder,
        "under_way",
        "src: 'VARCHAR', dst: 'VARCHAR', part: 'VARCHAR', name: 'VARCHAR', "
        "message: 'VARCHAR', message_json: 'JSON'",
        under_way(read.state),
    )
    parts = connection.execute(
        "SELECT DISTINCT node, part FROM (SELECT node, part FROM raw UNION ALL "
        "SELECT node, regexp_replace(unnest(map_keys(changes)), '[^.]*$', '') FROM raw)"
    ).fetchall()
    _put(
        connection,
        folder,
        "opening",
        "node: 'VARCHAR', field: 'VARCHAR', value: 'VARCHAR', value_json: 'JSON'",
        first_values(header, read.state, parts),
    )
    # A null in a column of JSON is read as no value.
    connection.execute(
        "UPDATE opening SET value_json = 'null'::JSON WHERE value_json IS NULL"
    )


def _add_nodes(connection: Connection, read: TraceSource, folder: Path) -> None:
    header = read.header
    absent = () if read.state is None else read.state.absent
    nodes: list[Mapping[str, Json]] = [
        {
            "number": number,
            "node": node.name,
            "kind": node.kind,
            "fields": ", ".join(f"{k}={show(v)}" for k, v in node.fields.items()),
            "fields_json": node.fields,
            "absent": node.name in absent,
        }
        for number, node in enumerate(header.nodes, 1)
    ]
    _put(
        connection,
        folder,
        "nodes",
        "number: 'BIGINT', node: 'VARCHAR', kind: 'VARCHAR', fields: 'VARCHAR', "
        "fields_json: 'JSON', absent: 'BOOLEAN'",
        nodes,
    )


def _add_run(connection: Connection, read: TraceSource, folder: Path) -> None:
    header, end = read.header, read.end
    said = {} if end is None else dump(end)
    explained = "" if end is None or end.explanation is None else end.explanation
    run = {**dump(header), **said, "explanation": str(explained) or None}
    _put(
        connection,
        folder,
        "run",
        "system: 'VARCHAR', target: 'VARCHAR', parameters: 'JSON', seed: 'BIGINT', "
        "engine: 'VARCHAR', worldline: 'VARCHAR', network: 'JSON', faults: 'JSON', "
        "options: 'JSON', begins: 'VARCHAR', verdict: 'VARCHAR', property: 'VARCHAR', "
        "kind: 'VARCHAR', explanation: 'VARCHAR', steps: 'BIGINT', cycle: 'BIGINT', "
        "critical: 'BIGINT'",
        [{**run, "begins": header.begins or "start"}],
    )


def _put(
    connection: Connection,
    folder: Path,
    name: str,
    columns: str,
    rows: Iterable[Mapping[str, Json]],
) -> None:
    """Make a table of rows that Python knows: by a file, since values are data."""
    draft = folder / name
    longest = 0
    with draft.open("x", encoding="utf-8") as file:
        for row in rows:
            line = json.dumps(spelt_out(dict(row)))
            longest = max(longest, len(line))
            file.write(f"{line}\n")
    if not longest:
        fields = columns.replace(": '", " ").replace("'", "")
        connection.execute(f"CREATE TABLE {name} ({fields})")
        return
    connection.execute(
        f"CREATE TABLE {name} AS SELECT * FROM read_json({quoted(str(draft))}, "
        f"format = 'newline_delimited', columns = {{{columns}}}, "
        f"maximum_object_size = {max(longest + 2, LEAST_OBJECT)})"
    )
    draft.unlink()
