"""Objects that last as long as a run: the collector of garbage need not look at them.

Of a million nodes there are ten million objects. Python would look at all of them again
and again, which takes seconds each time, to find none that could go.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator

from worldline.engine.garbage import freezing, is_anything_frozen
from worldline.worlds.huge_pages import use_huge_pages


@contextlib.contextmanager
def made_to_last() -> Iterator[None]:
    """Collect no garbage in this block, which makes hardly any."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def lasting() -> Iterator[Callable[[], None]]:
    """Look for garbage only among what is made in this block, and once it may be much.

    Yields what lets last as well all that has been made so far.

    What is under way is always as much and always other objects: all of them would be
    looked at some ten times before they go, each time far from any cache.
    """
    if is_anything_frozen():  # somebody else has done so
        yield lambda: None
        return
    before = gc.get_threshold()
    if before[0]:
        _collect_what_is_left()

    def keep() -> None:
        youngest, *others = before
        gc.freeze()
        blocks = sys.getallocatedblocks()
        if blocks > _placed.blocks + _MANY:
            _placed.blocks = blocks
            use_huge_pages()
        if youngest:  # 0 stands for never
            # To count the objects would take as long as to look at them.
            gc.set_threshold(max(youngest, blocks // _BLOCKS // _SHARE), *others)

    with freezing():
        try:
            keep()
            yield keep
        finally:
            gc.set_threshold(*before)


def _collect_what_is_left() -> None:
    """Collect what earlier runs have left, once it may be much: else it would last too."""
    blocks, before = sys.getallocatedblocks(), _begun.blocks
    if before and blocks > before + max(_MANY, before // _LEFT):
        gc.collect()
        _begun.blocks = sys.getallocatedblocks()
    else:
        _begun.blocks = min(before or blocks, blocks)


_BLOCKS = 4
"""Blocks of memory, about, of which one is an object that the collector looks at."""

_MANY = 100_000
"""Blocks that are too many for usual pages: about 10 MiB."""

_LEFT = 4
"""Of so many blocks one more is not yet much: to collect takes as long as there are blocks."""


class _Blocks:
    """How many blocks there were at a time."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks


_placed = _Blocks(sys.getallocatedblocks())
"""When they were put into huge pages, or at first."""

_begun = _Blocks(0)
"""When no run had left anything, or little; 0 before the first."""

_SHARE = 8
"""Of so many objects that last, there is one made since then before they are looked at."""
