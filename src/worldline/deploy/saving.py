"""Checkpoints of a deployed node: its whole state at a moment between two of its events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from worldline.deploy.durable import copy_of
from worldline.model.node import NodeType
from worldline.trace.journal.checkpoints import NodeCheckpoint, SavedTimer

if TYPE_CHECKING:
    from worldline.deploy.life import Life
    from worldline.deploy.wire import Wire


def checkpoint_of(life: Life, wire: Wire, now: float) -> NodeCheckpoint:
    """Return the state of a node.

    Parameters
    ----------
    now
        The time of the event loop, by which timers go.
    """
    door = life.execution.door
    return NodeCheckpoint(
        incarnation=life.incarnation,
        lamport=life.lamport,
        counter=door.counter,
        fields=dict(_fields(life.kind, life.node)),
        timers=tuple(
            SavedTimer(
                timer.part, timer.name, timer.payload, max(0.0, handle.when() - now)
            )
            for timer, (handle, _) in door.pending.items()
        ),
        positions=(),
        waiting=b"".join(life.kept.packets()),
        connections=wire.connections(),
    )


def _fields(kind: NodeType, node: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in node.__dict__.items():
        inner = kind.parts.get(name)
        if inner is None:
            yield prefix + name, copy_of(value)
        else:
            yield from _fields(inner, value, f"{prefix}{name}.")
