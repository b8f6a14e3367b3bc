"""The state in which a run begins, as lines to read before its steps."""

from __future__ import annotations

from collections.abc import Iterator

from worldline.trace.json_text import Json, shorten, show
from worldline.trace.records import Header
from worldline.trace.state import UNSEEN, LinkRecord, NodeStateRecord, StateRecord

_WIDEST = 200


def state_lines(state: StateRecord, header: Header) -> Iterator[str]:
    """Yield the lines of a state: the nodes one by one, then what belongs to none."""
    yield "the state in which the run begins"
    lane = max(map(len, header.names))
    margin = " " * (lane + 4)
    absent = [
        *state.absent,
        *(n for n, at in unseen_nodes(header).items() if at is None),
    ]
    for node in state.nodes:
        if node.name in absent:
            continue
        fields = ", ".join(f"{key}={show(item)}" for key, item in node.fields.items())
        line = f"  {node.name:<{lane}}  {node.status}  {fields}"
        yield shorten(line, _WIDEST).rstrip()
        for text in _owned(node):
            yield shorten(f"{margin}{text}", _WIDEST)
    if absent:
        yield f"  nothing is known of {', '.join(absent)}"
    if state.cut is not None:
        yield f"  cut off: {', '.join(header.cuts[state.cut])}"
    left = [
        f"{name}={'any' if amount is None else amount}"
        for name, amount in state.budget.items()
        if amount != 0
    ]
    if left:
        yield f"  faults left: {', '.join(left)}"
    for name, value in state.observers.items():
        yield shorten(f"  {name} is {show(value)}", _WIDEST)


def unseen_nodes(header: Header) -> dict[str, Json]:
    """Return of which nodes nothing is known, and after which step; null for never."""
    unseen = header.options.get(UNSEEN)
    nodes = unseen.get("nodes") if isinstance(unseen, dict) else None
    return nodes if isinstance(nodes, dict) else {}


def _owned(node: NodeStateRecord) -> Iterator[str]:
    for name, value in (node.ignored or {}).items():
        yield f"ignored {name}={show(value)}"
    for timer in node.timers:
        name = f"{timer.part}.{timer.name}".lstrip(".")
        after = "" if timer.after is None else f", after {timer.after:g} s"
        yield f"timer {name}{_payload(timer.payload)} is pending{after}"
    if left := ", ".join(_left(node)):
        yield f"calls left: {left}"
    for one in node.messages:
        yield f"{show(one.message)} from {one.src} is under way"
    yield from map(_link, node.links)


def _left(node: NodeStateRecord) -> Iterator[str]:
    """Yield how many calls of each script are left."""
    for made, calls in zip(node.scripts, node.calls or (), strict=False):
        yield f"{calls - made} of {calls}"


def _payload(payload: Json) -> str:
    return "" if payload is None else f"({show(payload)})"


def _link(link: LinkRecord) -> str:
    end = "half open" if link.end == "half" else link.end
    error = ", an error is under way" if link.error else ""
    return f"the connection to {link.peer} is {end}{error}"
