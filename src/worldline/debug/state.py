"""A state as plain data, and what differs between two of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, final

from worldline.model.absent import NO_VALUE
from worldline.model.data.content import Frozen
from worldline.model.faults import FaultBudget, Partition
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, Mailbox
from worldline.model.network.link import CLOSED, HALF, UNKNOWN, Link
from worldline.model.node import NodeType
from worldline.model.semantics.hidden import Hidden
from worldline.model.semantics.layout import Layout
from worldline.runs.explain import text_of
from worldline.trace.json_text import Json, show
from worldline.trace.json_values import encode
from worldline.trace.records import STATUS
from worldline.worlds.world import World

TIMERS, INBOX, LINKS, SCRIPTS, SEQUENCE = (
    "(timers)",
    "(inbox)",
    "(connections)",
    "(scripts)",
    "(sequence)",
)
"""Stand among the fields for what a node owns beside them, as `STATUS` does."""

NETWORK = "(network)"
"""Stands among the nodes for what belongs to none: partition, faults, histories."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One node, or the network, in one state.

    Attributes
    ----------
    node, kind
        Its name and its class.
    fields
        Field, with parts dotted, to value, as traces spell it. Ignored fields are no
        part of a state.
    owns
        What the node owns beside its fields, by the names above: lists of text, or
        text.
    """

    node: str
    kind: str
    fields: dict[str, Json]
    owns: dict[str, str | list[str]]


NOT_KNOWN = "not known"
"""The status of a node, and the value of a history, of which nothing is known."""


@final
@dataclass(frozen=True, slots=True)
class StateChange:
    """One thing that differs between two states.

    Attributes
    ----------
    what
        The field, or one of the names for what a node owns.
    before, after
        The two values as text; empty for one that is not there.
    """

    what: str
    before: str
    after: str


@final
@dataclass(frozen=True, slots=True)
class NodeDifference:
    """The differences of one node, or of the network."""

    node: str
    changes: tuple[StateChange, ...]


def node_state(world: World, index: int) -> NodeState:
    """Return the present state of the node of that index."""
    system, layout = world.system, world.system.layout
    kind = system.types[index]
    fields: dict[str, Json] = {}
    _collect(kind, kind.freeze(world.nodes[index]), "", fields)
    hidden: Hidden = world.cells[layout.hidden(index)]
    inbox: Mailbox = world.cells[layout.inbox(index)]
    owns: dict[str, str | list[str]] = {
        STATUS: hidden.status.value,
        TIMERS: [str(text_of(timer)) for timer in hidden.pending()],
        INBOX: [str(text_of(envelope)) for envelope in inbox.envelopes()],
    }
    if Capability.DISCONNECT in system.network.capabilities:
        links = inbox.connections()
        owns[LINKS] = [
            f"{peer}: {text}" for peer in sorted(links) if (text := _link(links[peer]))
        ]
    if hidden.scripts:
        owns[SCRIPTS] = [
            f"{position} of {len(script.calls)} calls made"
            for position, script in zip(hidden.positions, hidden.scripts, strict=True)
        ]
    if hidden.counter:
        owns[SEQUENCE] = str(hidden.counter)
    name = system.ids[index].name
    return NodeState(node=name, kind=kind.cls.__qualname__, fields=fields, owns=owns)


def network_state(world: World) -> NodeState:
    """Return what belongs to no node: partition, fault budgets, histories."""
    system, layout = world.system, world.system.layout
    budget: FaultBudget = world.cells[Layout.BUDGET]
    partition: Partition = world.cells[Layout.PARTITION]
    owns: dict[str, str | list[str]] = {}
    if partition.cut is not None:
        side = [
            node.name for node in system.ids if node in partition.cuts[partition.cut]
        ]
        owns["(cut off)"] = side
    faults = [
        f"{name}: {'any' if left is None else left}"
        for name, left in zip(BUDGETS, budget.left, strict=True)
        if system.faults.limit(name) != 0
    ]
    if faults:
        owns["(faults left)"] = faults
    instruments = world.instruments
    if instruments is not None and instruments.gauges:
        known = instruments.known
        owns["(gauges)"] = [
            f"{name}: {text_of(known[name]) if name in known else NOT_KNOWN}"
            for name in instruments.gauges
        ]
    histories: dict[str, Json] = {}
    lost: list[str] = []
    for number, observer in enumerate(system.observers):
        frozen = world.cells[layout.observer(number)].freeze()
        if frozen == NO_VALUE:
            lost.append(f"{observer.name}: {NOT_KNOWN}")
        else:
            histories[observer.name] = encode(frozen)
    if lost:
        owns["(histories)"] = lost
    kind = system.network.name
    return NodeState(node=NETWORK, kind=kind, fields=histories, owns=owns)


def _collect(
    kind: NodeType, frozen: Frozen, prefix: str, fields: dict[str, Json]
) -> None:
    for name, item in zip(kind.identity, frozen[1:], strict=True):
        inner = kind.parts.get(name)
        if inner is None:
            fields[prefix + name] = encode(item)
        else:
            _collect(inner, item, f"{prefix}{name}.", fields)


def _link(link: Link) -> str:
    """Return the state of a connection, seen from one end; empty if there is none."""
    words = []
    if link.mine != CLOSED:
        words.append("half open" if link.mine == HALF else "open")
    elif link.theirs not in (CLOSED, UNKNOWN):
        words.append("forgotten here")
    if link.error_here:
        words.append("an error is under way here")
    if link.error_there:
        words.append("an error is under way there")
    return ", ".join(words)


def difference_of(one: NodeState, other: NodeState) -> NodeDifference:
    """Return what differs between two states of a node."""
    changes = [
        StateChange(
            name,
            show(one.fields[name]) if name in one.fields else "",
            show(other.fields[name]) if name in other.fields else "",
        )
        for name in {**one.fields, **other.fields}
        if _spelt(one.fields, name) != _spelt(other.fields, name)
    ]
    for name in {**one.owns, **other.owns}:
        changes += _owned(name, one.owns.get(name, []), other.owns.get(name, []))
    return NodeDifference(one.node, tuple(changes))


def _spelt(fields: dict[str, Json], name: str) -> Any:
    # As text, because 1, 1.0 and True are equal in Python.
    return repr(fields[name]) if name in fields else None


def _owned(
    name: str, one: str | list[str], other: str | list[str]
) -> list[StateChange]:
    if isinstance(one, str) or isinstance(other, str):
        return (
            []
            if one == other
            else [StateChange(name, str(one or ""), str(other or ""))]
        )
    gone, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
    return [StateChange(name, text, "") for text in gone.elements()] + [
        StateChange(name, "", text) for text in new.elements()
    ]
