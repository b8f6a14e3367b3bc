"""The rhythm of garbage collection while memory fills, and what it is to leave alone."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator

_SHORT_S = 0.2
"""Seconds in which so few objects are made that nobody has to care."""


@contextlib.contextmanager
def few_collections(made: int = 200_000) -> Iterator[None]:
    """Look for cyclic garbage rarely: tables and rows grow and hold no cycles.

    Each time that so many more objects were made than have gone.

    In the end all that there is counts as old, if it took long. Else Python would go through millions of
    new objects as soon as it looks often again.
    """
    before, began = gc.get_threshold(), time.monotonic()
    gc.set_threshold(made, 50, 100)
    try:
        yield
    finally:
        is_short = time.monotonic() - began < _SHORT_S
        if not is_short and not is_anything_frozen():
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*before)


@contextlib.contextmanager
def freezing() -> Iterator[None]:
    """Let the collector look again, in the end, at what is frozen in this block."""
    _frozen.is_ours = True
    try:
        yield
    finally:
        gc.unfreeze()
        _frozen.is_ours = False


def is_anything_frozen() -> bool:
    """Say whether there are objects that the collector does not look at."""
    # What others have frozen, only counting tells: it takes longer, the more there is.
    return _frozen.is_ours or gc.get_freeze_count() > 0


class _Frozen:
    """Whether it is known here that something is frozen."""

    is_ours = False


_frozen = _Frozen()
