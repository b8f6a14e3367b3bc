"""Random walks in the compiled kernel; like `engine.walks` in every result."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import POINTER, c_int32, c_int64, c_uint8
from typing import final

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.expand import Path
from worldline.engine.native.kernel_tables import kernel_tables_of
from worldline.engine.native.library import UNBOUNDED
from worldline.engine.native.meter import KernelMeter
from worldline.engine.native.misses import MissResolver
from worldline.engine.schedulers.protocol import Scheduler, Traits
from worldline.engine.tables import Leaf, Row, Service, Tables
from worldline.engine.walks import Ended, Reached, WalkEnd, WalkSettings
from worldline.model.errors import InternalError

_BATCH = 512
"""Walks under way at once, at least, if there are so many."""

_MOST = 8192
"""Walks under way at once where the tables miss nothing."""

_UNDER_WAY = 0
_ENDS = {_UNDER_WAY: WalkEnd.MOVED, **{end.value: end for end in WalkEnd}}.__getitem__
_ENDED = functools.partial(tuple.__new__, Ended)
_UNSET = -1


@final
class NativeWalks:
    """Walks at random.

    Parameters
    ----------
    tables, service
        What is known, and who works out what is not.
    """

    def __init__(self, tables: Tables, service: Service, options: WalkSettings) -> None:
        self._tables = tables
        self._options = options
        self._kernel = kernel_tables_of(tables)
        self._library = self._kernel.library
        self._meter = options.meter or Meter(Bounds())
        self._kernel_meter = KernelMeter(self._library, self._meter)
        self._is_timed = True
        self._resolver = MissResolver(self._kernel, tables, service, look=self._look)
        goal = _UNSET if options.goal is None else self._kernel.decision(options.goal)
        self._handle = self._library.wl_walks(
            self._kernel.handle,
            options.threads,
            options.seed & 0xFFFFFFFFFFFFFFFF,
            min(options.most_steps, UNBOUNDED),
            goal,
        )
        if not self._handle:
            raise MemoryError
        for decision, target in options.checks:
            number = self._kernel.decision(decision)
            self._library.wl_walks_check(self._handle, number, target)
        for decision in options.watches:
            self._library.wl_walks_watch(self._handle, self._kernel.decision(decision))
        self.use(options.scheduler, options.most_steps)
        self._misses = self._library.wl_walks_misses(self._handle)
        self._weighed = 0

    def use(self, scheduler: Scheduler, most_steps: int) -> None:
        """Walk with another scheduler and another bound from now on."""
        if scheduler.native is None:
            raise InternalError(f"the kernel has no scheduler {scheduler.name}")
        most_steps = min(most_steps, UNBOUNDED)
        self._library.wl_walks_use(self._handle, *scheduler.native, most_steps)

    @property
    def reached(self) -> dict[int, Reached]:
        """Where each watched predicate was true first, by its number, if it was."""
        reached, words = {}, (c_int64 * 2)()
        for number in range(len(self._options.watches)):
            self._library.wl_walks_reached(self._handle, number, words)
            if words[0] >= 0:
                reached[number] = Reached(words[0], words[1])
        return reached

    def taken(self, walks: int) -> list[Leaf]:
        """Return the outcomes that were taken on walks with lesser numbers."""
        leaves = self._tables.leaves
        marks = (c_uint8 * len(leaves))()
        self._library.wl_walks_taken(self._handle, walks, len(leaves), marks)
        return list(itertools.compress(leaves, marks))

    def walk(self, start: Row, numbers: range) -> Iterator[Ended]:
        """Walk once for each number, from the same state."""
        batches = self._batches(numbers, lambda _: [start])
        return itertools.chain.from_iterable(batches)

    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]:
        """Walk once from each state; the walks have numbers from `first` on."""
        numbers = range(first, first + len(starts))
        batches = self._batches(
            numbers, lambda batch: starts[batch.start - first : batch.stop - first]
        )
        return itertools.chain.from_iterable(batches)

    def path(self, start: Row, number: int) -> Path:
        """Return the path of a walk; if it failed, with the failed outcome."""
        self._run([start], range(number, number + 1), with_path=True)
        out = POINTER(c_int32)()
        count = self._library.wl_walks_path(self._handle, ctypes.byref(out))
        leaves = [self._tables.leaves[leaf] for leaf in out[:count]]
        return [(leaf.entry, leaf) for leaf in leaves]

    def close(self) -> None:
        """Free what the kernel holds of these walks."""
        if self._handle is not None:
            self._kernel_meter.stop()
            self._library.wl_walks_free(self._handle)
            self._handle = None

    def _batches(
        self, numbers: range, starts: Callable[[range], Sequence[Row]]
    ) -> Iterator[Iterator[Ended]]:
        """Yield the walks of one batch after the other, from one state or from each."""
        batch, first = _BATCH, numbers.start
        while first < numbers.stop:
            walked = range(first, min(first + batch, numbers.stop))
            was_warm = self._run(starts(walked), walked)
            words = self._ends(len(walked))
            ends, whats, steps = words[0::3], words[1::3], words[2::3]
            rows: Iterable[Row | None] = itertools.repeat(None)
            if _UNDER_WAY in ends:
                rows = [None if end else self._row(at) for at, end in enumerate(ends)]
            # Walks can be short, so this is done without a call for each.
            kinds = map(_ENDS, ends)
            yield map(_ENDED, zip(walked, kinds, whats, steps, rows, strict=False))
            first = walked.stop
            batch = min(2 * batch, _MOST) if was_warm else _BATCH

    def _run(
        self, starts: Sequence[Row], numbers: range, *, with_path: bool = False
    ) -> bool:
        """Walk, mostly to the ends; return whether there was no miss."""
        columns, count = self._kernel.columns, len(numbers)
        seen = [cell for start in starts for cell in columns.numbers_of(start)]
        self._kernel.send()
        rows, is_shared = (c_int32 * len(seen))(*seen), len(starts) == 1
        meter, self._is_timed = self._kernel_meter, not with_path
        meter.start(timed=not with_path)
        begun = self._library.wl_walks_begin(
            self._handle, rows, is_shared, numbers.start, count, with_path
        )
        meter.checked(begun)
        self._weigh()
        gives_up, walked = None if with_path else self._options.gives_up, 0
        was_warm = True
        while meter.checked(self._library.wl_walks_step(self._handle)):
            if not with_path:
                self._meter.check()
            meter.start(timed=not with_path)
            was_warm = False
            self._resolver.resolve(self._misses)
            self._weigh()
            if gives_up is not None:
                before, walked = walked, sum(self._ends(count)[2::3])
                if gives_up(walked - before):
                    return False
        if gives_up is not None:
            gives_up(sum(self._ends(count)[2::3]) - walked)
        return was_warm

    def _look(self) -> None:
        """Look at the clock between two misses: one may be thousands of outcomes."""
        if self._is_timed:
            self._meter.check()

    def _ends(self, count: int) -> list[int]:
        """Return how each walk ended, 0 if it has not, with what, and its steps."""
        ends = (c_int64 * (3 * count))()
        self._library.wl_walks_ends(self._handle, ends)
        return ends[:]

    def _row(self, at: int) -> Row:
        """Return where a walk has come to."""
        width = len(self._tables.interners)
        numbers = (c_int32 * width)()
        self._library.wl_walks_row(self._handle, at, numbers)
        return self._kernel.columns.translated(numbers[:])

    def _weigh(self) -> None:
        """Send the traits of events that are new."""
        new = self._tables.entries[self._weighed :]
        if new:
            words = [word for one in new for word in _words(self._options.traits(one))]
            sent = (c_int64 * len(words))(*words)
            self._library.wl_walks_traits(self._handle, len(new), sent)
            self._weighed += len(new)


def _words(traits: Traits) -> tuple[int, ...]:
    """Return traits as the kernel reads them; it takes hashes as unsigned."""
    weight, fault, node, pair, kind, handler = traits
    return weight, fault, node, pair, _signed(kind), _signed(handler)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
