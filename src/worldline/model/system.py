"""The system under test: nodes, network, workload, faults and properties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from worldline.model.errors import ModelError
from worldline.model.faults import Budget, Faults, Partition, all_cuts
from worldline.model.hidden import Hidden, check_scripts
from worldline.model.identity import NodeId
from worldline.model.layout import ColumnKind, Layout
from worldline.model.network import Capability, Mailbox, Network, datagrams
from worldline.model.node import NodeType, node_type
from worldline.model.observers import Observer, Record
from worldline.model.prologue import Pattern
from worldline.model.properties import Property
from worldline.model.view import View
from worldline.model.workload import Invocation, Script, Whenever

Cell: TypeAlias = Hidden | Mailbox | Budget | Partition | Record
Unhandled: TypeAlias = Literal["drop", "wait", "error"]


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """Where a system was loaded from, so that a trace can name it.

    Attributes
    ----------
    target
        ``zoo:NAME``, ``FILE.py[:function]`` or ``package.module:function``.
    parameters
        What was passed to the function, as text.
    source
        A hash of the source text of the system's modules.
    """

    target: str
    parameters: tuple[tuple[str, str], ...]
    source: str


_NEEDS = {
    "drops": Capability.DROP,
    "duplicates": Capability.DUPLICATE,
    "connection_errors": Capability.DISCONNECT,
    "silent_resets": Capability.SILENT_RESET,
}


@final
class System:
    """A distributed system and the question asked about it.

    Parameters
    ----------
    nodes
        The node of each id, in order; its values are what a reset returns to.
    network
        `datagrams`, `streams` or `message_set`.
    workload
        `script` and `whenever` entries.
    faults
        How often each fault may happen; none by default.
    properties, observers
        What is checked, and the histories that properties may read.
    unhandled
        What becomes of a message whose guard is false: ``drop`` consumes it, ``wait``
        leaves it in flight, ``error`` is a violation. ``drop`` by default, ``wait``
        for a message set.
    boot
        ``before``: every node has started in state 0. ``events``: starting is an
        event of its own.
    timed
        Whether timers fire in an order that their delays allow.
    ignore_noops
        Whether a delivery that changes nothing and sends nothing is no transition;
        the message stays. For unordered networks.
    prologue
        A legal schedule that is run before the search; see `worldline.events`.
    done
        When no event is left, whether that is as it should be; by default, when
        every script is finished and nothing is in flight.
    name
        For reports and file names.
    """

    def __init__(
        self,
        nodes: Mapping[NodeId, Any],
        *,
        network: Network | None = None,
        workload: Iterable[Script | Whenever] = (),
        faults: Faults | None = None,
        properties: Sequence[Property] = (),
        observers: Sequence[Observer] = (),
        unhandled: Unhandled | None = None,
        boot: Literal["before", "events"] = "before",
        timed: bool = False,
        ignore_noops: bool = False,
        prologue: Sequence[Pattern] = (),
        done: Callable[[View], bool] | None = None,
        name: str = "system",
    ) -> None:
        self.name = name
        self.nodes = dict(nodes)
        self.ids: tuple[NodeId, ...] = tuple(self.nodes)
        self.index = {node: position for position, node in enumerate(self.ids)}
        self.types: list[NodeType] = [node_type(type(n)) for n in self.nodes.values()]
        self.network: Network = datagrams() if network is None else network
        self.workload = tuple(workload)
        self.faults = Faults() if faults is None else faults
        self.properties = tuple(properties)
        self.observers = tuple(observers)
        holds = Capability.HOLDS_FOR_EVER in self.network.capabilities
        self.unhandled: Unhandled = unhandled or ("wait" if holds else "drop")
        self.boot = boot
        self.timed = timed
        self.ignore_noops = ignore_noops
        self.prologue = tuple(prologue)
        self.done = done
        self.origin: Origin | None = None
        self.layout = Layout(len(self.ids), len(self.observers))
        self._check()
        self.prototypes = [self.nodes[node] for node in self.ids]
        self.initial = [
            kind.freeze(prototype)
            for kind, prototype in zip(self.types, self.prototypes, strict=True)
        ]
        may_split = self.faults.partitions != 0
        self.cuts = all_cuts(self.ids, self.faults.cuts) if may_split else ()
        self.scripts = [self._scripts_of(node) for node in self.ids]
        self.whenevers = [self._whenevers_of(node) for node in self.ids]

    def cell(self, column: int) -> Cell:
        """Return a fresh cell for a column that is not local, in its initial state."""
        spec = self.layout.columns[column]
        if spec.kind is ColumnKind.BUDGET:
            return Budget(self.faults)
        if spec.kind is ColumnKind.PARTITION:
            return Partition(self.cuts)
        if spec.kind is ColumnKind.OBSERVER:
            return Record(self.observers[spec.index])
        node = self.ids[spec.index]
        if spec.kind is ColumnKind.HIDDEN:
            return Hidden(node, self.scripts[spec.index], timed=self.timed)
        return self.network.mailbox(node, self.ids)

    def _scripts_of(self, node: NodeId) -> tuple[Script, ...]:
        return tuple(
            entry
            for entry in self.workload
            if isinstance(entry, Script) and entry.node == node
        )

    def _whenevers_of(
        self, node: NodeId
    ) -> list[tuple[Invocation, Callable[..., bool] | None]]:
        kind = self.types[self.index[node]]
        return [
            (entry.call, entry.when)
            for entry in self.workload
            if isinstance(entry, Whenever)
            and entry.call.name in kind.calls
            and (node in entry.nodes if entry.nodes is not None else True)
            and entry.owner in ("", kind.cls.__qualname__)
        ]

    def _check(self) -> None:
        if not self.ids:
            raise ModelError("a system has no nodes", remedy="give System(nodes={...})")
        names = [node.name for node in self.ids]
        for node in self.ids:
            if not isinstance(node, NodeId) or names.count(node.name) > 1:
                raise ModelError(
                    f"System(nodes=...) has the key {node!r}",
                    remedy="use distinct ids made by wl.ids(...)",
                )
        self._check_faults()
        self._check_workload()
        self._check_names()
        capabilities = self.network.capabilities
        if Capability.HOLDS_FOR_EVER in capabilities and self.unhandled != "wait":
            raise ModelError(
                f"System(unhandled={self.unhandled!r}) with a message set",
                remedy="leave unhandled out: messages stay until a guard takes them",
            )
        if self.ignore_noops and Capability.ORDERED in capabilities:
            raise ModelError(
                f"System(ignore_noops=True) with the ordered network "
                f"{self.network.name}",
                remedy="use it with datagrams(reordering=True) or a message set",
            )

    def _check_faults(self) -> None:
        for name in self.faults.possible():
            need = _NEEDS.get(name)
            if need is not None and need not in self.network.capabilities:
                raise ModelError(
                    f"Faults({name}=...) cannot happen on {self.network.name} "
                    "as declared",
                    remedy="change the network's options or leave the fault out",
                )
        named = list(self.faults.nodes or ())
        named += [node for side in self.faults.cuts or () for node in side]
        for node in named:
            if node not in self.index:
                raise ModelError(
                    f"Faults names {node!r}, which is no node of the system",
                    remedy=f"its nodes are {', '.join(map(str, self.ids))}",
                )

    def _check_workload(self) -> None:
        for entry in self.workload:
            if isinstance(entry, Whenever):
                nodes: Iterable[NodeId] = entry.nodes or ()
                calls = [entry.call]
            elif isinstance(entry, Script):
                nodes, calls = (entry.node,), list(entry.calls)
            else:
                raise ModelError(
                    f"System(workload=...) holds {entry!r}",
                    remedy="use wl.script(...) or wl.whenever(...)",
                )
            for node in nodes:
                self._check_calls(node, calls)
        check_scripts(tuple(e for e in self.workload if isinstance(e, Script)))

    def _check_calls(self, node: NodeId, calls: list[Invocation]) -> None:
        if node not in self.index:
            raise ModelError(
                f"the workload drives {node!r}, which is no node of the system",
                remedy=f"its nodes are {', '.join(map(str, self.ids))}",
            )
        kind = self.types[self.index[node]]
        for call in calls:
            if call.name not in kind.calls:
                raise ModelError(
                    f"the workload calls {call.name!r} on {node}, "
                    f"but {kind.cls.__name__} has no such call",
                    remedy=f"its calls are {', '.join(kind.calls) or 'none'}",
                )

    def _check_names(self) -> None:
        for what, names in (
            ("properties", [p.name for p in self.properties]),
            ("observers", [o.name for o in self.observers]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise ModelError(
                        f"two {what} are named {name!r}",
                        remedy="rename one: reports tell them apart by name",
                    )
        for known in self.properties:
            if not isinstance(known, Property):
                raise ModelError(
                    f"System(properties=...) holds {known!r}",
                    remedy="decorate it with @wl.safety, @wl.liveness or @wl.sometimes",
                )
