"""Breadth-first exploration in the compiled kernel.

A strategy like `worldline.engine.breadth_first`, and the same in every result: states,
transitions, depth, and which violation is reported by which path.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_uint64
from functools import partial
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.exploration import SAMPLE, Exploration
from worldline.engine.native.kernel_search import WORTH_THREADS, KernelSearch, joined
from worldline.engine.native.library import UNBOUNDED


def breadth_first(search: Exploration) -> None:
    """Explore level by level; the paths found are the shortest."""
    levels = _Levels(search)
    try:
        levels.explore()
    except BoundHit:
        levels.kernel.sample_growth()
        raise
    finally:
        levels.kernel.count()
        levels.sample()
        levels.close()


@final
class _Levels:
    """A search level after level.

    Attributes
    ----------
    kernel
        The search in the kernel.
    """

    def __init__(self, search: Exploration) -> None:
        self._search = search
        self.kernel = kernel = KernelSearch(search, self._make)
        if search.symmetry is not None:
            kernel.library.wl_reduce(kernel.handle, SAMPLE)
        if search.options.periphery:
            kernel.library.wl_keep_periphery(kernel.handle)

    def _make(
        self, library: ctypes.CDLL, tables: int, prune: int, done: int
    ) -> int | None:
        options, limit = self._search.options, self._search.bounds.states
        handle: int | None = library.wl_search(
            tables,
            # Several would meet other states before the bound each time.
            options.threads if limit is None else 1,
            WORTH_THREADS,
            UNBOUNDED if limit is None else min(limit, UNBOUNDED),
            prune,
            done,
        )
        return handle

    def close(self) -> None:
        """Free what the kernel holds of this search, unless its periphery needs it."""
        self.kernel.meter.stop()
        if not self._search.periphery:
            self.kernel.ways.forget()

    def explore(self) -> None:
        """Expand and examine level after level, until something ends the search."""
        search, statistics = self._search, self._search.statistics
        kernel = self.kernel
        kernel.add_roots()
        while True:
            before = statistics.states
            kernel.run_level()
            fresh = statistics.states - before
            if fresh:
                statistics.depth += 1
            kernel.report()
            if search.is_over():
                search.bound = "first violation"
                return
            is_cut = fresh > 0 and statistics.depth == search.bounds.depth
            if search.options.periphery and (is_cut or not fresh):
                self._take_periphery()
            if not fresh:
                return
            if is_cut:
                raise BoundHit("depth")
            kernel.tick(statistics.depth + 1)
            kernel.meter.checked(kernel.library.wl_advance(kernel.handle))

    def sample(self) -> None:
        """Take over the rows on which a symmetry will be checked."""
        search, width = self._search, len(self._search.tables.interners)
        library, handle = self.kernel.library, self.kernel.handle
        for of_expanded, kept in enumerate((search.examined, search.expanded)):
            count = library.wl_sample(handle, of_expanded, None)
            words = (c_int32 * max(1, count * (2 + width)))()
            library.wl_sample(handle, of_expanded, words)
            flat = words[:]
            for at in range(0, count * (2 + width), 2 + width):
                low, high, *numbers = flat[at : at + 2 + width]
                row = self.kernel.tables.columns.translated(numbers)
                kept.add(joined(low, high), row)

    def _take_periphery(self) -> None:
        """Take over the states beyond which nothing new was seen."""
        kernel, periphery = self.kernel, self._search.periphery
        count = kernel.meter.checked(kernel.library.wl_periphery(kernel.handle))
        translated = kernel.tables.columns.translated
        fingerprint = c_uint64()
        numbers = (c_int32 * len(self._search.tables.interners))()
        for at in range(count):
            self._search.check()
            kernel.library.wl_outermost(kernel.handle, at, byref(fingerprint), numbers)
            locate = partial(kernel.ways.locate, fingerprint.value)
            periphery.append((translated(numbers[:]), locate))
