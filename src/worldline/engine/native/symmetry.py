"""The kernel's tables for symmetry reduction: what renamings make of values.

A renaming has a code: below the number of members, a member and the next exchange names;
from there on, a value without a mention moves to another member's column. A table is
a column with a code; ``kernel/symmetry.hpp`` has the same.
"""

from __future__ import annotations

from typing import final

from worldline.engine.native.commands import Opcode
from worldline.engine.native.kernel_tables import KernelTables
from worldline.engine.symmetry import Symmetry

MOST_MEMBERS = 64
"""Members of which the kernel can keep a bit each."""


@final
class SymmetryTables:
    """The kernel's copy of a symmetry.

    Parameters
    ----------
    kernel
        By which the kernel knows the tables.
    symmetry
        What is copied; not more than `MOST_MEMBERS` members.
    """

    def __init__(self, kernel: KernelTables, symmetry: Symmetry) -> None:
        self._symmetry = symmetry
        self._columns = kernel.columns
        self._commands = kernel.commands
        self._sent: set[tuple[int, int]] = set()
        self._place = {
            column: place
            for columns in symmetry.members
            for place, column in enumerate(columns)
        }
        ends = [end for _, end in symmetry.ranges]
        words = [Opcode.SYMMETRY, len(ends), symmetry.count, len(symmetry.members[0])]
        self._commands.extend([*words, *ends])
        for columns in symmetry.members:
            self._commands.extend(columns)
        self._commands.extend(symmetry.salts)

    def encode_trait(self, column: int, seen: int, _: list[int]) -> None:
        """Encode what a value adds to signatures."""
        value = self._columns.value(column, seen)
        own, shares = self._symmetry.trait(column, value)[1:]
        self._commands.extend((Opcode.TRAIT, column, seen))
        self._commands.append_long(own)
        self._commands.append(len(shares))
        for member, share, besides in shares:
            self._commands.append(member)
            self._commands.append_long(share)
            self._commands.append_long(besides)

    def encode_outline(self, column: int, number: int, _: list[int]) -> None:
        """Encode the outlines of an item of a collection."""
        item = self._columns.item_of(column, number)
        common, apart = self._symmetry.names.item_outlines(column, item)
        self._commands.extend((Opcode.OUTLINE, column, number))
        self._commands.append_long(common)
        self._commands.append(len(apart))
        for member, outline in apart.items():
            self._commands.append(member)
            self._commands.append_long(outline)

    def encode_renamed(self, column: int, seen: int, steps: list[int]) -> None:
        """Encode what renamings make of a value, one after another."""
        value, columns = self._columns.value(column, seen), self._columns
        for code in steps:
            table, to = self._table(column, code), self._destination(column, code)
            if code < self._symmetry.count:
                value = self._symmetry.renamed_value(column, value, code)
            after = columns.number(to, value)
            if (table, seen) not in self._sent:
                self._sent.add((table, seen))
                self._commands.extend((Opcode.RENAME, table, seen, after))
            column, seen = to, after

    def encode_item(self, table: int, number: int, _: list[int]) -> None:
        """Encode what a renaming makes of an item."""
        column, code = divmod(table, 2 * self._symmetry.count)
        item = self._columns.item_of(column, number)
        if code < self._symmetry.count:
            item = self._symmetry.names.item_exchanged(column, item, code)
        after = self._columns.item(self._destination(column, code), item)
        self._commands.extend((Opcode.ITEM_RENAME, table, number, after))

    def _table(self, column: int, code: int) -> int:
        return 2 * self._symmetry.count * column + code

    def _destination(self, column: int, code: int) -> int:
        """Return the column of a value after a renaming."""
        mine = to = self._symmetry.owner[column]
        if code >= self._symmetry.count:
            to = code - self._symmetry.count
        elif mine in (code, code + 1):
            to = 2 * code + 1 - mine
        if to == mine:
            return column
        return self._symmetry.members[to][self._place[column]]
