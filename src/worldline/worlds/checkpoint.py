"""States of a world from which it goes on exactly as it did.

A snapshot is a state's identity, which leaves ignored fields out; but a handler may
read them, so going on from a snapshot alone could differ from going on from the
state itself. A checkpoint has them, too.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, final

from worldline.model.absent import absent_in
from worldline.model.node import NodeType
from worldline.worlds.world import Snapshot, World


@final
@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A state, with the ignored fields of each node.

    Those that are not there have their first values.
    """

    snapshot: Snapshot
    ignored: tuple[dict[str, Any], ...] = ()


def take(world: World, like: Checkpoint | None = None) -> Checkpoint:
    """Return a checkpoint of the present state.

    Parameters
    ----------
    like
        Another one of the same world; columns that are equal are shared with it, so
        that many checkpoints of a run take little more than what has changed.
    """
    snapshot = world.snapshot()
    if like is not None:
        snapshot = tuple(
            old if old == new else new
            for old, new in zip(like.snapshot, snapshot, strict=True)
        )
    absent = absent_in(world.system, snapshot)
    pairs = zip(world.system.types, world.nodes, strict=True)
    ignored = [
        {} if index in absent else ignored_fields(kind, node)
        for index, (kind, node) in enumerate(pairs)
    ]
    return Checkpoint(snapshot, tuple(ignored))


def go_back(world: World, checkpoint: Checkpoint) -> None:
    """Bring the world into the state of a checkpoint."""
    world.restore(checkpoint.snapshot)
    kinds = world.system.types
    for kind, node, values in zip(kinds, world.nodes, checkpoint.ignored, strict=False):
        put_back_ignored(kind, node, values)


def ignored_fields(kind: NodeType, node: Any) -> dict[str, Any]:
    """Return copies of a node's ignored fields; those of parts under their names."""
    values = {name: copy.deepcopy(node.__dict__[name]) for name in kind.ignored}
    for name, inner in kind.parts.items():
        below = ignored_fields(inner, node.__dict__[name])
        if below:
            values[name] = below
    return values


def put_back_ignored(kind: NodeType, node: Any, values: dict[str, Any]) -> None:
    """Give a node copies of the ignored fields that it had."""
    for name, value in values.items():
        inner = kind.parts.get(name)
        if inner is None:
            node.__dict__[name] = copy.deepcopy(value)
        else:
            put_back_ignored(inner, node.__dict__[name], value)
