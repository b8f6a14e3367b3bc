"""The opening of a run: first values and pending events, before the first step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from worldline.trace.json_text import Json, show
from worldline.trace.records import STATUS, Header
from worldline.trace.state import StateRecord

OpeningRow = Mapping[str, Json]


def first_values(
    header: Header, state: StateRecord | None, parts: Sequence[tuple[str | None, str]]
) -> Iterator[OpeningRow]:
    """Yield the value of each field before any step, with parts dotted.

    Parameters
    ----------
    parts
        Nodes and the parts in which steps happened, as steps name them. The file does
        not say which fields are parts: one in which nothing happened is a value.
    """
    kinds = {node.name: node.kind for node in header.nodes}
    known = {(kinds.get(node or ""), part.strip(".")) for node, part in parts if part}
    prefixes = {
        (kind, ".".join(words[:count]))
        for kind, part in known
        for words in [part.split(".")]
        for count in range(1, len(words) + 1)
    }

    def flat(
        kind: str, fields: Mapping[str, Json], before: str = ""
    ) -> Iterator[OpeningRow]:
        for name, value in fields.items():
            path = f"{before}{name}"
            if (kind, path) in prefixes and isinstance(value, dict) and "$is" in value:
                inner = {key: item for key, item in value.items() if key != "$is"}
                yield from flat(kind, inner, f"{path}.")
            else:
                yield {"field": path, "value": show(value), "value_json": value}

    if state is None:
        nodes = [(node.name, "new", node.fields) for node in header.nodes]
    else:
        nodes = [(node.name, node.status, node.fields) for node in state.nodes]
    for name, status, fields in nodes:
        yield _status(name, status)
        for row in flat(kinds[name], fields):
            yield {"node": name, **row}


def _status(node: str, status: str) -> OpeningRow:
    return {
        "node": node,
        "field": STATUS,
        "value": show(status),
        "value_json": status,
    }


def pending(state: StateRecord | None) -> Iterator[OpeningRow]:
    """Yield the timers that are pending where a run begins in a state."""
    for node in () if state is None else state.nodes:
        for timer in node.timers:
            yield {
                "node": node.name,
                "part": timer.part,
                "name": timer.name,
                "payload_json": timer.payload,
                "after": timer.after,
            }


def under_way(state: StateRecord | None) -> Iterator[OpeningRow]:
    """Yield the messages that are under way where a run begins in a state."""
    for node in () if state is None else state.nodes:
        for one in node.messages:
            yield {
                "src": one.src,
                "dst": node.name,
                "part": one.part,
                "name": _class_of(one.message),
                "message": show(one.message),
                "message_json": one.message,
            }


def _class_of(message: Json) -> str:
    """Return the name of a message's class, as a send has it."""
    named = message.get("$is", "") if isinstance(message, dict) else ""
    return str(named).rpartition(".")[2]
