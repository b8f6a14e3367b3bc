"""The tables of a run, made by DuckDB from the file itself.

No name and no value in the file becomes part of a statement: its lines are read as data
into columns that are fixed, and what Python puts beside them comes by a file as well.
"""

from __future__ import annotations

from pathlib import Path

from worldline.model.errors import InputError, UsageError
from worldline.querying.beside import LEAST_OBJECT, add_beside
from worldline.querying.duck import Connection, errors_told, quoted
from worldline.querying.lives import add_messages, add_timers
from worldline.querying.oddities import refuse_odd_parts, refuse_odd_steps
from worldline.querying.source import TraceSource, source, strictly
from worldline.querying.texts import spell
from worldline.trace.json_checks import Malformed

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
    time: 'DOUBLE',
    calls: 'STRUCT(depth BIGINT, caller VARCHAR, callee VARCHAR, name VARCHAR,
                   handler VARCHAR, arguments JSON, returned BOOLEAN, result JSON)[]'
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
FROM raw LEFT JOIN spelt ON spelt.value::VARCHAR = payload::VARCHAR
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
) LEFT JOIN spelt ON spelt.value::VARCHAR = send.message::VARCHAR
"""

_CALLS = """
CREATE TABLE calls AS
SELECT step, number, call.depth AS depth, time, node, call.caller AS caller,
    call.callee AS callee, call.name AS name, call.handler AS handler,
    given.text AS arguments, call.arguments AS arguments_json, call.returned AS returned,
    coalesce(got.text, 'None') AS result, coalesce(call.result, 'null'::JSON) AS result_json
FROM (
    SELECT step, time, node, unnest(calls) AS call,
        unnest(range(1, len(calls) + 1)) AS number
    FROM raw
)
LEFT JOIN spelt AS given ON given.value::VARCHAR = call.arguments::VARCHAR
LEFT JOIN spelt AS got ON got.value::VARCHAR = call.result::VARCHAR
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
LEFT JOIN spelt AS one ON one.value::VARCHAR = pair[1]::VARCHAR
LEFT JOIN spelt AS two ON two.value::VARCHAR = pair[2]::VARCHAR
"""


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
    except (Malformed, UsageError, RecursionError) as error:
        # Whoever reads all of it has words for what is wrong, and where.
        strictly(path, partial=partial)
        if isinstance(error, UsageError) and "memory" in error.what:
            raise
        raise InputError(f"{path} cannot be taken: {error}") from None


def _load(connection: Connection, read: TraceSource, folder: Path) -> None:
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
        f"maximum_object_size = {max(read.longest + 2, LEAST_OBJECT)}) "
        "WHERE record = 'step'"
    )
    add_beside(connection, read, folder)
    refuse_odd_steps(connection, read)
    spell(
        connection,
        folder,
        (
            "SELECT payload FROM raw",
            "SELECT unnest(sends).message FROM raw",
            "SELECT unnest(timers).payload FROM raw",
            "SELECT unnest(calls).arguments FROM raw",
            "SELECT unnest(calls).result FROM raw",
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
    connection.execute(_CALLS)
    refuse_odd_parts(connection)
    add_timers(connection)
    connection.execute("DROP TABLE raw")
    add_messages(connection)
    for table in ("spelt", "pending", "under_way"):
        connection.execute(f"DROP TABLE {table}")
    for table in ("steps", "sends"):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN value_id")
    connection.execute("RESET disabled_optimizers")
