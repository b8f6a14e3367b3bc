"""The declaration of a system: its arguments, read and checked piece by piece.

`System` is made of it. Those that check how the pieces fit together stand below `System`,
which calls them; so they take this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from worldline.model.calls import Repeated
from worldline.model.data.identity import NodeId
from worldline.model.faults import Faults
from worldline.model.gauges import Gauge
from worldline.model.network import Network
from worldline.model.node import NodeType
from worldline.model.observers import Observer
from worldline.model.prologue import Pattern
from worldline.model.properties import Property
from worldline.model.semantics.layout import Layout
from worldline.model.view import View
from worldline.model.workload import Script, Whenever

Unhandled: TypeAlias = Literal["drop", "wait", "error"]
"""What becomes of a message whose guard is false."""

Boot: TypeAlias = Literal["before", "events"]
"""Whether every node has started in state 0, or starting is an event of its own."""


class Declared:
    """The pieces of a system; `System` says what each of its arguments means.

    Attributes
    ----------
    ids, index
        The nodes in order, and the position of each.
    types, prototypes
        Of each node, by position: its type, and the value that a reset returns to.
    scripts, whenevers
        The workload of each node, by position.
    cuts
        The splits that a partition chooses from: the nodes on one side, each.
    layout
        What is in which column of a state.
    """

    name: str
    nodes: dict[NodeId, Any]
    ids: tuple[NodeId, ...]
    index: dict[NodeId, int]
    types: list[NodeType]
    prototypes: list[Any]
    network: Network
    workload: tuple[Script | Whenever, ...]
    scripts: list[tuple[Script, ...]]
    whenevers: list[Repeated]
    faults: Faults
    predict: Faults | None
    cuts: tuple[frozenset[NodeId], ...]
    properties: tuple[Property, ...]
    observers: tuple[Observer, ...]
    gauges: tuple[Gauge, ...]
    unhandled: Unhandled
    boot: Boot
    timed: bool
    ignore_noops: bool
    open_workload: bool
    symmetry: tuple[tuple[NodeId, ...], ...]
    prologue: tuple[Pattern, ...]
    done: Callable[[View], bool] | None
    assume: Callable[[View], bool] | None
    prune: Callable[[View], bool] | None
    layout: Layout
