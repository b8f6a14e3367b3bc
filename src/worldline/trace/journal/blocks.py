"""The blocks of one segment, as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, final

from worldline.trace.journal.damage import damage_at, damaged
from worldline.trace.journal.framing import HEAD, MAGIC, block_at, salt_of, salts_of
from worldline.trace.journal.segments import BOUND, JournalHeader, parse_header


class Block(NamedTuple):
    """The content of a block, and the offset in the file at which the block begins."""

    offset: int
    content: bytes


@final
class Blocks:
    """The blocks of one segment behind its header, one for each turn.

    Parameters
    ----------
    data
        The segment, unpacked.
    is_last
        Whether it is the last of its incarnation, so that its end may be torn.
    is_short
        Whether more should follow, which could not be read.
    lost
        Bytes that should follow in its tail, and are no whole blocks.
    partial
        Whether damage before the end ends it, too, as if it were the end.

    Attributes
    ----------
    header
        None if it is torn or damaged.
    size
        Bytes of what is whole, once all blocks have been yielded.
    torn
        Bytes at the end that are no whole block, then.
    damage
        What is damaged before the end, in words; empty if nothing is.

    Raises
    ------
    InputError
        If the header is damaged, or of a version that is not known.
    """

    def __init__(
        self,
        path: Path,
        data: bytes,
        *,
        is_last: bool,
        is_short: bool = False,
        lost: int = 0,
        partial: bool,
    ) -> None:
        self._path = path
        self._data = data
        self._is_short = is_short
        self._lost = lost
        self._may_tear = is_last and not is_short
        self._partial = partial
        self.size = self.torn = 0
        self.damage = ""
        self._salt: int | None = None
        self.header = self._opened()
        self._rest = self._whole()

    def __iter__(self) -> Iterator[Block]:
        """Go on with the block behind the last one."""
        return self._rest

    def _opened(self) -> JournalHeader | None:
        """Return the header, behind which the blocks begin."""
        data, begin = self._data, len(MAGIC)
        if data[:begin] != MAGIC:
            if self._may_tear and MAGIC.startswith(data):
                self.torn = len(data) + self._lost
                return None
            self._break_off(f"{self._path} is no journal")
            return None
        content = block_at(data, begin, None)
        if content is None:
            self._end(begin, (None, *salts_of(data)))
            return None
        header = parse_header(self._path, content)
        if header.version >= BOUND:
            self._salt = salt_of(data)
        self.size = begin + HEAD + len(content)
        return header

    def _whole(self) -> Iterator[Block]:
        if self.header is None:
            return
        data, salt, end = self._data, self._salt, len(self._data)
        at = self.size
        while at < end:
            content = block_at(data, at, salt)
            if content is None:
                self._end(at, (salt,))
                return
            yield Block(at, content)
            self.size = at = at + HEAD + len(content)
        if self._is_short or self._lost:
            self._end(at, (salt,))

    def _end(self, at: int, salts: Sequence[int | None]) -> None:
        why = damage_at(self._data, at, salts)
        if self._may_tear and not why:
            self.torn = len(self._data) - at + self._lost
            return
        why = why or ", and is not the end of the journal"
        self._break_off(f"{self._path} is damaged at byte {at}{why}")

    def _break_off(self, what: str) -> None:
        """Take note of damage that is not at the end."""
        if not self._partial:
            raise damaged(what)
        self.damage = what
