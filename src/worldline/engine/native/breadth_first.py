"""Breadth-first exploration in the compiled kernel.

A strategy like `worldline.engine.breadth_first`, and the same in every result: states,
transitions, depth, and which violation is reported by which path.
"""

from __future__ import annotations

import ctypes
import weakref
from ctypes import byref, c_int32, c_int64, c_uint64
from functools import partial
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.exploration import SAMPLE, Exploration, Hit, Statistics
from worldline.engine.native.kernel_tables import kernel_tables_of
from worldline.engine.native.library import UNBOUNDED
from worldline.engine.native.meter import KernelMeter
from worldline.engine.native.misses import MissResolver
from worldline.engine.profile import KERNEL
from worldline.engine.tables import Entry, Leaf, Tables

_QUOTA = 262_144
"""States expanded before the kernel comes back, if no bound is hit before."""

WORTH_THREADS = 4096
"""States of a level from which on a second thread pays."""

_UNSET = -1


def breadth_first(search: Exploration) -> None:
    """Explore level by level; the paths found are the shortest."""
    levels = _Levels(search)
    try:
        levels.explore()
    except BoundHit:
        levels.sample_growth()
        raise
    finally:
        levels.count()
        levels.sample()
        levels.close()


@final
class Ways:
    """The steps by which states were reached; keeps what the kernel holds of them.

    Parameters
    ----------
    handle
        By which the kernel knows the search.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        handle: int,
        tables: Tables,
        statistics: Statistics,
    ) -> None:
        self._library = library
        self._handle = handle
        self._tables = tables
        self._statistics = statistics
        self.forget = weakref.finalize(self, library.wl_search_free, handle)

    def locate(self, fingerprint: int, last: tuple[Entry, Leaf] | None) -> Hit:
        """Return how a state was reached, and perhaps one more step."""
        most, root = self._statistics.depth, c_int32()
        words = (c_int32 * max(1, most))()
        count = self._library.wl_path(
            self._handle, fingerprint, most, words, byref(root)
        )
        leaves = [self._tables.leaves[number] for number in words[:count]]
        path = [(leaf.entry, leaf) for leaf in leaves]
        return Hit(root.value, path if last is None else [*path, last])


@final
class _Levels:
    """A search that runs in the kernel."""

    def __init__(self, search: Exploration) -> None:
        self._search = search
        self._kernel = kernel_tables_of(search.tables)
        self._library = search.profile.all_timed(KERNEL, self._kernel.library)
        self._kernel_meter = KernelMeter(self._library, search.meter)
        self._resolver = MissResolver(
            self._kernel,
            search.tables,
            search.service,
            search.symmetry,
            look=search.check,
        )
        options, limit = search.options, search.bounds.states
        decisions = [
            _UNSET if one is None else self._kernel.decision(one)
            for one in (options.prune, options.done)
        ]
        watched = [self._kernel.decision(check.decision) for check in search.checks]
        self._kernel.send()
        self._handle = self._library.wl_search(
            self._kernel.handle,
            # Several would meet other states before the bound each time.
            options.threads if limit is None else 1,
            WORTH_THREADS,
            UNBOUNDED if limit is None else min(limit, UNBOUNDED),
            *decisions,
        )
        if not self._handle:
            raise MemoryError
        self._ways = Ways(self._library, self._handle, search.tables, search.statistics)
        self._misses = self._library.wl_search_misses(self._handle)
        for number, check in zip(watched, search.checks, strict=True):
            self._library.wl_watch(self._handle, number, check.target)
        if search.symmetry is not None:
            self._library.wl_reduce(self._handle, SAMPLE)
        self._is_full = self._has_collision = False
        if options.exact:
            self._library.wl_exact(self._handle)
        if options.periphery:
            self._library.wl_keep_periphery(self._handle)

    def close(self) -> None:
        """Free what the kernel holds of this search, unless its periphery needs it."""
        self._kernel_meter.stop()
        if not self._search.periphery:
            self._ways.forget()

    def explore(self) -> None:
        """Expand and examine level after level, until something ends the search."""
        search, statistics = self._search, self._search.statistics
        self._add_roots()
        while True:
            before = statistics.states
            self._run_level()
            fresh = statistics.states - before
            if fresh:
                statistics.depth += 1
            self._report()
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
            # Values note the depth at which they are first met: by that a search that
            # does not end says which of them grow.
            search.tables.tick(statistics.depth + 1)
            self._library.wl_clock(self._kernel.handle, statistics.depth + 1)
            self._kernel_meter.checked(self._library.wl_advance(self._handle))

    def count(self) -> None:
        """Take over what the kernel has counted."""
        out = (c_int64 * 7)()
        self._library.wl_statistics(self._handle, out)
        statistics = self._search.statistics
        statistics.states, statistics.generated, statistics.pruned = out[:3]
        self._is_full, self._has_collision = bool(out[4]), bool(out[5])
        statistics.left_out = out[6]
        unseen = self._search.unseen
        for number in range(len(unseen)):
            unseen[number] = self._library.wl_unseen(self._handle, number)

    def sample(self) -> None:
        """Take over the rows on which a symmetry will be checked."""
        search, width = self._search, len(self._search.tables.interners)
        for of_expanded, kept in enumerate((search.examined, search.expanded)):
            count = self._library.wl_sample(self._handle, of_expanded, None)
            words = (c_int32 * max(1, count * (2 + width)))()
            self._library.wl_sample(self._handle, of_expanded, words)
            flat = words[:]
            for at in range(0, count * (2 + width), 2 + width):
                low, high, *numbers = flat[at : at + 2 + width]
                row = self._kernel.columns.translated(numbers)
                kept.add(_joined(low, high), row)

    def _take_periphery(self) -> None:
        """Take over the states beyond which nothing new was seen."""
        count = self._kernel_meter.checked(self._library.wl_periphery(self._handle))
        periphery, translated = self._search.periphery, self._kernel.columns.translated
        fingerprint = c_uint64()
        numbers = (c_int32 * len(self._search.tables.interners))()
        for at in range(count):
            self._search.check()
            self._library.wl_outermost(self._handle, at, byref(fingerprint), numbers)
            locate = partial(self._ways.locate, fingerprint.value)
            periphery.append((translated(numbers[:]), locate))

    def sample_growth(self) -> None:
        """Learn how the collections grew that only the kernel has seen."""
        self._kernel.columns.sample_births()

    def _add_roots(self) -> None:
        width = len(self._search.tables.interners)
        for number, row in enumerate(self._search.roots):
            row, _ = self._search.canonical(row, 0)
            seen = (c_int32 * width)(*self._kernel.columns.numbers_of(row))
            self._kernel.send()
            self._kernel_meter.checked(
                self._library.wl_root(self._handle, seen, number)
            )

    def _run_level(self) -> None:
        """Expand what is left of a level and examine what that finds."""
        statistics, left = self._search.statistics, 1
        while left:
            self._kernel_meter.start()
            left = self._kernel_meter.checked(
                self._library.wl_step(self._handle, _QUOTA)
            )
            self.count()
            statistics.frontier = left
            if self._is_full:
                raise BoundHit("states")
            if self._has_collision:
                raise BoundHit("fingerprints")
            self._search.look()
            if self._resolver.resolve(self._misses):
                left = 1

    def _report(self) -> None:
        """Note the first of everything found, in order of fingerprints."""
        search, fingerprint = self._search, c_uint64()
        for number in range(len(search.checks)):
            if number not in search.hits and self._library.wl_hit(
                self._handle, number, byref(fingerprint)
            ):
                search.hits[number] = self._ways.locate(fingerprint.value, None)
        for state, number in self._endings():
            if number == _UNSET:
                if search.deadlock is None:
                    search.deadlock = self._ways.locate(state, None)
                continue
            leaf = search.tables.leaves[number]
            kind: str = leaf.detail.failure.kind
            if kind not in search.failures:
                last = leaf.entry, leaf
                search.failures[kind] = self._ways.locate(state, last)

    def _endings(self) -> list[tuple[int, int]]:
        """Return the states where something ended, with the outcome that failed.

        The first of all comes first.
        """
        count = self._library.wl_endings(self._handle, None)
        words = (c_int32 * max(1, 3 * count))()
        self._library.wl_endings(self._handle, words)
        low, high, leaves = (words[at : 3 * count : 3] for at in range(3))
        return [
            (_joined(below, above), leaf)
            for below, above, leaf in zip(low, high, leaves, strict=True)
        ]


def _joined(low: int, high: int) -> int:
    return (high & 0xFFFFFFFF) << 32 | low & 0xFFFFFFFF
