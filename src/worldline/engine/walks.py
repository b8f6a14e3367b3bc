"""Random walks through the states, in plain Python.

This is the reference that a compiled kernel must agree with. Every random number
depends only on the seed, the walk and the step. So a walk is the same whoever else
walks, and can be walked again to learn its path.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from worldline.engine.bounds import Meter
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander, Path
from worldline.engine.interner import GOLDEN, MASK, splitmix
from worldline.engine.tables import Entry, Leaf, Row, Service, Tables

WORDS = 2
"""Random words of one step: for its event, and for the outcome of that."""


class End(enum.IntEnum):
    """How a walk ended; the kernel has the same numbers.

    `MOVED` is one that has not ended: the tables lacked too much to go on.
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
        Events on it; a failed one is not counted.
    row
        Where one has come to that is to be moved.
    """

    walk: int
    end: End
    what: int
    steps: int
    row: Row | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions:
    """How to walk.

    Attributes
    ----------
    seed
        From which all random numbers come.
    most_steps
        Where a walk ends at the latest.
    weight
        Gives each event a weight, an integer; one without weight never happens.
    checks
        Predicates with the verdict that ends a walk, evaluated in every state.
    goal
        A predicate that ends a walk well.
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
    weight: Callable[[Entry], int]
    checks: tuple[tuple[Decision, bool], ...] = ()
    goal: Decision | None = None
    threads: int = 1
    gives_up: Callable[[int], bool] | None = None
    meter: Meter | None = None


def random_at(seed: int, walk: int, counter: int) -> int:
    """Return a 64-bit random number that depends on nothing but its place."""
    start = splitmix((seed + GOLDEN * (walk + 1)) & MASK)
    return splitmix((start + GOLDEN * (counter + 1)) & MASK)


def below(limit: int, random: int) -> int:
    """Return a number below a limit, from a random word."""
    return random * limit >> 64


@final
class Walks:
    """Walks at random.

    Parameters
    ----------
    tables, service
        What is known, and who works out what is not.
    """

    def __init__(self, tables: Tables, service: Service, options: WalkOptions) -> None:
        self._expander = Expander(tables, service)
        self._options = options

    def walk(self, start: Row, numbers: range) -> Iterator[Ended]:
        """Walk once for each number, from the same state."""
        for number in numbers:
            yield self._walk(start, number, [], self._options.gives_up)[0]

    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]:
        """Walk once from each state; the walks have numbers from `first` on."""
        for number, start in enumerate(starts, first):
            yield self._walk(start, number, [], self._options.gives_up)[0]

    def path(self, start: Row, number: int) -> Path:
        """Return the path of a walk; if it failed, with the failed outcome."""
        path: Path = []
        self._walk(start, number, path, None)
        return path

    def close(self) -> None:
        """Free what is held; nothing here."""

    def _walk(
        self,
        start: Row,
        number: int,
        path: Path,
        gives_up: Callable[[int], bool] | None,
    ) -> tuple[Ended, Row]:
        row, steps, options = start, 0, self._options
        meter = None if gives_up is None else options.meter
        while True:
            if meter is not None:
                meter.check()
            for at, (decision, target) in enumerate(options.checks):
                if decision(row) is target:
                    return Ended(number, End.HIT, at, steps), row
            if options.goal is not None and options.goal(row):
                return Ended(number, End.GOAL, 0, steps), row
            if steps == options.most_steps:
                return Ended(number, End.LIMIT, 0, steps), row
            drawn = self._draw(row, number, steps)
            if drawn is None:
                return Ended(number, End.STUCK, 0, steps), row
            entry, leaf = drawn
            path.append((entry, leaf))
            if leaf.failed:
                return Ended(number, End.FAILED, leaf.number, steps), row
            row = self._expander.after(row, entry, leaf)
            steps += 1
            if gives_up is not None and gives_up(1):
                return Ended(number, End.MOVED, 0, steps, row), row

    def _draw(self, row: Row, number: int, step: int) -> tuple[Entry, Leaf] | None:
        """Draw one of the enabled events by weight, and one of its outcomes."""
        weight, outcomes = self._options.weight, self._expander.outcomes
        enabled = [
            (entry, weight(entry))
            for entry in self._expander.enabled(row)
            if weight(entry) and outcomes(entry, row)
        ]
        total = sum(its for _, its in enabled)
        if not total:
            return None
        first, second = (
            random_at(self._options.seed, number, step * WORDS + word)
            for word in range(WORDS)
        )
        entry = _at(enabled, below(total, first))
        return entry, _leaf(outcomes(entry, row), second)


def _at(offered: list[tuple[Entry, int]], place: int) -> Entry:
    for entry, weight in offered:
        if place < weight:
            return entry
        place -= weight
    raise AssertionError("a place beyond all weights")


def _leaf(leaves: tuple[Leaf, ...], random: int) -> Leaf:
    if len(leaves) == 1:
        return leaves[0]
    place = below(sum(leaf.weight for leaf in leaves), random)
    for leaf in leaves:
        if place < leaf.weight:
            return leaf
        place -= leaf.weight
    raise AssertionError("a place beyond all weights")
