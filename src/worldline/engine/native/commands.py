"""The command stream that fills the kernel's tables.

Each command is an opcode and its arguments, all integers; ``kernel/decoder.hpp`` has the
decoder.
"""

from __future__ import annotations

import ctypes
import enum
import struct
from ctypes import c_int32
from typing import final


class Opcode(enum.IntEnum):
    """The commands; ``kernel/decoder.hpp`` has the same numbers."""

    VALUE = 0
    COLLECTION = 1
    ITEM = 2
    RANKS = 3
    SITE = 4
    LIST = 5
    PARTS = 6
    ENTRY = 7
    OUTCOME = 8
    LEAF = 9
    TREE = 10
    CHILD = 11
    OPERATION = 12
    APPLY = 13
    ANSWER = 14
    DECISION = 15
    QUESTION = 16
    BRANCH = 17
    SYMMETRY = 18
    TRAIT = 19
    RENAME = 20
    OUTLINE = 21
    ITEM_RENAME = 22
    LINKS = 23
    LINK = 24
    LINK_APPLY = 25
    LINK_ANSWER = 26


def halves(word: int) -> tuple[int, int]:
    """Return 64 bits as two numbers with a sign, low half first."""
    low, high = word & 0xFFFFFFFF, word >> 32
    return low - ((low >> 31) << 32), high - ((high >> 31) << 32)


def packed(content: bytes) -> tuple[int, ...]:
    """Return bytes as their number, and words."""
    size = len(content)
    count = (size + 3) // 4
    return size, *struct.unpack(f"{count}i", content.ljust(4 * count, b"\0"))


@final
class CommandBuffer:
    """Commands that were not sent yet.

    Parameters
    ----------
    library, tables
        The kernel, and its tables that they fill.
    """

    def __init__(self, library: ctypes.CDLL, tables: int) -> None:
        self._library = library
        self._tables = tables
        # A list, packed when it is sent: an array would look at each word twice.
        self._words: list[int] = []
        self.append = self._words.append
        self.extend = self._words.extend

    def append_long(self, word: int) -> None:
        """Add 64 bits, low half first."""
        self.extend(halves(word))

    def send(self) -> None:
        """Have the kernel decode all commands."""
        count = len(self._words)
        if count:
            packed = struct.pack(f"{count}i", *self._words)
            words = (c_int32 * count).from_buffer_copy(packed)
            decoded = self._library.wl_decode(self._tables, words, count)
            self._words.clear()
            if decoded < 0:
                raise MemoryError
