"""Lives of messages and timers, from the steps that began and ended them."""

from __future__ import annotations

from collections.abc import Callable

from worldline.model.kinds import KINDS, Kind
from worldline.querying.duck import Connection, listed

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
    FROM under_way JOIN spelt ON value::VARCHAR = message_json::VARCHAR
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
    value AS message_json, fate, ended_in, ended_at
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
FROM lives LEFT JOIN spelt ON spelt.value::VARCHAR = payload_json::VARCHAR
ORDER BY set_in NULLS FIRST, number
"""

_BEFORE = -(2**62)
"""A step before all."""


def add_timers(connection: Connection) -> None:
    """Make the table of timers, from `raw`, `steps`, `pending` and `spelt`."""
    forgetting = _kinds(lambda kind: kind.forgets)
    connection.execute(_TIMERS.format(before=_BEFORE, forgetting=forgetting))


def add_messages(connection: Connection) -> None:
    """Make the table of messages, from `steps`, `sends`, `under_way` and `spelt`."""
    doubling = _kinds(lambda kind: kind.doubles_message)
    taking = _kinds(lambda kind: kind.takes_message)
    connection.execute(_MESSAGES.format(doubling=doubling, taking=taking))


def _kinds(fits: Callable[[Kind], bool]) -> str:
    return listed(name for name, kind in KINDS.items() if fits(kind))
