"""Events as plain data: the rows of a schedule that is written into a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from worldline.model.arguments import named
from worldline.model.errors import InputError
from worldline.model.kinds import KINDS, Kind
from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json
from worldline.trace.records import RUN, StepRecord
from worldline.trace.schema import load

StepRow: TypeAlias = Mapping[str, Any]
"""One event as plain data: some of `phase, node, kind, part, name, peer, payload,
choices`, as a trace has them; what is missing is empty."""

_EMPTY: dict[str, Json] = {
    "step": 0,
    "phase": RUN,
    "node": None,
    "part": "",
    "name": "",
    "peer": None,
    "payload": None,
    "from": None,
    "choices": [],
    "widths": [],
    "result": "handled",
    "failure": None,
    "sends": [],
    "timers": [],
    "changes": {},
    "log": [],
    "lamport": 1,
}
_WRITTEN = ("phase", "node", "kind", "part", "name", "peer", "payload", "choices")


def row_of(step: StepRecord) -> dict[str, Json]:
    """Return the event of a step as plain data, without what goes without saying."""
    row: dict[str, Json] = {}
    for key in _WRITTEN:
        value: Any = getattr(step, key)
        value = list(value) if isinstance(value, tuple) else value
        if key not in _EMPTY or value != _EMPTY[key]:
            row[key] = value
    return {key: row[key] for key in row if row[key] != _usual(row).get(key)}


def _usual(row: StepRow) -> dict[str, Json]:
    """Return what a row means by saying nothing: of calls no arguments, else the class."""
    if row.get("kind") in (Kind.CALL.value, Kind.RESET.value):
        return {"payload": {"$tuple": []}}
    payload, kind = row.get("payload"), KINDS.get(str(row.get("kind")))
    if kind is not None and kind.is_about_message and isinstance(payload, dict):
        return {"name": str(payload.get("$is", "")).rpartition(".")[2]}
    return {}


def record_of(row: Any, number: int) -> StepRecord:
    """Return a row as a record.

    Raises
    ------
    InputError
        If it is no event.
    """
    if not isinstance(row, Mapping) or not set(row) <= set(_WRITTEN):
        raise InputError(
            f"step {number} is {named(row)}, which is no event",
            remedy="write the test again with worldline minimize --pytest",
        )
    try:
        return load(StepRecord, {**_EMPTY, **_usual(row), **row, "step": number})
    except Malformed as error:
        raise InputError(
            f"step {number}: {error}",
            remedy="write the test again with worldline minimize --pytest",
        ) from None
