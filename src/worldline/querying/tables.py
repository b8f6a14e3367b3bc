"""The tables of a run, made by DuckDB from the file itself.

No name and no value in the file becomes part of a statement: its lines are read as data
into columns that are fixed, and what Python puts beside them comes by a file as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from worldline.model.errors import InputError
from worldline.model.kinds import KINDS
from worldline.querying.duck import Connection, Refused, errors_told, quoted
from worldline.querying.opening import first_values, pending, under_way
from worldline.querying.source import Source, source, strictly
from worldline.querying.texts import spell
from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json, show
from worldline.trace.records import BOOT, PROLOGUE, RUN
from worldline.trace.schema import dump

_LEAST_OBJECT = 1 << 20
"""Bytes of a line that DuckDB makes room for in any case."""

_RAW = """{
    record: 'VARCHAR', step: 'BIGINT', phase: 'VARCHAR', node: 'VARCHAR',
    kind: 'VARCHAR', part: 'VARCHAR', name: 'VARCHAR', peer: 'VARCHAR',
    payload: 'JSON', "from": 'BIGINT', choices: 'BIGINT[]', widths: 'BIGINT[]',
    result: 'VARCHAR',
    failure: 'STRUCT(kind VARCHAR, name VARCHAR, "where" VARCHAR, message VARCHAR)',
    sends: 'STRUCT("to" VARCHAR, part VARCHAR, name VARCHAR, message JSON,
                   taken BOOLEAN)[]',
    timers: 'STRUCT(part VARCHAR, name VARCHAR, payload JSON, "after" DOUBLE)[]',
    changes: 'MAP(VARCHAR, JSON[])', log: 'VARCHAR[]', lamport: 'BIGINT',
    time: 'DOUBLE'
}"""

_STEPS = """
CREATE TABLE steps AS
SELECT step, phase, time, lamport, node, kind, part, name, peer,
    spelt.text AS payload, payload AS payload_json, "from" AS sent_in,
    choices, widths, result,
    failure.kind || ' ' || failure.name
        || CASE failure.message WHEN '' THEN '' ELSE ': ' || failure.message END
        || ' (' || failure."where" || ')' AS failure,
    log, coalesce(step >= {cycle}, false) AS in_cycle, spelt.id AS value_id
FROM raw LEFT JOIN spelt ON spelt.value = payload::VARCHAR
"""

_SENDS = """
CREATE TABLE sends AS
SELECT step, number, time, src, send."to" AS dst, send.part AS part,
    send.name AS name, spelt.text AS message, send.message AS message_json,
    send.taken AS taken, spelt.id AS value_id
FROM (
    SELECT step, time, node AS src, unnest(sends) AS send,
        unnest(range(1, len(sends) + 1)) AS number
    FROM raw
) LEFT JOIN spelt ON spelt.value = send.message::VARCHAR
"""

_CHANGES = """
CREATE TABLE changes AS
SELECT step, time, node, field,
    coalesce(one.text, 'None') AS before, coalesce(pair[1], 'null'::JSON) AS before_json,
    coalesce(two.text, 'None') AS after, coalesce(pair[2], 'null'::JSON) AS after_json
FROM (
    SELECT step, time, node, unnest(map_keys(changes)) AS field,
        unnest(map_values(changes)) AS pair
    FROM raw
)
LEFT JOIN spelt AS one ON one.value = pair[1]::VARCHAR
LEFT JOIN spelt AS two ON two.value = pair[2]::VARCHAR
"""

_MESSAGES = """
CREATE TABLE messages AS
WITH each AS (
    SELECT step AS sent_in, number, time AS sent_at, src, dst, part, name, value_id,
        0 AS copied_in
    FROM sends WHERE taken
    UNION ALL BY NAME
    SELECT sent_in, (SELECT time FROM steps AS s WHERE s.step = d.sent_in) AS sent_at,
        peer AS src, node AS dst, part, name, value_id, step AS copied_in
    FROM steps AS d WHERE kind IN ({doubling})
    UNION ALL BY NAME
    SELECT src, dst, part, name, id AS value_id, -1 AS copied_in
    FROM under_way JOIN spelt ON value = message_json::VARCHAR
), copies AS (
    SELECT *, row_number() OVER (equal ORDER BY copied_in, number) AS turn,
        count(*) OVER equal AS turns
    FROM each WINDOW equal AS (PARTITION BY sent_in, src, dst, part, value_id)
), endings AS (
    SELECT sent_in, peer AS src, node AS dst, part, name, value_id, kind, step, time,
        row_number() OVER (
            PARTITION BY sent_in, peer, node, part, value_id ORDER BY step
        ) AS turn
    FROM steps WHERE kind IN ({taking})
), lives AS (
    SELECT coalesce(c.sent_in, e.sent_in) AS sent_in, number, sent_at,
        coalesce(c.src, e.src) AS src, coalesce(c.dst, e.dst) AS dst,
        coalesce(c.part, e.part) AS part, coalesce(c.name, e.name) AS name,
        coalesce(c.value_id, e.value_id) AS value_id,
        coalesce(e.kind, 'left') AS fate, e.step AS ended_in, e.time AS ended_at
    FROM copies AS c FULL JOIN endings AS e
    ON c.sent_in IS NOT DISTINCT FROM e.sent_in AND c.value_id = e.value_id
        AND c.src = e.src AND c.dst = e.dst AND c.part = e.part
        -- In a message set one message arrives any number of times.
        AND (c.turn = e.turn OR (c.turn = c.turns AND e.turn > c.turns))
    ORDER BY sent_in NULLS FIRST, number NULLS LAST, ended_in NULLS LAST
)
SELECT sent_in, number, sent_at, src, dst, part, name, text AS message,
    value::JSON AS message_json, fate, ended_in, ended_at
FROM lives LEFT JOIN spelt ON id = value_id
"""

_TIMERS = """
CREATE TABLE timers AS
WITH acts AS (
    SELECT step, number, time, node, timer.part AS part, timer.name AS name,
        timer.payload AS payload_json, timer.after AS after,
        CASE WHEN timer.after IS NULL THEN 'cancel' ELSE 'set' END AS act
    FROM (
        SELECT step, time, node, unnest(timers) AS timer,
            unnest(range(1, len(timers) + 1)) AS number
        FROM raw
    )
    UNION ALL BY NAME
    SELECT step, 0 AS number, time, node, part, name, payload_json, 'timer' AS act
    FROM steps WHERE kind = 'timer'
    UNION ALL BY NAME
    SELECT {before} AS step, row_number() OVER () AS number, node, part, name,
        payload_json, after, 'set' AS act
    FROM pending
), followed AS (
    SELECT *, lead(act) OVER turns AS next_act, lead(step) OVER turns AS next_step,
        lead(time) OVER turns AS next_time
    FROM acts
    WINDOW turns AS (
        PARTITION BY node, part, name, payload_json::VARCHAR ORDER BY step, number
    )
), lives AS (
    SELECT f.*, g.step AS gone_in, g.time AS gone_at, g.kind AS gone_by,
        coalesce(g.step <= f.next_step, g.step IS NOT NULL) AS is_forgotten
    FROM (SELECT * FROM followed WHERE act = 'set') AS f
    ASOF LEFT JOIN (SELECT * FROM steps WHERE kind IN ({forgetting})) AS g
    ON f.node = g.node AND f.step < g.step
)
SELECT nullif(lives.step, {before}) AS set_in,
    CASE WHEN lives.step > {before} THEN number END AS number, time AS set_at, node,
    part, name, spelt.text AS payload, payload_json, after,
    CASE WHEN is_forgotten THEN gone_by ELSE coalesce(next_act, 'left') END AS fate,
    CASE WHEN is_forgotten THEN gone_in ELSE next_step END AS ended_in,
    CASE WHEN is_forgotten THEN gone_at ELSE next_time END AS ended_at
FROM lives LEFT JOIN spelt ON spelt.value = payload_json::VARCHAR
ORDER BY set_in NULLS FIRST, number
"""

_BEFORE = -(2**62)
"""A step before all."""

_ODD_STEPS = """
SELECT count(*) FROM raw WHERE NOT coalesce(
    step = {first} + rowid AND phase IN ({phases}) AND (phase = 'run') = (step > 0)
    AND kind IN ({kinds}) AND part IS NOT NULL AND name IS NOT NULL
    AND result IN ('handled', 'unhandled', 'failed')
    AND (failure IS NULL) = (result <> 'failed')
    AND len(choices) = len(widths) AND lamport >= 1
    AND sends IS NOT NULL AND timers IS NOT NULL AND changes IS NOT NULL
    AND log IS NOT NULL
    AND ("from" IS NULL OR "from" BETWEEN {first} AND step - 1)
    AND (time IS NULL OR (time >= 0 AND isfinite(time) AND {timed}))
    AND (node IS NULL OR node IN (SELECT node FROM nodes))
    AND (peer IS NULL OR peer IN (SELECT node FROM nodes)), false)
"""

_ODD_SENDS = """
SELECT count(*) FROM sends WHERE NOT coalesce(
    dst IN (SELECT node FROM nodes) AND part IS NOT NULL AND name IS NOT NULL
    AND taken IS NOT NULL, false)
"""

_ODD_CHANGES = """
SELECT count(*) FROM (SELECT unnest(map_values(changes)) AS pair FROM raw)
WHERE coalesce(len(pair), 0) <> 2
"""


class Counts(NamedTuple):
    """What the end of a file says of its steps, and how many there are."""

    said: int | None
    there: int


def load(connection: Connection, path: Path, folder: Path, *, partial: bool) -> None:
    """Make the tables of a trace.

    Parameters
    ----------
    folder
        An empty one, for drafts.
    partial
        Whether a file that breaks off is taken for what it has.

    Raises
    ------
    InputError
        If there is no such file, or it is not a whole and right trace.
    UsageError
        If there is no room.
    """
    read = source(path, folder, partial=partial)
    try:
        with errors_told():
            _load(connection, read, folder)
    except (Malformed, Refused, RecursionError) as error:
        # Whoever reads all of it has words for what is wrong, and where.
        strictly(path, partial=partial)
        if isinstance(error, Refused) and "memory" in error.what:
            raise
        raise InputError(f"{path} cannot be taken: {error}") from None


def _load(connection: Connection, read: Source, folder: Path) -> None:
    # The order of a file is that of its rows: whoever is looked up must not lead.
    connection.execute(
        "SET disabled_optimizers = 'join_order,build_side_probe_side,"
        "statistics_propagation'"
    )
    form = "zstd" if read.packed else "uncompressed"
    connection.execute(
        f"CREATE TEMP TABLE raw AS SELECT * EXCLUDE (record) FROM read_json("
        f"{quoted(str(read.place))}, format = 'newline_delimited', compression = "
        f"'{form}', columns = {_RAW}, "
        f"maximum_object_size = {max(read.longest + 2, _LEAST_OBJECT)}) "
        "WHERE record = 'step'"
    )
    _load_beside(connection, read, folder)
    _refuse_odd_steps(connection, read)
    spell(
        connection,
        folder,
        (
            "SELECT payload FROM raw",
            "SELECT unnest(sends).message FROM raw",
            "SELECT unnest(timers).payload FROM raw",
            "SELECT pair[1] FROM (SELECT unnest(map_values(changes)) AS pair FROM raw)",
            "SELECT pair[2] FROM (SELECT unnest(map_values(changes)) AS pair FROM raw)",
            "SELECT payload_json FROM pending",
            "SELECT message_json FROM under_way",
        ),
    )
    end = read.end
    cycle = None if end is None else end.cycle
    connection.execute(_STEPS.format(cycle="NULL" if cycle is None else cycle))
    connection.execute(_SENDS)
    connection.execute(_CHANGES)
    _refuse(connection, _ODD_SENDS)
    _refuse(connection, _ODD_CHANGES)
    connection.execute(
        _TIMERS.format(
            before=_BEFORE, forgetting=_kinds(k.value for k in _rows() if k.forgets)
        )
    )
    connection.execute("DROP TABLE raw")
    connection.execute(
        _MESSAGES.format(
            doubling=_kinds(k.value for k in _rows() if k.doubles_message),
            taking=_kinds(k.value for k in _rows() if k.takes_message),
        )
    )
    for table in ("spelt", "pending", "under_way"):
        connection.execute(f"DROP TABLE {table}")
    for table in ("steps", "sends"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN value_id")
    connection.execute("RESET disabled_optimizers")


def _rows() -> Iterable[Any]:
    return KINDS.values()


def _kinds(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))


def _load_beside(connection: Connection, read: Source, folder: Path) -> None:
    """Make the tables of what is no step: nodes, the run, and what there was before."""
    header, end = read.header, read.end
    absent = () if read.state is None else read.state.absent
    nodes: list[Mapping[str, Json]] = [
        {
            "number": number,
            "node": node.name,
            "kind": node.kind,
            "fields": show(node.fields),
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
            line = json.dumps(row)
            longest = max(longest, len(line))
            file.write(f"{line}\n")
    if not longest:
        fields = columns.replace(": '", " ").replace("'", "")
        connection.execute(f"CREATE TABLE {name} ({fields})")
        return
    connection.execute(
        f"CREATE TABLE {name} AS SELECT * FROM read_json({quoted(str(draft))}, "
        f"format = 'newline_delimited', columns = {{{columns}}}, "
        f"maximum_object_size = {max(longest + 2, _LEAST_OBJECT)})"
    )
    draft.unlink()


def _refuse_odd_steps(connection: Connection, read: Source) -> None:
    counted = connection.execute(
        "SELECT count(*), min(step), count(*) FILTER (phase = 'run') FROM raw"
    ).fetchone()
    assert counted is not None
    rows, first, steps = counted
    end = read.end
    if rows != read.steps or (end is not None and end.steps != steps):
        raise Malformed("", "its lines are not those of a trace")
    if (
        end is not None
        and max(end.deliveries, end.externals, (end.cycle or 1) - 1) > steps
    ):
        raise Malformed("", "its end counts otherwise")
    if rows and first > 1:
        raise Malformed("step", f"the first step is {first}")
    _refuse(
        connection,
        _ODD_STEPS.format(
            first=first if rows else 0,
            phases=_kinds((BOOT, PROLOGUE, RUN)),
            kinds=_kinds(KINDS),
            timed="true" if read.header.begins is not None else "false",
        ),
    )


def _refuse(connection: Connection, counting: str) -> None:
    counted = connection.execute(counting).fetchone()
    if counted is None or counted[0]:
        raise Malformed("", "a step says what no step can")
