"""What the kernel has to know of values for symmetry reduction.

A renaming has a code: below the number of members, a member and the next exchange names;
from there on, a value that mentions nobody moves to another member's column. A table is
a column with a code; ``kernel/symmetry.hpp`` has the same.
"""

from __future__ import annotations

from typing import final

from worldline.engine.native.mirror import Mirror
from worldline.engine.native.tell import Word
from worldline.engine.symmetry import Symmetry

MOST_MEMBERS = 64
"""Members of which the kernel can keep a bit each."""


@final
class Fold:
    """The kernel's copy of a symmetry.

    Parameters
    ----------
    mirror
        By which the kernel knows the tables.
    symmetry
        What it is told of; not more than `MOST_MEMBERS` members.
    """

    def __init__(self, mirror: Mirror, symmetry: Symmetry) -> None:
        self._symmetry = symmetry
        self._columns = mirror.columns
        self._speech = mirror.speech
        self._told: set[tuple[int, int]] = set()
        self._place = {
            column: place
            for columns in symmetry.members
            for place, column in enumerate(columns)
        }
        ends = [end for _, end in symmetry.ranges]
        words = [Word.SYMMETRY, len(ends), symmetry.count, len(symmetry.members[0])]
        self._speech.say_all([*words, *ends])
        for columns in symmetry.members:
            self._speech.say_all(columns)
        self._speech.say_all(symmetry.salts)

    def tell_trait(self, column: int, seen: int, _: list[int]) -> None:
        """Tell what a value adds to signatures."""
        value = self._columns.value(column, seen)
        own, shares = self._symmetry.trait(column, value)[1:]
        self._speech.say_all((Word.TRAIT, column, seen))
        self._speech.long_word(own)
        self._speech.say(len(shares))
        for member, share, besides in shares:
            self._speech.say(member)
            self._speech.long_word(share)
            self._speech.long_word(besides)

    def tell_outline(self, column: int, number: int, _: list[int]) -> None:
        """Tell the outlines of an item of a collection."""
        item = self._columns.item_of(column, number)
        common, told = self._symmetry.names.item_outlines(column, item)
        self._speech.say_all((Word.OUTLINE, column, number))
        self._speech.long_word(common)
        self._speech.say(len(told))
        for member, outline in told.items():
            self._speech.say(member)
            self._speech.long_word(outline)

    def tell_renamed(self, column: int, seen: int, steps: list[int]) -> None:
        """Tell what renamings make of a value, one after another."""
        value, columns = self._columns.value(column, seen), self._columns
        for code in steps:
            table, to = self._table(column, code), self._destination(column, code)
            if code < self._symmetry.count:
                value = self._symmetry.renamed_value(column, value, code)
            after = columns.number(to, value)
            if (table, seen) not in self._told:
                self._told.add((table, seen))
                self._speech.say_all((Word.RENAME, table, seen, after))
            column, seen = to, after

    def tell_item(self, table: int, number: int, _: list[int]) -> None:
        """Tell what a renaming makes of an item."""
        column, code = divmod(table, 2 * self._symmetry.count)
        item = self._columns.item_of(column, number)
        if code < self._symmetry.count:
            item = self._symmetry.names.item_exchanged(column, item, code)
        after = self._columns.item(self._destination(column, code), item)
        self._speech.say_all((Word.ITEM_RENAME, table, number, after))

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
