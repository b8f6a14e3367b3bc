"""The parts of a state in rounds, one for each node, as small integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.injection.scope import Scope
from worldline.lineage.rounds.crash_status import MUTE, CrashStatus
from worldline.lineage.rounds.promises import due, stopped, witnesses
from worldline.model.message import Envelope
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.layout import ColumnKind
from worldline.model.system import System
from worldline.worlds.tabulated import TabulatedWorld

Out: TypeAlias = tuple[tuple[int, tuple[Envelope, ...], bool], ...]
"""What a node sent in a round: to whom, what, and whether it can still arrive."""

Incoming: TypeAlias = tuple[tuple[int, tuple[Envelope, ...]], ...]
"""By sender, what may arrive at a node in a round."""

NodeRound: TypeAlias = tuple[int, CrashStatus, Out]
"""A node's core, its crash status, and what it sent in the last round."""


@final
@dataclass(frozen=True, slots=True)
class Core:
    """The part of a node's state that its next turn depends on, beside its mail.

    Attributes
    ----------
    local, hidden
        Interned values of its columns.
    timers
        The pending ones in the order of setting, and in how many rounds they are due.
    kept
        What it was offered and did not take yet, with the senders.
    failed
        Whether its last handler failed.
    """

    local: int
    hidden: int
    timers: tuple[tuple[PendingTimer, int], ...]
    kept: tuple[tuple[int, Envelope], ...]
    failed: bool = False


@final
class RoundParts:
    """The cores and nodes met so far, and what is promised of states made of them.

    Attributes
    ----------
    interners
        Those of the tables, by column.
    cores, nodes
        By their numbers.
    """

    def __init__(self, system: System, scope: Scope) -> None:
        self._system = system
        self._scope = scope
        tables = TabulatedWorld(system)
        self.interners = tables.tables.interners
        self._decide = {prop.name: tables.decision(prop) for prop in system.properties}
        self.cores: list[Core] = []
        self._core_ids: dict[Core, int] = {}
        self.nodes: list[NodeRound] = []
        self._node_ids: dict[NodeRound, int] = {}
        self._stopped: dict[tuple[int, int], int] = {}

    def core(self, core: Core) -> int:
        """Return the number of a core."""
        number = self._core_ids.setdefault(core, len(self.cores))
        if number == len(self.cores):
            self.cores.append(core)
        return number

    def node(self, core: int, crash_status: CrashStatus, out: Out) -> int:
        """Return the number of a node."""
        node = core, crash_status, out
        number = self._node_ids.setdefault(node, len(self.nodes))
        if number == len(self.nodes):
            self.nodes.append(node)
        return number

    def stop(self, index: int, hidden: int) -> int:
        """Return what a crash makes of what a node owns beside its fields."""
        number = self._stopped.get((index, hidden))
        if number is None:
            column = self._system.layout.hidden(index)
            interner = self.interners[column]
            frozen = stopped(self._system, column, interner.values[hidden]).freeze()
            number = self._stopped[index, hidden] = interner.intern(frozen)
        return number

    def breaks(self, nodes: list[NodeRound], round_: int) -> bool:
        """Say whether a handler failed, or a property does not hold after a round."""
        if any(self.cores[node[0]].failed for node in nodes):
            return True
        row: Any = _Row(lambda column: self._value(nodes, column))
        wanted = due(self._system, self._scope, round_)
        return not all(self._decide[one.name](row) for one in wanted)

    def met(self, nodes: list[NodeRound]) -> set[str]:
        """Return the properties that must hold sometimes, and do in a state."""
        if any(self.cores[node[0]].failed for node in nodes):
            return set()
        row: Any = _Row(lambda column: self._value(nodes, column))
        wanted = witnesses(self._system)
        return {one.name for one in wanted if self._decide[one.name](row)}

    def _value(self, nodes: list[NodeRound], column: int) -> int:
        """Return the interned value of a column in a state."""
        spec = self._system.layout.columns[column]
        interner = self.interners[column]
        if spec.kind is ColumnKind.LOCAL:
            return self.cores[nodes[spec.index][0]].local
        if spec.kind is ColumnKind.HIDDEN:
            core, crash_status, _ = nodes[spec.index]
            hidden = self.cores[core].hidden
            return self.stop(spec.index, hidden) if crash_status == MUTE else hidden
        cell: Any = self._system.cell(column)
        if spec.kind is ColumnKind.INBOX:
            for src, (_, _, out) in enumerate(nodes):
                for kept_from, envelope in self.cores[nodes[spec.index][0]].kept:
                    if kept_from == src:
                        cell.put(envelope)
                for dst, envelopes, _ in out:
                    if dst == spec.index:
                        for envelope in envelopes:
                            cell.put(envelope)
        return interner.intern(cell.freeze())


@final
class _Row:
    """A row of columns, each worked out when it is asked for.

    A decision asks a row for the columns that it needs, and for nothing else.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Callable[[int], int]) -> None:
        self._value = value

    def __getitem__(self, column: int) -> int:
        return self._value(column)
