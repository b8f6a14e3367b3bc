"""Consequence prediction in the compiled kernel.

A strategy like `worldline.engine.consequence`, and the same in every result. It goes on,
too: what the kernel holds lives as long as the search.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.consequence import PRUNED, refuse_unfit
from worldline.engine.exploration import Exploration
from worldline.engine.native.kernel_search import UNSET, WORTH_THREADS, KernelSearch
from worldline.engine.native.library import UNBOUNDED
from worldline.engine.native.meter import KernelMeter

_MOST_PRICE = 2**31 - 1
"""So dear that nothing else is left when a state comes back."""


def consequence(search: Exploration) -> None:
    """Explore by cost; go on where the search stood if it was run before."""
    refuse_unfit(search)
    if search.unfinished is None:
        search.unfinished = _Costs(search)
    costs: _Costs = search.unfinished
    costs.kernel.meter = KernelMeter(costs.kernel.library, search.meter)
    try:
        costs.explore()
    except BoundHit as hit:
        if hit.bound != "cost":  # from there a prediction goes on, again and again
            costs.kernel.sample_growth()
        raise
    finally:
        costs.count()
        costs.kernel.meter.stop()


@final
class _Costs:
    """A search that stands at some cost.

    Attributes
    ----------
    kernel
        The search in the kernel.
    """

    def __init__(self, search: Exploration) -> None:
        self._search = search
        self.kernel = KernelSearch(search, self._make)
        self._cost = self._next_cost = 0
        self._is_busy = False
        self.kernel.add_roots()

    def _make(
        self, library: ctypes.CDLL, tables: int, prune: int, done: int
    ) -> int | None:
        options = self._search.options
        price = options.repeat_cost
        handle: int | None = library.wl_predict(
            tables,
            options.threads,
            WORTH_THREADS,
            UNSET if price is None else min(price, _MOST_PRICE),
            prune,
            done,
        )
        return handle

    def explore(self) -> None:
        """Judge and expand the states of one cost after the other."""
        search, kernel = self._search, self.kernel
        if self._is_busy:
            self._run()
        while True:
            is_cut = self._judge()
            kernel.report()
            if search.is_over():
                search.bound = "first violation"
                return
            if is_cut:
                raise BoundHit("states")
            if self._is_exhausted():
                return
            self._reach(self._next_cost)
            kernel.tick(self._next_cost + 2)
            kernel.meter.checked(kernel.library.wl_advance(kernel.handle))
            self._run()

    def count(self) -> None:
        """Take over what the kernel has counted."""
        self.kernel.count()
        out = (c_int64 * 7)()
        self.kernel.library.wl_costs(self.kernel.handle, out)
        statistics = self._search.statistics
        self._next_cost, statistics.executed, statistics.put_off = out[:3]
        statistics.frontier, statistics.depth, self._cost, statistics.held = out[3:]

    def _run(self) -> None:
        """Have the kernel finish what it has begun."""
        self._is_busy = True
        self.kernel.run_level()
        self._is_busy = False
        self.count()

    def _judge(self) -> bool:
        """Judge the states met last; whether there are more than may be."""
        search, kernel = self._search, self.kernel
        limit, states = search.bounds.states, search.statistics.states
        most = UNBOUNDED if limit is None else min(limit - states, UNBOUNDED)
        left = kernel.meter.checked(kernel.library.wl_judge(kernel.handle, most))
        self._run()
        if left == 0:
            self._reach(self._cost)
        return left > 0

    def _is_exhausted(self) -> bool:
        """Say whether nothing is left, or raise `BoundHit`."""
        search, limit = self._search, self._search.bounds.cost
        if self._next_cost == UNSET:
            if search.options.repeat_cost is None and search.statistics.put_off:
                raise BoundHit(PRUNED)
            return True
        if limit is not None and self._next_cost >= limit:
            self._reach(limit)
            search.next_cost = self._next_cost
            raise BoundHit("cost")
        return False

    def _reach(self, cost: int) -> None:
        """Note that all states of at most a cost were judged."""
        statistics = self._search.statistics
        statistics.cost = max(statistics.cost, cost)
