"""Oddities of steps: checks of those lines that are not read strictly."""

from __future__ import annotations

from worldline.model.kinds import KINDS
from worldline.querying.duck import Connection, listed
from worldline.querying.source import TraceSource
from worldline.trace.json_checks import Malformed
from worldline.trace.records import BOOT, PROLOGUE, RUN

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


def refuse_odd_steps(connection: Connection, read: TraceSource) -> None:
    """Refuse steps in `raw` of which the tables would say something wrong.

    Raises
    ------
    Malformed
        If there are any.
    """
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
            phases=listed((BOOT, PROLOGUE, RUN)),
            kinds=listed(KINDS),
            timed="true" if read.header.begins is not None else "false",
        ),
    )


def _refuse(connection: Connection, counting: str) -> None:
    counted = connection.execute(counting).fetchone()
    if counted is None or counted[0]:
        raise Malformed("", "a step says what no step can")


def refuse_odd_parts(connection: Connection) -> None:
    """Refuse what is odd inside the steps, once `sends` is made of them.

    Raises
    ------
    Malformed
        If anything is.
    """
    _refuse(connection, _ODD_SENDS)
    _refuse(connection, _ODD_CHANGES)
