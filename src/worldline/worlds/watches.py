"""Watches: the cells that an answer was read from, and whether any has changed since.

Who asks something (a `Dependent`) has a view of its own. What that view has read of a field
stays in it, so that to read it again takes no call, and is put right there when the field
changes. So an asker may depend on more than it read the last time: on what it read
once. At intervals it begins with an empty view.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol, final

from worldline.model.answers import answer
from worldline.model.data.constant import is_constant_value
from worldline.model.data.values import ITSELF
from worldline.model.instruments import INSTRUMENTS
from worldline.model.semantics.layout import Layout
from worldline.model.view import ColumnRead, View
from worldline.worlds.kept import Kept, is_same, keep
from worldline.worlds.world import Readable

_BY_ANSWER = frozenset({"status", "finished", "affords", "timers"})
"""Reads whose answers are as quickly found as compared."""

_HISTORIES = frozenset({"history", "verdict"})

_UNKNOWN = object()


class Dependent(Protocol):
    """Who reads through a view of its own."""

    @property
    def view(self) -> View:
        """The view, in which fields that were read stay."""

    @property
    def reads(self) -> list[FieldWatch | CellWatch]:
        """What it depends on."""

    def spoil(self) -> None:
        """Note that something which was read has changed."""


@final
class FieldWatch:
    """A field of a node, as it was when last looked at.

    Attributes
    ----------
    read
        What reads it.
    kept
        What tells whether it has changed; None if it is constant.
    value
        What is given to who reads it.
    readers
        Who has read it, and the dict of the view in which it stays.
    is_told
        Whether they know that it has changed, and none has read it since.
    """

    __slots__ = (
        *("_node", "is_told", "kept", "name", "path", "read", "readers", "value"),
    )

    def __init__(self, world: Readable, read: ColumnRead) -> None:
        self.read = read
        *path, self.name = read.detail
        self.path = tuple(path)
        self._node = world.system.ids[world.system.layout.columns[read.column].index]
        self.readers: dict[Dependent, dict[str, Any]] = {}
        self.is_told = True
        self.kept: Kept | None = None
        self.value: Any = None

    def give(self, asker: Dependent, live: dict[str, Any]) -> Any:
        """Return the field's value to somebody who depends on it from now on.

        Parameters
        ----------
        live
            The fields of the node itself.
        """
        if self.is_told:
            value = self.field(live)
            self.kept = kept = keep(value)
            self.value = value if kept is None else kept.seen
            self.is_told = False
        seen = self.readers.get(asker)
        if seen is None:
            seen = self.readers[asker] = self._seen(asker)
            asker.reads.append(self)
        seen[self.name] = self.value
        return self.value

    def field(self, live: dict[str, Any]) -> Any:
        """Return the value of the field now."""
        for name in self.path:
            live = live[name].__dict__
        return live[self.name]

    def look(self, value: Any) -> None:
        """Tell the readers if the field, which has a value now, has changed."""
        kept, name, before = self.kept, self.name, self.value
        if kept is None and type(value) is int is type(before):  # as most that change
            if value == before:
                return
        elif is_same(value, before) if kept is None else kept.is_still(value):
            return
        elif type(value) not in ITSELF and not is_constant_value(value):
            # To copy it takes long, and perhaps nobody reads it before it changes again.
            self.is_told = True
            for reader, seen in self.readers.items():
                seen.pop(name, None)
                reader.spoil()
            return
        self.kept, self.value = None, value
        for reader, seen in self.readers.items():
            seen[name] = value
            reader.spoil()

    def forget(self, asker: Dependent) -> None:
        """Take a reader out."""
        self.readers.pop(asker).pop(self.name, None)
        self.is_told = self.is_told or not self.readers

    def is_intact(self) -> bool:
        """Say whether no reader has changed what it was given."""
        return self.kept is None or self.kept.is_intact()

    def _seen(self, asker: Dependent) -> dict[str, Any]:
        view: Any = asker.view[self._node]
        for name in self.path:
            view = getattr(view, name)
        fields: dict[str, Any] = view.__dict__
        return fields


@final
class CellWatch:
    """A read of any other column, and the answer that it had when last looked at.

    Attributes
    ----------
    read, readers, is_told
        As of a `FieldWatch`.
    """

    __slots__ = ("_answer", "_kept", "_world", "is_told", "read", "readers")

    def __init__(self, world: Readable, read: ColumnRead) -> None:
        self.read = read
        self.readers: dict[Dependent, None] = {}
        self.is_told = True
        self._world = world
        self._answer: Any = _UNKNOWN
        self._kept: Any = None

    def give(self, asker: Dependent) -> Any:
        """Return the answer to somebody who depends on it from now on."""
        if asker not in self.readers:
            self.readers[asker] = None
            asker.reads.append(self)
        if self.read.column == INSTRUMENTS:
            self.look()  # a gauge sees what those before it have in the same step
        if self.is_told:
            self._answer = _UNKNOWN  # should it raise
            self.is_told = False
        if self._answer is _UNKNOWN:
            self._renew()
        return self._answer

    def look(self) -> None:
        """Tell the readers if the answer may be another one."""
        if not self.is_told and not self._is_still():
            self.is_told = True
            for reader in self.readers:
                reader.spoil()

    def forget(self, asker: Dependent) -> None:
        """Take a reader out."""
        del self.readers[asker]
        self.is_told = self.is_told or not self.readers

    def is_intact(self) -> bool:
        """Say whether no reader has changed what it was given."""
        return type(self._kept) is not Kept or self._kept.is_intact()

    def _renew(self) -> None:
        read = self.read
        if read.what in _HISTORIES:
            value = self._world.cells[read.column].value
            kept = keep(value)
            self._kept = value if kept is None else kept
            if read.what == "history":
                self._answer = value if kept is None else kept.seen
                return
        self._answer = self._now()

    def _now(self) -> Any:
        read, instruments = self.read, self._world.instruments
        if read.column == INSTRUMENTS and instruments is not None:
            return instruments.answer(read.what, *read.detail)
        return answer(read, self._world.cells[read.column])

    def _is_still(self) -> bool:
        read = self.read
        if self._answer is _UNKNOWN:
            return False
        if read.column == INSTRUMENTS:
            return self._now() is self._answer
        cell = self._world.cells[read.column]
        if read.what in _HISTORIES:
            kept = self._kept
            # Of what cannot change its identity is enough, however long it is.
            is_still = type(kept) is Kept and kept.is_still(cell.value)
            return cell.value is kept or is_still
        return read.what in _BY_ANSWER and bool(answer(read, cell) == self._answer)


@final
class Watches:
    """All reads of one world that somebody depends on.

    Parameters
    ----------
    world
        Whose states are read.

    Attributes
    ----------
    is_used
        Whether anything is watched.
    """

    def __init__(self, world: Readable) -> None:
        self._world = world
        self._layout: Layout = world.system.layout
        self._of_fields: dict[ColumnRead, FieldWatch] = {}
        self._of_cells: dict[ColumnRead, CellWatch] = {}
        self._fields_by_column: dict[int, list[FieldWatch]] = {}
        self._cells_by_column: dict[int, list[CellWatch]] = {}
        self._of_instruments: list[CellWatch] = []
        self.is_used = False

    def give(self, read: ColumnRead, asker: Dependent) -> Any:
        """Answer a read of somebody who depends on the answer from now on."""
        if read.what == "field":
            field = self._of_fields.get(read) or self._new_field(read)
            return field.give(asker, self._live(read.column))
        return (self._of_cells.get(read) or self._new_cell(read)).give(asker)

    def look(self, touched: Collection[int]) -> None:
        """Tell who depends on what has changed in columns that were touched."""
        fields, cells = self._fields_by_column, self._cells_by_column
        nodes, first = self._world.nodes, self._layout.first
        for column in touched:
            if column in fields:
                # In the usual case what is there is what was there.
                live = nodes[(column - first) // 3].__dict__
                for field in fields[column]:
                    if not field.is_told:
                        value = field.field(live) if field.path else live[field.name]
                        if value is not field.value:
                            field.look(value)
            elif column in cells:
                for cell in cells[column]:
                    cell.look()
        for cell in self._of_instruments:  # time goes on, and gauges may be others
            cell.look()

    def clear_out(self) -> None:
        """Forget the fields that nobody depends on."""
        for read, field in list(self._of_fields.items()):
            if not field.readers:
                del self._of_fields[read]
                self._fields_by_column[read.column].remove(field)
        self.is_used = bool(self._of_fields or self._of_cells)

    def _live(self, column: int) -> dict[str, Any]:
        layout = self._layout
        index = (column - layout.first) // 3
        fields: dict[str, Any] = self._world.nodes[index].__dict__
        return fields

    def _new_field(self, read: ColumnRead) -> FieldWatch:
        self.is_used = True
        made = self._of_fields[read] = FieldWatch(self._world, read)
        self._fields_by_column.setdefault(read.column, []).append(made)
        return made

    def _new_cell(self, read: ColumnRead) -> CellWatch:
        self.is_used = True
        made = self._of_cells[read] = CellWatch(self._world, read)
        if read.column == INSTRUMENTS:
            self._of_instruments.append(made)
        else:
            self._cells_by_column.setdefault(read.column, []).append(made)
        return made
