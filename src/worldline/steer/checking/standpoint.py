"""The standpoint of one node in its system: its own state and some neighbours'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

from worldline.model.answers import answer
from worldline.model.data.identity import NodeId
from worldline.model.data.values import ITSELF
from worldline.model.errors import Unseen
from worldline.model.semantics.hidden import Hidden, PendingTimer, Status
from worldline.model.system import System
from worldline.model.view import ColumnRead
from worldline.steer.snapshots.records import MemberRecord
from worldline.worlds.kept import fresh


@final
class Standpoint:
    """A state of which one node is known as it is, and others as they were.

    All else is absent: other nodes, what is under way, histories, budgets.

    Parameters
    ----------
    me
        The index of the node.
    node
        Its object, whose fields are read as they are at the time.
    reads
        The fields, by name, that anybody reads; None for all.

    Attributes
    ----------
    parts
        Those of the node, by name.
    present
        The indices of the nodes that are known, in order.
    shown
        The fields of the node that were read since they changed, as they are shown.
    lacking
        What was asked for last of which nothing is known, in words.
    holds_in_part
        Whether that was a form which holds for some that are known.
    """

    def __init__(
        self, system: System, me: int, node: Any, reads: frozenset[str] | None = None
    ) -> None:
        self.system, self.me, self.node = system, me, node
        self._reads = reads
        self.first = system.layout.first
        self.parts = system.types[me].parts
        self.present: tuple[int, ...] = (me,)
        self.lacking, self.holds_in_part = "", False
        self._hidden = self._cell(me)
        self._records: dict[int, MemberRecord] = {}
        self._others: dict[int, tuple[Any, Hidden]] = {}
        self.shown: dict[str, Any] = {}

    def know(self, records: Mapping[int, MemberRecord]) -> list[int]:
        """Know these neighbours, and no others; return which are others than before."""
        before = self._records
        now = {n: record for n, record in records.items() if n != self.me}
        changed = [
            n
            for n in before.keys() | now.keys()
            if n not in before or n not in now or self._differs(n, before[n], now[n])
        ]
        for index in changed:
            self._others.pop(index, None)
        self._records = now
        self.present = tuple(sorted((self.me, *now)))
        return changed

    def _differs(self, index: int, one: MemberRecord, other: MemberRecord) -> bool:
        """Say whether a property can tell two checkpoints of a node from each other."""
        if one is other:
            return False
        if one.timers != other.timers or one.positions != other.positions:
            return True
        if one.local == other.local:
            return False
        if self._reads is None:
            return True
        names = self.system.types[index].identity
        values = zip(names, one.local[1:], other.local[1:], strict=True)
        return any(a != b and name in self._reads for name, a, b in values)

    def set_timers(self, timers: Iterable[PendingTimer]) -> None:
        """Say which timers of the node are set."""
        self._hidden.timers = dict.fromkeys(timers, 0.0)

    def forget(self, name: str) -> None:
        """Read a field of the node anew, that has changed."""
        self.shown.pop(name, None)

    def read_anew(self, name: str) -> Any:
        """Return a field of the node that has changed, as `own_field` does."""
        value = self.node.__dict__[name]
        if type(value) not in ITSELF:
            value = fresh(value)
        self.shown[name] = value
        return value

    def own_field(self, path: tuple[str, ...]) -> Any:
        """Return a field of the node; whoever changes it changes no node."""
        if len(path) == 1:
            name = path[0]
            if name not in self.shown:
                self.shown[name] = fresh(self.node.__dict__[name])
            return self.shown[name]
        return _field(self.node, path)

    def own_hidden(self, read: ColumnRead) -> Any:
        """Answer a read of the timers of the node, and of what else it keeps."""
        return answer(read, self._hidden)

    def of_other(self, index: int, read: ColumnRead, which: int) -> Any:
        """Answer a read of another node.

        Parameters
        ----------
        which
            Of its columns: 0 for its fields, 1 for what is hidden.

        Raises
        ------
        Unseen
            If nothing is known of it.
        """
        record = self._records.get(index)
        if record is None:
            raise self.lacks(f"{self.system.ids[index]}")
        known = self._others.get(index)
        if known is None:
            known = self._others[index] = self._thawed(index, record)
        return answer(read, known[1]) if which else _field(known[0], read.detail)

    def lacks(self, what: str) -> Unseen:
        """Take note of what is asked for of which nothing is known; return what to raise."""
        self.lacking, self.holds_in_part = what, False
        return Unseen(what)

    def name_of(self, index: int) -> NodeId:
        """Return the id of a node."""
        return self.system.ids[index]

    def _thawed(self, index: int, record: MemberRecord) -> tuple[Any, Hidden]:
        kind, first = self.system.types[index], self.system.prototypes[index]
        hidden = self._cell(index)
        hidden.timers = dict(record.timers)
        hidden.positions = list(record.positions)
        return kind.thaw(record.local, first), hidden

    def _cell(self, index: int) -> Hidden:
        hidden: Any = self.system.cell(self.system.layout.hidden(index))
        hidden.status = Status.UP
        made: Hidden = hidden
        return made


def _field(node: Any, path: tuple[str, ...]) -> Any:
    value = node
    for name in path:
        value = value.__dict__[name]
    return fresh(value)
