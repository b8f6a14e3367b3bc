"""Vacuity: what never happened in a search, of which a pass says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from worldline.engine.exploration import Exploration
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import NodeType
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Result
from worldline.model.system import System
from worldline.search.question import SearchQuery
from worldline.worlds.tabulated import TabulatedWorld


def never(world: TabulatedWorld) -> list[str]:
    """Return a sentence for each kind of thing that never happened."""
    ran, met, spent = _happened(world)
    idle, refused = [], []
    for label, guarded in _declared(world):
        if label in ran:
            continue
        if guarded and label in met:
            refused.append(label)
        else:
            idle.append(label)
    unhandled = sorted(
        label
        for label in met - ran
        if " message " in label and label not in idle and label not in refused
    )
    unused = [name for name in world.system.faults.possible() if name not in spent]
    kinds = [
        ("handlers that never ran", idle),
        ("guards that were never true", refused),
        ("messages that were never handled", unhandled),
        ("faults that were never used", unused),
    ]
    return [f"{what}: {', '.join(names)}" for what, names in kinds if names]


def _happened(world: TabulatedWorld) -> tuple[set[str], set[str], set[str]]:
    """Return what ran, what was met, and the budgets that were drawn on."""
    ran: set[str] = set()
    met: set[str] = set()
    spent: set[str] = set()
    for entry in world.tables.entries:
        if not entry.outcomes:
            continue
        event: Event = entry.event
        spent.add(event.kind.budget(event.payload) or "")
        label = label_of(world.system, event)
        if label is None:
            continue
        met.add(label)
        if any(_handled(outcomes) for outcomes in entry.outcomes.values()):
            ran.add(label)
    return ran, met, spent


def _handled(outcomes: Any) -> bool:
    """Say whether a handler took an event, in some outcome of a tree."""
    if not isinstance(outcomes, tuple):
        return True
    return any(leaf.detail.result is not Result.UNHANDLED for leaf in outcomes)


def label_of(system: System, event: Event) -> str | None:
    """Return how a handler is called in reports, by one of its events."""
    if event.node is None:
        return None
    kind = system.types[system.index[event.node]]
    if event.kind is Kind.TRANSPORT_ERROR:
        path = kind.error_part()
        return None if path is None else f"{_at(kind, path)} transport_error"
    name = f"{_at(kind, event.part)}"
    if event.kind is Kind.DELIVER:
        return None if _ignores(kind, event) else f"{name} message {event.name}"
    # That a script goes on after a wait is a call without a handler.
    is_call = event.kind is Kind.CALL and event.name in kind.calls
    if not is_call and event.kind is not Kind.TIMER:
        return None
    return f"{name} {event.kind.value} {event.name}"


def _at(kind: NodeType, path: str) -> str:
    for name in path.split(".") if path else ():
        kind = kind.parts[name]
    return kind.cls.__name__


def _ignores(kind: NodeType, event: Event) -> bool:
    """Say whether a class declares that a message means nothing to it."""
    for name in event.part.split(".") if event.part else ():
        kind = kind.parts[name]
    message = type(event.payload)
    return message in kind.ignores and message not in kind.on


def declared_labels(world: TabulatedWorld) -> list[str]:
    """Return the handlers whose events a search can see, as reports call them."""
    return [label for label, _ in _declared(world)]


def _declared(world: TabulatedWorld) -> Iterator[tuple[str, bool]]:
    """Yield every handler whose events the search can see, and if it is guarded."""
    pending = list(world.system.types)
    done: set[type] = set()
    while pending:
        kind = pending.pop(0)
        pending += kind.parts.values()
        if kind.cls in done:
            continue
        done.add(kind.cls)
        name = kind.cls.__name__
        # What a part hands up is a plain call inside one event: not seen here.
        if not kind.parts:
            for message, handler in kind.on.items():
                label = f"{name} message {message.__name__}"
                yield label, handler.mark.when is not None
            if kind.error is not None:
                yield f"{name} transport_error", False
        for word, table in (("timer", kind.timers), ("call", kind.calls)):
            for handler in table.values():
                yield f"{name} {word} {handler.name}", handler.mark.when is not None


def is_assumed_away(query: SearchQuery, search: Exploration) -> bool:
    """Say whether nothing was followed, as what is assumed is false from the beginning."""
    statistics = search.statistics
    return bool(query.cut.assumed) and 0 < statistics.pruned == statistics.states


def assumed_away(query: SearchQuery, search: Exploration) -> tuple[str, ...]:
    """Say that no run was looked at, and for which assumption."""
    if not is_assumed_away(query, search):
        return ()
    world = query.world
    rows = [world.encode(s.snapshot) for s in query.starts if s.snapshot is not None]
    names = []
    for predicate in query.cut.assumed:
        name = getattr(predicate, "__name__", "assume")
        told = Property(name, PropertyKind.SAFETY, predicate, "predicate")
        decide = world.decision(told)
        if all(decide(row) is False for row in rows):
            names.append(name)
    which = " and ".join(names) or "what is assumed"
    verb = "are" if len(names) > 1 else "is"
    return (f"{which} {verb} false wherever the search begins, so no run was followed",)


def unjudged(
    system: System, judged: Sequence[object], *, deadlock: bool = False
) -> tuple[str, ...]:
    """Return what is said where no property is judged: a pass says little then.

    Parameters
    ----------
    deadlock
        Whether deadlocks were looked for.
    """
    if judged:
        return ()
    sought = ["exceptions", "handlers that do not return"]
    if system.unhandled == "error":
        sought.append("unhandled messages")
    if deadlock:
        sought.append("deadlocks")
    listed = f"{', '.join(sought[:-1])} and {sought[-1]}"
    return (f"no property was judged: only {listed} were looked for",)
