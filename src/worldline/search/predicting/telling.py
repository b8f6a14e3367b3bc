"""Known paths as plain data: one node tells another what it found, and cannot prevent.

The events are spelt as in the tests that ``minimize --pytest`` writes. What comes from
another node is checked like a file: it may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worldline.model.arguments import named
from worldline.model.errors import InputError
from worldline.model.events import Event
from worldline.model.system import System
from worldline.runs.rows import record_of
from worldline.runs.schedule import Events
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.shrink.steps import Sending
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode

MOST_STEPS = 1_000
"""Steps of a path that another node is believed to have found."""

_REMEDY = "send what worldline.search.predicting.telling.told has made"


def told(path: KnownPath) -> dict[str, Json]:
    """Return a known path as plain JSON data.

    Raises
    ------
    ModelError
        If a value in it is nested too deep.
    """
    return {"property": path.property, "steps": [_row(step) for step in path.steps]}


def understood(system: System, data: Any) -> KnownPath:
    """Return the known path that was told.

    Parameters
    ----------
    system
        The only source of nodes and classes.

    Raises
    ------
    InputError
        If it is none, or of another system.
    """
    if not isinstance(data, Mapping) or data.keys() != {"property", "steps"}:
        raise InputError(f"{named(data)} is no known path", remedy=_REMEDY)
    name, rows = data["property"], data["steps"]
    is_one = isinstance(name, str) and isinstance(rows, list)
    if not is_one or len(rows) > MOST_STEPS:
        raise InputError(
            f"a known path has the property {named(name)} and no list of at most "
            f"{MOST_STEPS:,} steps",
            remedy=_REMEDY,
        )
    events = Events(system)
    return KnownPath(name, tuple(_step(events, n, row) for n, row in enumerate(rows)))


def _row(step: PathStep) -> dict[str, Json]:
    event, row = step.event, dict[str, Json]()
    row["kind"], row["part"], row["name"] = event.kind.value, event.part, event.name
    row["node"] = None if event.node is None else event.node.name
    row["peer"] = None if event.peer is None else event.peer.name
    row["payload"] = encode(_payload(event))
    row["choices"] = list(step.choices)
    if step.sent is not None:
        row["sent"] = list(step.sent)
    return row


def _payload(event: Event) -> Any:
    """Return the frozen payload of an event."""
    return event.key[6]


def _step(events: Events, place: int, row: Any) -> PathStep:
    sent: Any = None
    if isinstance(row, Mapping):
        row = dict(row)
        sent = row.pop("sent", None)
    record = record_of(row, place)
    return PathStep(events.of(record), record.choices, _sending(sent, place))


def _sending(sent: Any, place: int) -> Sending | None:
    if sent is None:
        return None
    is_one = isinstance(sent, list) and [type(one) for one in sent] == [int, int]
    if not is_one or not (0 <= sent[0] < place and sent[1] >= 0):
        raise InputError(f"step {place} is sent by {named(sent)}", remedy=_REMEDY)
    return sent[0], sent[1]
