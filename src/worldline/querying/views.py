"""The usual questions to a run, as views and macros over its tables."""

from __future__ import annotations

from worldline.querying.duck import Connection

_FIRST = -(2**62)
"""Stands for what was before the first step."""

_VIEWS = (
    """
    CREATE VIEW history AS
    SELECT node, field, step, time,
        lead(step) OVER (PARTITION BY node, field ORDER BY step NULLS FIRST) AS until,
        value, value_json
    FROM (
        SELECT node, field, NULL AS step, NULL AS time, value, value_json FROM opening
        UNION ALL
        SELECT node, field, step, time, after, after_json FROM changes
    )
    """,
    f"""
    CREATE MACRO state_at(wanted) AS TABLE
    SELECT node, field, nullif(written.since, {_FIRST}) AS since, value, value_json
    FROM (
        SELECT node, field, max(step) AS since
        FROM (
            SELECT node, field, {_FIRST} AS step FROM opening
            UNION ALL
            SELECT node, field, step FROM changes WHERE step <= wanted
        ) GROUP BY node, field
    ) AS written
    JOIN (
        SELECT node, field, {_FIRST} AS since, value, value_json FROM opening
        UNION ALL
        SELECT node, field, step, after, after_json FROM changes WHERE step <= wanted
    ) USING (node, field, since)
    JOIN nodes USING (node)
    ORDER BY nodes.number, field
    """,
    """
    CREATE MACRO last_writer_at(wanted) AS TABLE
    SELECT node, field, changes.after AS value, changes.after_json AS value_json,
        step, steps.time, kind, name, peer, payload, sent_in
    FROM (
        SELECT node, field, max(step) AS step FROM changes WHERE step <= wanted
        GROUP BY node, field
    ) JOIN changes USING (node, field, step) JOIN steps USING (node, step)
    ORDER BY step, field
    """,
    f"""
    CREATE VIEW last_writer AS SELECT * FROM last_writer_at({-_FIRST})
    """,
    """
    CREATE VIEW unreceived AS
    SELECT name, src, dst, count(*) AS messages,
        count(*) FILTER (fate = 'drop') AS dropped,
        count(*) FILTER (fate = 'refuse') AS refused,
        count(*) FILTER (fate = 'left') AS remaining,
        min(sent_in) AS first_sent_in
    FROM messages WHERE fate <> 'deliver' GROUP BY name, src, dst
    ORDER BY name, src, dst
    """,
    """
    CREATE VIEW traffic AS
    SELECT name, src, dst, count(*) AS messages,
        count(*) FILTER (fate = 'deliver') AS received,
        quantile_cont(ended_in - sent_in, 0.5) FILTER (fate = 'deliver') AS steps_p50,
        quantile_cont(ended_in - sent_in, 0.99) FILTER (fate = 'deliver') AS steps_p99,
        quantile_cont(ended_at - sent_at, 0.5) FILTER (fate = 'deliver')
            AS seconds_p50,
        quantile_cont(ended_at - sent_at, 0.99) FILTER (fate = 'deliver')
            AS seconds_p99
    FROM messages GROUP BY name, src, dst
    ORDER BY name, src, dst
    """,
    """
    CREATE MACRO traffic_by(width) AS TABLE
    SELECT floor(coalesce(sent_at, sent_in) / width) * width AS since, name,
        count(*) AS messages, count(*) FILTER (fate = 'deliver') AS received
    FROM messages WHERE sent_in IS NOT NULL GROUP BY ALL
    ORDER BY since, name
    """,
)


def add_views(connection: Connection) -> None:
    """Add the views and macros."""
    for view in _VIEWS:
        connection.execute(view)
