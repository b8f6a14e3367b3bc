"""A search level by level that runs in the compiled kernel, whatever its levels are."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable
from ctypes import byref, c_int32, c_int64, c_uint64
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.decisions import Decision
from worldline.engine.exploration import Exploration, Hit, Statistics
from worldline.engine.native.kernel_tables import KernelTables, kernel_tables_of
from worldline.engine.native.meter import KernelMeter
from worldline.engine.native.misses import MissResolver
from worldline.engine.profile import KERNEL
from worldline.engine.tables import Entry, Leaf, Tables

UNSET = -1
"""No decision, no outcome."""

WORTH_THREADS = 4096
"""States of a level from which on a second thread pays."""

_QUOTA = 262_144
"""States expanded before the kernel comes back, if no bound is hit before."""


def _free(library: ctypes.CDLL, handle: int, process: int) -> None:
    """Free a search in the process that has made it.

    One that was forked off it has none of its threads, for whose end it would wait for ever.
    """
    if os.getpid() == process:
        library.wl_search_free(handle)


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
        self.forget = weakref.finalize(self, _free, library, handle, os.getpid())

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
class KernelSearch:
    """A search in the kernel.

    Parameters
    ----------
    make
        Makes it, given the library, the kernel's tables, and its numbers of the
        decisions `Options.prune` and `Options.done`; returns its handle.

    Attributes
    ----------
    library, handle
        The kernel, and by what it knows the search.
    tables
        Its tables.
    ways
        The steps by which states were reached.
    meter
        The kernel's meter.
    """

    def __init__(
        self,
        search: Exploration,
        make: Callable[[ctypes.CDLL, int, int, int], int | None],
    ) -> None:
        self._search = search
        self.tables: KernelTables = kernel_tables_of(search.tables)
        self.library = search.profile.all_timed(KERNEL, self.tables.library)
        self.meter = KernelMeter(self.library, search.meter)
        self._resolver = MissResolver(
            self.tables,
            search.tables,
            search.service,
            search.symmetry,
            look=search.check,
        )
        prune, done = map(self._decision, (search.options.prune, search.options.done))
        watched = [self._decision(check.decision) for check in search.checks]
        self.tables.send()
        handle = make(self.library, self.tables.handle, prune, done)
        if not handle:
            raise MemoryError
        self.handle = handle
        self.ways = Ways(self.library, handle, search.tables, search.statistics)
        self._misses = self.library.wl_search_misses(handle)
        for number, check in zip(watched, search.checks, strict=True):
            self.library.wl_watch(handle, number, check.target)
        if search.options.exact:
            self.library.wl_exact(handle)
        self._is_full = self._has_collision = False
        self._told = 0
        self._tell_instead()

    def add_roots(self) -> None:
        """Tell the kernel the initial states."""
        width = len(self._search.tables.interners)
        for number, row in enumerate(self._search.roots):
            row, _ = self._search.canonical(row, 0)
            seen = (c_int32 * width)(*self.tables.columns.numbers_of(row))
            self.tables.send()
            self.meter.checked(self.library.wl_root(self.handle, seen, number))

    def run_level(self) -> None:
        """Have the kernel do what is left of a level, and work out what it lacks."""
        statistics, left = self._search.statistics, 1
        while left:
            self.meter.start()
            left = self.meter.checked(self.library.wl_step(self.handle, _QUOTA))
            self.count()
            statistics.frontier = left
            if self._is_full:
                raise BoundHit("states")
            if self._has_collision:
                raise BoundHit("fingerprints")
            self._search.look()
            if self._resolver.resolve(self._misses):
                self._tell_instead()
                left = 1

    def count(self) -> None:
        """Take over what the kernel has counted."""
        out = (c_int64 * 7)()
        self.library.wl_statistics(self.handle, out)
        statistics = self._search.statistics
        statistics.states, statistics.generated, statistics.pruned = out[:3]
        self._is_full, self._has_collision = bool(out[4]), bool(out[5])
        statistics.bytes, statistics.left_out = out[3], out[6]
        unseen = self._search.unseen
        for number in range(len(unseen)):
            unseen[number] = self.library.wl_unseen(self.handle, number)

    def tick(self, depth: int) -> None:
        """Note the depth at which values are first met from now on.

        By that a search that does not end says which of them grow.
        """
        self._search.tables.tick(depth)
        self.library.wl_clock(self.tables.handle, depth)

    def sample_growth(self) -> None:
        """Learn how the collections grew that only the kernel has seen."""
        self.tables.columns.sample_births()

    def report(self) -> None:
        """Note the first of everything found, in order of fingerprints."""
        search, fingerprint = self._search, c_uint64()
        for number in range(len(search.checks)):
            if number not in search.hits and self.library.wl_hit(
                self.handle, number, byref(fingerprint)
            ):
                search.hits[number] = self.ways.locate(fingerprint.value, None)
        for state, number in self._endings():
            if number == UNSET:
                if search.deadlock is None:
                    search.deadlock = self.ways.locate(state, None)
                continue
            leaf = search.tables.leaves[number]
            kind: str = leaf.detail.failure.kind
            if kind not in search.failures:
                last = leaf.entry, leaf
                search.failures[kind] = self.ways.locate(state, last)

    def _tell_instead(self) -> None:
        """Tell the kernel what stands in the place of events that it has not met yet."""
        instead, entries = self._search.options.instead, self._search.tables.entries
        if instead is None:
            return
        for entry in entries[self._told :]:
            events = instead(entry)
            if events is not None:
                numbers = [self.tables.entry(one) for one in (entry, *events)]
                self.tables.send()
                words = (c_int32 * len(numbers))(*numbers)
                told = self.library.wl_instead(self.handle, len(numbers), words)
                self.meter.checked(told)
        self._told = len(entries)

    def _decision(self, decision: Decision | None) -> int:
        return UNSET if decision is None else self.tables.decision(decision)

    def _endings(self) -> list[tuple[int, int]]:
        """Return the states where something ended, with the outcome that failed.

        The first of all comes first.
        """
        count = self.library.wl_endings(self.handle, None)
        words = (c_int32 * max(1, 3 * count))()
        self.library.wl_endings(self.handle, words)
        low, high, leaves = (words[at : 3 * count : 3] for at in range(3))
        return [
            (joined(below, above), leaf)
            for below, above, leaf in zip(low, high, leaves, strict=True)
        ]


def joined(low: int, high: int) -> int:
    """Return 64 bits from two halves."""
    return (high & 0xFFFFFFFF) << 32 | low & 0xFFFFFFFF
