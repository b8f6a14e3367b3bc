"""A global state as plain mutable objects."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.networks import Wire, wire_of

import worldline as wl
from worldline.model.data.content import Frozen
from worldline.model.data.values import freeze
from worldline.model.kinds import BUDGETS
from worldline.model.node import node_type

TimerKey = tuple[str, str, Frozen]


@dataclass
class NodeState:
    """One node: its object, and what it does not see of itself.

    `timers` maps (part, name, frozen payload) to (payload, delay), in the order of
    setting; `positions` has one entry for each script.
    """

    fields: Any
    status: str = "new"
    timers: dict[TimerKey, tuple[Any, float]] = field(default_factory=dict)
    positions: list[int] = field(default_factory=list)
    counter: int = 0


@dataclass
class State:
    """All nodes, what is under way, and the environment."""

    nodes: list[NodeState]
    wire: Wire
    left: dict[str, int | None]
    cut: frozenset[wl.NodeId] | None
    histories: list[Any]

    @classmethod
    def first(cls, system: wl.System) -> State:
        """The state before any node has started."""
        nodes = [
            NodeState(canonical(prototype), positions=[0] * len(scripts))
            for prototype, scripts in zip(
                system.prototypes, system.scripts, strict=True
            )
        ]
        left = {name: getattr(system.faults, name) for name in BUDGETS}
        histories = [observer.initial for observer in system.observers]
        return cls(nodes, wire_of(system), left, None, histories)

    def copy(self) -> State:
        return State(
            copy.deepcopy(self.nodes),
            copy.deepcopy(self.wire),
            dict(self.left),
            self.cut,
            list(self.histories),
        )


def canonical(prototype: Any) -> Any:
    """A fresh node with the prototype's values, in canonical collections."""
    kind = node_type(type(prototype))
    return kind.thaw(kind.freeze(prototype), prototype)


def describe(system: wl.System, state: State) -> dict[str, Any]:
    """The state as plain values, the same for every world."""
    flight, connections = state.wire.describe()
    return {
        "nodes": [
            (
                freeze(node.fields),
                node.status,
                timers_of(node, timed=system.timed),
                tuple(node.positions),
                node.counter,
            )
            for node in state.nodes
        ],
        "flight": flight,
        "connections": connections,
        "left": tuple(state.left.values()),
        "cut": state.cut,
        "histories": [freeze(value) for value in state.histories],
    }


def timers_of(node: NodeState, *, timed: bool) -> Any:
    """The pending timers: in the order of setting, with delays, if that matters."""
    if timed:
        return tuple((key, delay) for key, (_, delay) in node.timers.items())
    return frozenset(node.timers)


def identity(system: wl.System, state: State) -> Any:
    """A hashable value, equal for equal states."""
    plain = describe(system, state)
    plain["flight"] = frozenset(plain["flight"].items())
    plain["connections"] = frozenset(plain["connections"].items())
    return tuple(map(_hashable, plain.values()))


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
