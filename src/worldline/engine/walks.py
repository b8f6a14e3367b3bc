"""Random walks through the states, in plain Python.

This is the reference that a compiled kernel must agree with. Every random number
depends only on the seed, the walk and the step. So a walk is the same beside any
others, and can be walked again to learn its path.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

from worldline.engine.bounds import Meter
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander, Path
from worldline.engine.schedulers.protocol import Scheduler, Traits, below
from worldline.engine.schedulers.turns import WORDS, SchedulerSession, random_at
from worldline.engine.schedulers.weighted import Weighted
from worldline.engine.tables import Entry, Leaf, Row, Service, Tables


class WalkEnd(enum.IntEnum):
    """The end of a walk; the kernel has the same numbers.

    `MOVED`: handed over to the direct world, because the tables missed too often.
    """

    LIMIT = 1
    HIT = 2
    GOAL = 3
    FAILED = 4
    STUCK = 5
    MOVED = 6


class Ended(NamedTuple):
    """One walk, at its end.

    Attributes
    ----------
    walk
        Its number.
    end
        Why it ended.
    what
        The number of the check that was hit, or of the leaf that failed; else 0.
    steps
        Steps on it; a failed one is not counted.
    row
        Where one has come to that is to be moved.
    """

    walk: int
    end: WalkEnd
    what: int
    steps: int
    row: Row | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WalkSettings:
    """Settings of a walk.

    Attributes
    ----------
    seed
        From which all random numbers come.
    most_steps
        Where a walk ends at the latest.
    traits
        What the scheduler knows of each event.
    scheduler
        Decides which event happens next.
    checks
        Predicates with the verdict that ends a walk, evaluated in every state.
    goal
        A predicate that ends a walk well.
    watches
        Predicates of which it is noted where they are true first; they end no walk.
    threads
        How many may walk at once; no result depends on it.
    gives_up
        Told of steps taken since it was told the last time; says whether the tables
        lack too much, so that walks are to be moved. Paths are not asked about.
    meter
        Watches time and memory; but no time for paths: those are of walks that came to
        their end.
    """

    seed: int
    most_steps: int
    traits: Callable[[Entry], Traits]
    scheduler: Scheduler = field(default_factory=Weighted)
    checks: tuple[tuple[Decision, bool], ...] = ()
    goal: Decision | None = None
    watches: tuple[Decision, ...] = ()
    threads: int = 1
    gives_up: Callable[[int], bool] | None = None
    meter: Meter | None = None


class Reached(NamedTuple):
    """The first place where a watched predicate was true: least walk, least step."""

    walk: int
    steps: int


@final
class Walks:
    """Walks at random.

    Parameters
    ----------
    tables, service
        What is known, and who works out what is not.
    """

    def __init__(self, tables: Tables, service: Service, options: WalkSettings) -> None:
        self._tables = tables
        self._expander = Expander(tables, service)
        self._options = options
        self._reached: dict[int, Reached] = {}
        self._taken: dict[int, int] = {}
        self.use(options.scheduler, options.most_steps)

    def use(self, scheduler: Scheduler, most_steps: int) -> None:
        """Walk with another scheduler and another bound from now on."""
        self._most_steps = most_steps
        self._turns: SchedulerSession[Entry] = SchedulerSession(
            scheduler,
            self._options.traits,
            seed=self._options.seed,
            most_steps=most_steps,
        )

    @property
    def reached(self) -> dict[int, Reached]:
        """Where each watched predicate was true first, by its number, if it was."""
        return dict(self._reached)

    def taken(self, walks: int) -> list[Leaf]:
        """Return the outcomes that were taken on walks with lesser numbers."""
        leaves = self._tables.leaves
        return [leaves[leaf] for leaf, walk in self._taken.items() if walk < walks]

    def walk(self, start: Row, numbers: range) -> Iterator[Ended]:
        """Walk once for each number, from the same state."""
        for number in numbers:
            yield self._walk(start, number, None)

    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]:
        """Walk once from each state; the walks have numbers from `first` on."""
        for number, start in enumerate(starts, first):
            yield self._walk(start, number, None)

    def path(self, start: Row, number: int) -> Path:
        """Return the path of a walk; if it failed, with the failed outcome."""
        path: Path = []
        self._walk(start, number, path)
        return path

    def close(self) -> None:
        """Free what is held; nothing here."""

    def _walk(self, start: Row, number: int, path: Path | None) -> Ended:
        """Walk once; a walk whose path is asked for is one that was made before."""
        row, steps, options = start, 0, self._options
        is_first = path is None
        self._turns.begin(number)
        while True:
            if is_first and options.meter is not None:
                options.meter.check()
            ended = self._look(row, number, steps, watching=is_first)
            if ended is not None:
                return ended
            drawn = self._draw(row, number, steps)
            if drawn is None:
                return Ended(number, WalkEnd.STUCK, 0, steps)
            entry, leaf = drawn
            if path is not None:
                path.append((entry, leaf))
            else:
                before = self._taken.get(leaf.number, number)
                self._taken[leaf.number] = min(before, number)
            if leaf.failed:
                return Ended(number, WalkEnd.FAILED, leaf.number, steps)
            row = self._expander.after(row, entry, leaf)
            steps += 1
            if is_first and options.gives_up is not None and options.gives_up(1):
                return Ended(number, WalkEnd.MOVED, 0, steps, row)

    def _look(
        self, row: Row, number: int, steps: int, *, watching: bool
    ) -> Ended | None:
        """Evaluate the predicates; return how the walk ends if it does."""
        options = self._options
        if watching:
            for at, decision in enumerate(options.watches):
                if at not in self._reached and decision(row) is True:
                    self._reached[at] = Reached(number, steps)
        for at, (decision, target) in enumerate(options.checks):
            if decision(row) is target:
                return Ended(number, WalkEnd.HIT, at, steps)
        if options.goal is not None and options.goal(row) is True:
            return Ended(number, WalkEnd.GOAL, 0, steps)
        if steps == self._most_steps:
            return Ended(number, WalkEnd.LIMIT, 0, steps)
        return None

    def _draw(self, row: Row, number: int, step: int) -> tuple[Entry, Leaf] | None:
        """Let the scheduler choose an enabled event, and draw one of its outcomes."""
        weight, outcomes = self._turns.weight, self._expander.outcomes
        enabled = [
            entry
            for entry in self._expander.enabled(row)
            if weight(entry) and outcomes(entry, row)
        ]
        entry = self._turns.choose(enabled, step)
        if entry is None:
            return None
        word = random_at(self._options.seed, number, step * WORDS + 1)
        return entry, _leaf(outcomes(entry, row), word)


def _leaf(leaves: tuple[Leaf, ...], random: int) -> Leaf:
    if len(leaves) == 1:
        return leaves[0]
    place = below(sum(leaf.weight for leaf in leaves), random)
    for leaf in leaves:
        if place < leaf.weight:
            return leaf
        place -= leaf.weight
    raise AssertionError("a place beyond all weights")
