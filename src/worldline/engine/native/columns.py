"""The values of each column, as the kernel numbers them.

The tables have one number for a value wherever it stands; the kernel numbers the values
of each column by themselves, so that the tables of a column are as small as it is. In
columns that are collections it makes new values without asking; Python learns of one
when it has to look at it.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from ctypes import POINTER, c_int32
from typing import Any, final

from worldline.engine.collections import Collection
from worldline.engine.native.commands import CommandBuffer, Opcode, halves, packed
from worldline.engine.tables import Row, Tables

_NOT_SEEN = -1


@final
class KernelColumns:
    """Translates between the numbers of the tables and those of the kernel.

    Parameters
    ----------
    tables
        Whose values they are.
    library, handle, commands
        The kernel, its tables, and the commands to it.
    """

    def __init__(
        self, tables: Tables, library: ctypes.CDLL, handle: int, commands: CommandBuffer
    ) -> None:
        self._tables = tables
        self._library = library
        self._handle = handle
        self._commands = commands
        width = len(tables.interners)
        self._numbers: list[dict[int, int]] = [{} for _ in range(width)]
        self._values: list[list[int]] = [[] for _ in range(width)]
        self._items: dict[int, _Items] = {}
        self._out = POINTER(c_int32)()
        for column, collection in tables.collections.items():
            if collection.links is None:
                commands.extend((Opcode.COLLECTION, column, collection.shape))
                self._items[column] = _Items(collection.order)
            else:
                commands.extend((Opcode.LINKS, column, *packed(collection.links.kind)))
                self._items[column] = _Items(None)

    def collection(self, column: int) -> Collection | None:
        """Return how values of a column are made, if the kernel knows it."""
        return self._tables.collections.get(column)

    def number(self, column: int, value: int) -> int:
        """Return the kernel's number of a value in a column."""
        own = self._numbers[column].get(value)
        if own is not None:
            return own
        if column in self._items:
            return self._collect(column, value)
        values = self._values[column]
        number = self._numbers[column][value] = len(values)
        values.append(value)
        mix = self._tables.mixes[column][value]
        self._commands.extend((Opcode.VALUE, column, *halves(mix)))
        return number

    def value(self, column: int, number: int) -> int:
        """Return the value that has a number of the kernel's in a column."""
        values = self._values[column]
        if number < len(values) and values[number] != _NOT_SEEN:
            return values[number]
        collection, items = self._tables.collections[column], self._items[column]
        pairs = [(items.known[item], k) for item, k in self._pairs(column, number)]
        value = self._tables.interners[column].intern(collection.join(pairs))
        self._remember(column, value, number)
        return value

    def numbers_of(self, row: Row) -> list[int]:
        """Return a row as the kernel has it."""
        return [self.number(column, value) for column, value in enumerate(row)]

    def translated(self, numbers: Sequence[int]) -> Row:
        """Return a row of the kernel's as others have it."""
        row = [
            values[number] if number < len(values) else _NOT_SEEN
            for values, number in zip(self._values, numbers, strict=True)
        ]
        if _NOT_SEEN in row:
            row = [self.value(column, number) for column, number in enumerate(numbers)]
        return row

    def row(self, numbers: Sequence[int]) -> Row:
        """Return a row of the kernel's, translated as far as it is looked at."""
        row: Any = _SeenRow(self, numbers)
        return row  # type: ignore[no-any-return]

    def item(self, column: int, item: Any) -> int:
        """Return the kernel's number of an item of a collection."""
        items = self._items[column]
        number = items.numbers.get(item)
        if number is not None:
            return number
        collection = self._tables.collections[column]
        sender, links = collection.sender(item), collection.links
        if links is None:
            content = halves(collection.fingerprint(item))
            self._commands.extend((Opcode.ITEM, column, *content, sender))
        else:
            aspect = items.aspect(links.aspect(item))
            words = (Opcode.LINK, column, sender, links.messages(item), aspect)
            self._commands.extend((*words, *packed(links.encoded(item))))
        return items.add(item)

    def item_of(self, column: int, number: int) -> Any:
        """Return the item that has a number of the kernel's."""
        return self._items[column].known[number]

    def rank_items(self) -> None:
        """Encode the canonical order of items, where there are new ones."""
        for column, items in self._items.items():
            ranks = items.new_ranks()
            if ranks is not None:
                self._commands.extend((Opcode.RANKS, column, len(ranks), *ranks))

    def sample_births(self) -> None:
        """Learn of the largest collection that was first met at each depth."""
        for column in self._items:
            count = self._library.wl_largest(self._handle, column, None)
            flat = (c_int32 * max(1, 3 * count))()
            self._library.wl_largest(self._handle, column, flat)
            births = self._tables.interners[column].births
            depths, numbers = flat[: 3 * count : 3], flat[2 : 3 * count : 3]
            for depth, number in zip(depths, numbers, strict=True):
                value = self.value(column, number)
                births[value] = min(births[value], depth)

    def _collect(self, column: int, value: int) -> int:
        """Tell a collection; the kernel may know it already."""
        collection = self._tables.collections[column]
        pairs = collection.split(self._tables.interners[column].values[value])
        flat = [x for item, k in pairs for x in (self.item(column, item), k)]
        self._commands.send()
        words = (c_int32 * max(1, len(flat)))(*flat)
        number = self._library.wl_collect(self._handle, column, len(pairs), words)
        if number < 0:
            raise MemoryError
        return self._remember(column, value, number)

    def _remember(self, column: int, value: int, number: int) -> int:
        values = self._values[column]
        values += [_NOT_SEEN] * (number + 1 - len(values))
        values[number] = value
        self._numbers[column][value] = number
        return number

    def _pairs(self, column: int, number: int) -> list[tuple[int, int]]:
        out = ctypes.byref(self._out)
        count = self._library.wl_pairs(self._handle, column, number, out)
        flat = self._out[: 2 * count]
        return list(zip(flat[::2], flat[1::2], strict=True))


@final
class _Items:
    """The items that stand in one column, and their canonical order, if it matters."""

    def __init__(self, order: Callable[[Any], Any] | None) -> None:
        self.numbers: dict[Any, int] = {}
        self.known: list[Any] = []
        self._order = order
        self._keys: list[Any] = []
        self._sorted: list[int] = []
        self._is_new = False
        self._aspects: dict[Hashable, int] = {}

    def add(self, item: Any) -> int:
        number = self.numbers[item] = len(self.known)
        self.known.append(item)
        if self._order is None:
            return number
        key = self._order(item)
        place = bisect_left(self._keys, key)
        self._keys.insert(place, key)
        self._sorted.insert(place, number)
        self._is_new = True
        return number

    def aspect(self, aspect: Hashable) -> int:
        """Return the kernel's number of an aspect of links; none of None."""
        if aspect is None:
            return _NOT_SEEN
        return self._aspects.setdefault(aspect, len(self._aspects))

    def new_ranks(self) -> list[int] | None:
        """Return the rank of each item; None if nothing is new."""
        if not self._is_new:
            return None
        self._is_new = False
        ranks = [0] * len(self._sorted)
        for rank, number in enumerate(self._sorted):
            ranks[number] = rank
        return ranks


@final
class _SeenRow:
    """A row of the kernel's that looks like one of the tables'."""

    __slots__ = ("_columns", "_numbers")

    def __init__(self, columns: KernelColumns, numbers: Sequence[int]) -> None:
        self._columns = columns
        self._numbers = numbers

    def __getitem__(self, column: int) -> int:
        return self._columns.value(column, self._numbers[column])
