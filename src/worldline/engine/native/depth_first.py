"""Depth-first exploration in the compiled kernel; like `engine.depth_first` in all."""

from __future__ import annotations

from ctypes import c_int32, c_int64
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.native.gate import Gate
from worldline.engine.native.mirror import mirror_of
from worldline.engine.native.serve import Server
from worldline.engine.profile import KERNEL
from worldline.model.amounts import MOST
from worldline.model.errors import InternalError

_QUOTA = 65_536
"""States visited before the kernel comes back, if its gate stays open."""

_DEEPEST = 2**31 - 1
_UNSET = -1
_FAILED, _DEADLOCK = -1, -2


def depth_first(search: Exploration) -> None:
    """Explore each path to the bound on depth before its siblings."""
    dive = _Dive(search)
    try:
        dive.explore()
    finally:
        dive.count()
        dive.close()


@final
class _Dive:
    """A search that runs in the kernel."""

    def __init__(self, search: Exploration) -> None:
        self._search = search
        self._mirror = mirror_of(search.tables)
        self._library = search.profile.all_timed(KERNEL, self._mirror.library)
        self._gate = Gate(self._library, search.meter)
        self._server = Server(
            self._mirror, search.tables, search.service, look=search.check
        )
        options, bounds = search.options, search.bounds
        if bounds.depth is None:
            raise InternalError("a depth-first search without a bound")
        decisions = [
            _UNSET if one is None else self._mirror.decision(one)
            for one in (options.prune, options.done)
        ]
        checks = [(self._mirror.decision(c.decision), c) for c in search.checks]
        self._mirror.send()
        self._handle = self._library.wl_dive(
            self._mirror.handle,
            min(bounds.depth, _DEEPEST),
            MOST if bounds.states is None else min(bounds.states, MOST),
            options.keep_going,
            *decisions,
        )
        if not self._handle:
            raise MemoryError
        self._misses = self._library.wl_dive_misses(self._handle)
        for number, check in checks:
            add = self._library.wl_dive_check
            add(self._handle, number, check.target, check.fatal)
        self._is_full = self._is_cut = False
        self._findings = 0

    def close(self) -> None:
        """Free what the kernel holds of this search."""
        self._gate.leave_open()
        self._library.wl_dive_free(self._handle)

    def explore(self) -> None:
        """Explore from each initial state, until something ends the search."""
        search, width = self._search, len(self._search.tables.interners)
        for number, row in enumerate(search.roots):
            seen = (c_int32 * width)(*self._mirror.columns.numbers_of(row))
            self._mirror.send()
            self._library.wl_dive_begin(self._handle, seen, number)
            self._run()
            if search.is_over():
                search.bound = "first violation"
                return
        if self._is_cut:
            raise BoundHit("depth")

    def count(self) -> None:
        """Take over what the kernel has counted."""
        out = (c_int64 * 8)()
        self._library.wl_dive_statistics(self._handle, out)
        statistics = self._search.statistics
        statistics.states, statistics.generated, statistics.pruned = out[:3]
        statistics.generated += len(self._search.roots)
        statistics.depth = out[3]
        self._is_full, self._is_cut = bool(out[4]), bool(out[5])
        self._findings = out[7]

    def _run(self) -> None:
        search, more = self._search, True
        while more:
            self._gate.open()
            step = self._library.wl_dive_step(self._handle, _QUOTA)
            found = self._gate.checked(step)
            self.count()
            self._report()
            if self._is_full:
                raise BoundHit("states")
            search.look()
            more = bool(found)
            if more:
                self._server.serve(self._misses)

    def _report(self) -> None:
        """Note what was found, the first of each kind."""
        search, width = self._search, self._search.statistics.depth + 2
        for number in range(self._findings):
            words = (c_int32 * (width + 2))()
            count = self._library.wl_dive_finding(self._handle, number, width, words)
            kind, root = words[0], words[1]
            leaves = [search.tables.leaves[leaf] for leaf in words[2 : 2 + count]]
            hit = Hit(root, [(leaf.entry, leaf) for leaf in leaves])
            if kind == _DEADLOCK:
                search.deadlock = search.deadlock or hit
            elif kind == _FAILED:
                failed: str = leaves[-1].detail.failure.kind
                search.failures.setdefault(failed, hit)
            else:
                search.hits.setdefault(kind, hit)
