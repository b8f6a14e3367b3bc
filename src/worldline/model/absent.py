"""Absent nodes: of which nothing is known in a state but that they are there.

An observer of a part of a system, such as a node that asked its neighbours for their
states, can put together a state in which the columns of all others have no value.
That is a value of a column like any other, so states with other absent nodes are told
apart, and tables serve all of them. An absent node runs nothing and no fault strikes it,
and what is sent to it vanishes; its connections may break as others do, and then the end
that is known learns of it. What a predicate says of such a state is told in `unseen`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, final

from worldline.model.data.content import ABSENT, Frozen
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.link import Link
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.model.system import System

NO_VALUE: Frozen = (ABSENT,)
"""What stands, frozen, in a column of which nothing is known."""


@final
class AbsentCell:
    """The cell of a column of which nothing is known: no operation changes it."""

    status = Status.ABSENT
    timed = False
    timers: Mapping[PendingTimer, float] = {}

    def is_ready(self, envelope: Envelope) -> bool:
        return False

    def holds(self, src: NodeId) -> int:
        return 0

    def envelopes(self) -> Iterator[Envelope]:
        return iter(())

    def arrivals(self, *, up: bool, returns: bool) -> list[Event]:
        return []

    def befallen(self, kind: Kind) -> list[Envelope]:
        return []

    def silent_peers(self) -> list[NodeId]:
        return []

    def breakable(self) -> list[NodeId]:
        return []

    def connections(self) -> Mapping[NodeId, Link]:
        return {}

    def connection(self, peer: NodeId) -> Link | None:
        return None

    def freeze(self) -> Frozen:
        return NO_VALUE

    def is_as_restored(self) -> bool:
        return True

    def restore(self, frozen: Frozen) -> None:
        assert frozen == NO_VALUE, "who restores it looks for that before"

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return an operation, which each sort of cell names as it likes."""
        if name.startswith("_"):
            raise AttributeError(name)
        return _nothing


def _nothing(*arguments: Any) -> None:
    """Change nothing."""


def restored_cell(system: System, column: int, frozen: Frozen) -> Any:
    """Return a fresh cell of a column that is not local, with a value if it has one."""
    if frozen == NO_VALUE:
        return AbsentCell()
    cell: Any = system.cell(column)
    cell.restore(frozen)
    return cell


def absent_in(system: System, snapshot: Sequence[Frozen]) -> frozenset[int]:
    """Return the indices of the nodes that are absent in a state."""
    locals_ = snapshot[system.layout.first :: 3]
    return frozenset(n for n, frozen in enumerate(locals_) if frozen == NO_VALUE)


def is_partial(system: System, snapshot: Sequence[Frozen]) -> bool:
    """Say whether a column of a state has no value."""
    around = snapshot[: system.layout.first]
    return NO_VALUE in around or bool(absent_in(system, snapshot))


def unknown_in(system: System, snapshot: Sequence[Frozen]) -> tuple[str, ...]:
    """Return the names of the nodes and observers of which a state has no value."""
    nodes = [system.ids[index].name for index in sorted(absent_in(system, snapshot))]
    observers = enumerate(system.observers, start=system.layout.observer(0))
    lost = [one.name for column, one in observers if snapshot[column] == NO_VALUE]
    return (*nodes, *lost)


def without(
    system: System,
    snapshot: Sequence[Frozen],
    nodes: Collection[NodeId],
    *,
    histories: Collection[str] = (),
) -> tuple[Frozen, ...]:
    """Return what is known of a state if nothing is known of some nodes.

    Of what is under way to the others it has what they sent each other. Of a connection
    with an absent node it has the end that is known.

    Parameters
    ----------
    nodes
        Which are to be absent.
    histories
        The observers whose values are known nonetheless, by name: these follow the
        events of all nodes.

    Raises
    ------
    UsageError
        If a node is none of the system's.
    """
    for node in nodes:
        if system.index.get(node) is None:
            raise UsageError(
                f"{node!r} is no node of {system.name}",
                remedy=f"its nodes are {', '.join(map(str, system.ids))}",
            )
    layout, columns = system.layout, list(snapshot)
    for number, observer in enumerate(system.observers):
        if observer.name not in histories:
            columns[layout.observer(number)] = NO_VALUE
    for index, node in enumerate(system.ids):
        if node in nodes:
            column = layout.local(index)
            columns[column : column + 3] = [NO_VALUE] * 3
            continue
        inbox = layout.inbox(index)
        cell = restored_cell(system, inbox, columns[inbox])
        for peer in system.ids:
            if peer in nodes:
                cell.forget(peer)
        columns[inbox] = cell.freeze()
    return tuple(columns)
