"""Walks that are moved from tables to another world where the tables lack too much.

That is the remembering world; or, where there is no room, the direct one.

What decides is counted, never timed, and no result depends on it: a walk is the same in
any of them (`worlds/walks.py`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, final

from worldline.engine.expand import Path
from worldline.engine.schedulers.protocol import Scheduler
from worldline.engine.tables import (
    Ask,
    Entry,
    Leaf,
    LinkService,
    Operations,
    Row,
    Service,
    Site,
)
from worldline.engine.walks import Ended, Reached, WalkEnd
from worldline.worlds.remembered_walks import RememberedWalks
from worldline.worlds.walks import CannotTell, DirectWalks

_FIRST, _BATCH = 1, 512
"""Walks begun at once, at first and later: cold tables cost most, and one may be enough."""

WINDOW = 5_000
"""Misses after which it is judged how often the tables had what a walk needed."""

MISSES_PER_STEP = 0.5
"""More misses than this a step may be too many: then walks are moved.

A step in the remembering world where nothing has to be worked out takes half as long as a
miss, by measurement (`docs/design.md`). Where handlers are run or properties judged more
often than at every other step, misses must be as frequent as that.
"""

STAY = 2_000
"""Steps elsewhere before the tables are tried again; twice as many then."""


@final
class Counted:
    """Passes everything on to who fills the tables, and counts it.

    Attributes
    ----------
    misses
        How often something was lacking; each outcome of a handler counts, for each is
        an execution.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self.misses = 0

    def apply(self, operations: Operations, value: int) -> int:
        self.misses += 1
        return self._service.apply(operations, value)

    @property
    def one_link(self) -> LinkService:
        return self._service.one_link

    def enabled(self, site: Site, row: Row) -> tuple[Entry, ...]:
        self.misses += 1
        return self._service.enabled(site, row)

    def parts(self, site: Site, item: Any, row: Row) -> tuple[Entry | None, ...]:
        self.misses += 1
        return self._service.parts(site, item, row)

    def answer(self, ask: Ask, value: int) -> int:
        self.misses += 1
        return self._service.answer(ask, value)

    def leaves(self, entry: Entry, row: Row) -> tuple[Leaf, ...]:
        leaves = self._service.leaves(entry, row)
        self.misses += max(1, len(leaves))
        return leaves


@final
class Pace:
    """Decides, by counts alone, where walks go on.

    Parameters
    ----------
    counted
        Counts what the tables lacked.

    Attributes
    ----------
    steps, remembered, direct
        Steps over tables, in the remembering world, and in the direct one.
    """

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._may_move = True
        self._has_tables = True
        self._stay = STAY
        self._away = 0  # steps still to be taken elsewhere
        self._misses = counted.misses  # when the window began
        self._begin = 0  # and the steps then
        self._work, self._stayed = 0, 0  # in the last stay elsewhere
        self.steps = 0
        self.remembered = 0
        self.direct = 0

    @property
    def is_elsewhere(self) -> bool:
        """Whether walks go on in another world now."""
        return self._away > 0 or not self._has_tables

    @property
    def has_tables(self) -> bool:
        """Whether walks may be over tables at all."""
        return self._has_tables

    def begin_anew(self, counted: Counted) -> None:
        """Go on over other tables, which are empty."""
        counted.misses = self._misses = self._counted.misses
        self._counted, self._begin, self._away = counted, self.steps, 0

    def leave_tables(self) -> None:
        """Walk in the direct world from now on: there is no more room for tables."""
        self._has_tables = False

    @property
    def misses(self) -> int:
        """How often the tables lacked something on these steps."""
        return self._counted.misses

    @property
    def hit_rate(self) -> float | None:
        """At least this share of the steps over tables found all they needed there."""
        if not self.steps:
            return None
        return max(0.0, 1.0 - self._counted.misses / self.steps)

    def gives_up(self, steps: int) -> bool:
        """Take note of steps over tables; say whether they lack too much."""
        self.steps += steps
        misses = self._counted.misses - self._misses
        if misses < WINDOW or not self._may_move:
            return False
        most = max(MISSES_PER_STEP, self._work / max(1, self._stayed))
        lacks = misses > (self.steps - self._begin) * most
        self._misses, self._begin = self._counted.misses, self.steps
        if lacks:
            self._away = self._stay
            self._stay *= 2
            self._work, self._stayed = 0, 0
        return lacks

    def went_on(self, steps: int, work: int = 0) -> None:
        """Take note of steps in the world that walks were moved to, and of their work."""
        self._work, self._stayed = self._work + work, self._stayed + steps
        self.remembered += steps * self._has_tables
        self.direct += steps * (not self._has_tables)
        self._away = max(0, self._away - max(1, steps))
        self._misses = self._counted.misses

    @contextlib.contextmanager
    def uncounted(self) -> Iterator[None]:
        """Let what the tables lack while the block runs be nobody's miss."""
        before = self._counted.misses
        try:
            yield
        finally:
            self._counted.misses = before

    @contextlib.contextmanager
    def over_tables(self) -> Iterator[None]:
        """Let no walk be moved while the block runs."""
        before, self._may_move = self._may_move, False
        try:
            yield
        finally:
            self._may_move = before


class Tabled(Protocol):
    """Either engine's random walks over tables."""

    @property
    def reached(self) -> dict[int, Reached]: ...
    def use(self, scheduler: Scheduler, most_steps: int) -> None: ...
    def walk(self, start: Row, numbers: range) -> Iterator[Ended]: ...
    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]: ...
    def path(self, start: Row, number: int) -> Path: ...
    def taken(self, walks: int) -> list[Leaf]: ...
    def close(self) -> None: ...


@final
class Moving:
    """Walks over tables, and in another world where that is better.

    Parameters
    ----------
    tabled
        Who walks over tables, asking `pace`.
    retracing
        Who walks over tables where these have no more room: single walks.
    remembered, direct
        Who walks elsewhere: with a memory of what handlers did, and without.
    """

    def __init__(
        self,
        tabled: Tabled,
        retracing: Tabled,
        remembered: RememberedWalks,
        direct: DirectWalks,
        pace: Pace,
    ) -> None:
        self._tabled = tabled
        self._retracing = retracing
        self._remembered = remembered
        self._direct = direct
        self._pace = pace
        self._batch = _FIRST

    def use(self, scheduler: Scheduler, most_steps: int) -> None:
        """Walk with another scheduler and another bound from now on."""
        self._tabled.use(scheduler, most_steps)
        self._retracing.use(scheduler, most_steps)
        self._remembered.use(scheduler, most_steps)
        self._direct.use(scheduler, most_steps)

    @property
    def reached(self) -> dict[int, Reached]:
        """Where each watched predicate was true first, by its number, if it was."""
        reached = self._tabled.reached
        others = *self._remembered.reached.items(), *self._direct.reached.items()
        for number, other in others:
            reached[number] = min(other, reached.get(number, other))
        return reached

    def taken(self, walks: int) -> list[Leaf]:
        """Return the outcomes that were taken over tables on the first so many walks."""
        return self._tabled.taken(walks)

    def walk(self, start: Row, numbers: range) -> Iterator[Ended]:
        """Walk once for each number, from the same state."""
        return self._walk(
            numbers, lambda _: start, lambda batch: self._tabled.walk(start, batch)
        )

    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]:
        """Walk once from each state; the walks have numbers from `first` on."""

        def walk(batch: range) -> Iterator[Ended]:
            own = starts[batch.start - first : batch.stop - first]
            return self._tabled.walk_each(own, batch.start)

        numbers = range(first, first + len(starts))
        return self._walk(numbers, lambda number: starts[number - first], walk)

    def path(self, start: Row, number: int) -> Path:
        """Return the path of a walk; if it failed, with the failed outcome."""
        with self._pace.uncounted():
            return self._single().path(start, number)

    def close(self) -> None:
        """Free what is held."""
        self._tabled.close()

    def _walk(
        self,
        numbers: range,
        start: Callable[[int], Row],
        over_tables: Callable[[range], Iterator[Ended]],
    ) -> Iterator[Ended]:
        first = numbers.start
        while first < numbers.stop:
            if self._pace.is_elsewhere:
                begun = start(first)
                yield self._go_on(begun, begun, first, 0)
                first += 1
                continue
            batch = range(first, min(first + self._batch, numbers.stop))
            self._batch = min(2 * self._batch, _BATCH)
            for ended in over_tables(batch):
                if ended.end is WalkEnd.MOVED:
                    assert ended.row is not None
                    begun = start(ended.walk)
                    yield self._go_on(begun, ended.row, ended.walk, ended.steps)
                else:
                    yield ended
            first = batch.stop

    def _go_on(self, start: Row, row: Row, number: int, steps: int) -> Ended:
        elsewhere = self._remembered if self._pace.has_tables else self._direct
        before = self._remembered.work
        try:
            ended = elsewhere.go_on(start, row, number, steps)
        except CannotTell:
            with self._pace.over_tables():
                (ended,) = self._single().walk(start, range(number, number + 1))
            return ended
        self._pace.went_on(ended.steps - steps, self._remembered.work - before)
        return ended

    def _single(self) -> Tabled:
        """Return who makes one walk over tables."""
        return self._tabled if self._pace.has_tables else self._retracing
