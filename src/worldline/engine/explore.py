"""Exhaustive exploration: breadth-first, and depth-first within a depth.

States are remembered by their 64-bit fingerprints. Each level of the breadth-first
search is processed in the order of fingerprints, and the events of a state in
canonical order; so which path leads to a state, and which violation is reported, is
a matter of content alone, the same in every process.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander, Successor
from worldline.engine.tables import Entry, Leaf, Row, Service, Tables

Path: TypeAlias = list[tuple[Entry, Leaf]]
"""Events with their outcomes, from an initial state on."""

_TICK = 512
"""States expanded between two looks at the clock."""


@final
@dataclass(frozen=True, slots=True)
class Check:
    """A predicate evaluated on every state, and the verdict that ends the matter.

    Attributes
    ----------
    decision
        The predicate.
    target
        The value to report: False for what must always hold, True for what must
        hold somewhere.
    fatal
        Whether a report ends the search after its level.
    """

    decision: Decision
    target: bool
    fatal: bool


@final
@dataclass(frozen=True, slots=True)
class Hit:
    """Where something to report was found.

    Attributes
    ----------
    root
        The number of the initial state.
    path
        How to get there.
    """

    root: int
    path: Path


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to explore.

    Attributes
    ----------
    prune
        States for which it is true are not expanded.
    done
        If given, a state in which only faults can happen and which is not done is a
        deadlock.
    keep_going
        Whether to go on after something fatal was found.
    """

    prune: Decision | None = None
    done: Decision | None = None
    keep_going: bool = False


@final
class Statistics:
    """What a search has seen so far.

    Attributes
    ----------
    states, generated
        Distinct states; initial states plus every transition produced.
    depth
        States on the longest shortest path (depth-first: on the longest path).
    frontier
        States waiting to be expanded.
    pruned
        States not expanded because `Options.prune` said so.
    """

    def __init__(self) -> None:
        self.states = 0
        self.generated = 0
        self.depth = 0
        self.frontier = 0
        self.pruned = 0


@final
class Exploration:
    """One search: what it is told, what it has seen and what it found.

    Parameters
    ----------
    roots
        The initial states.
    checks
        What is evaluated on every state.
    progress
        Called now and then with the statistics and the seconds so far.

    Attributes
    ----------
    hits
        For each check that reported something, where.
    failures
        For each kind of failure met, where.
    deadlock
        Where a deadlock was found.
    bound
        The limit that ended the search, if one did.
    """

    def __init__(
        self,
        tables: Tables,
        service: Service,
        roots: list[Row],
        checks: list[Check],
        *,
        bounds: Bounds,
        options: Options,
        progress: Callable[[Statistics, float], None] | None = None,
    ) -> None:
        self.tables = tables
        self.expander = Expander(tables, service)
        self.roots = roots
        self.checks = checks
        self.bounds = bounds
        self.options = options
        self.statistics = Statistics()
        self.meter = Meter(bounds)
        self.hits: dict[int, Hit] = {}
        self.failures: dict[str, Hit] = {}
        self.deadlock: Hit | None = None
        self.bound: str | None = None
        self._progress = progress
        self._countdown = _TICK

    @property
    def exhausted(self) -> bool:
        """Whether every reachable state was expanded."""
        return self.bound is None

    def run(self, strategy: Callable[[Exploration], None]) -> None:
        """Explore until the space is exhausted, a bound is hit or something is found.

        Ctrl-C ends the search with the bound ``interrupted`` and what it learned.
        """
        try:
            strategy(self)
        except BoundHit as hit:
            self.bound = hit.bound
        except KeyboardInterrupt:
            self.bound = "interrupted"

    def tick(self) -> None:
        """Count one expansion; look at the clock now and then."""
        self._countdown -= 1
        if self._countdown <= 0:
            self._countdown = _TICK
            self.meter.check()
            if self._progress is not None:
                self._progress(self.statistics, self.meter.seconds)

    def discover(self) -> None:
        """Count one more distinct state."""
        statistics, limit = self.statistics, self.bounds.states
        if limit is not None and statistics.states >= limit:
            raise BoundHit("states")
        statistics.states += 1

    def expand(self, row: Row, fingerprint: int, locate: Locate) -> list[Successor]:
        """Return the successors of a state that is expanded, noting what ends there."""
        self.tick()
        options = self.options
        if options.prune is not None and options.prune(row):
            self.statistics.pruned += 1
            return []
        found = self.expander.successors(row, fingerprint)
        self.statistics.generated += len(found)
        if options.done is not None and self.deadlock is None:
            stuck = all(entry.fault for _, _, entry, _ in found)
            if stuck and not options.done(row):
                self.deadlock = locate(None)
        return found

    def fail(self, successor: Successor, locate: Locate) -> None:
        """Note an outcome that is a failure, the first of its kind."""
        _, _, entry, leaf = successor
        kind: str = leaf.detail.failure.kind
        if kind not in self.failures:
            self.failures[kind] = locate((entry, leaf))

    def examine(self, row: Row, locate: Locate) -> None:
        """Evaluate all checks that have not reported yet."""
        for number, check in enumerate(self.checks):
            if number not in self.hits and check.decision(row) is check.target:
                self.hits[number] = locate(None)

    def is_over(self) -> bool:
        """Say whether something was found that ends the search."""
        if self.options.keep_going:
            return False
        fatal = any(self.checks[number].fatal for number in self.hits)
        return fatal or bool(self.failures) or self.deadlock is not None


Locate: TypeAlias = Callable[["tuple[Entry, Leaf] | None"], Hit]
"""Returns where the search is, after one more step if one is given."""


@final
class _Tree:
    """How each state was first reached: three integers for each."""

    def __init__(self) -> None:
        self.parents = array("q")
        self.entries = array("l")
        self.leaves = array("l")

    def add(self, parent: int, entry: int, leaf: int) -> int:
        self.parents.append(parent)
        self.entries.append(entry)
        self.leaves.append(leaf)
        return len(self.parents) - 1

    def locate(
        self, tables: Tables, index: int, last: tuple[Entry, Leaf] | None
    ) -> Hit:
        path = [] if last is None else [last]
        while (parent := self.parents[index]) >= 0:
            entry = tables.entries[self.entries[index]]
            path.append((entry, tables.leaves[self.leaves[index]]))
            index = parent
        return Hit(-1 - parent, path[::-1])


def breadth_first(search: Exploration) -> None:
    """Explore level by level; the paths found are the shortest."""
    tree, tables, statistics = _Tree(), search.tables, search.statistics
    seen: set[int] = set()
    level: list[tuple[int, Row, int]] = []
    for number, row in enumerate(search.roots):
        statistics.generated += 1
        fingerprint = tables.fingerprint(row)
        if fingerprint not in seen:
            search.discover()
            seen.add(fingerprint)
            level.append((fingerprint, row, tree.add(-1 - number, 0, 0)))
    while level:
        level.sort(key=_by_fingerprint)
        statistics.depth += 1
        tables.tick(statistics.depth + 1)
        for _, row, index in level:
            search.examine(row, lambda last, at=index: tree.locate(tables, at, last))
        if search.is_over():
            break
        if statistics.depth == search.bounds.depth:
            raise BoundHit("depth")
        level = _next_level(search, tree, seen, level)
    if search.is_over():
        search.bound = "first violation"


def _by_fingerprint(state: tuple[int, Row, int]) -> int:
    return state[0]


def _next_level(
    search: Exploration, tree: _Tree, seen: set[int], level: list[tuple[int, Row, int]]
) -> list[tuple[int, Row, int]]:
    found: list[tuple[int, Row, int]] = []
    statistics, tables = search.statistics, search.tables
    for done, (fingerprint, row, index) in enumerate(level):
        statistics.frontier = len(level) - done + len(found)

        def locate(last: tuple[Entry, Leaf] | None, at: int = index) -> Hit:
            return tree.locate(tables, at, last)

        for successor in search.expand(row, fingerprint, locate):
            total, new, entry, leaf = successor
            if leaf.failed:
                search.fail(successor, locate)
            elif total not in seen:
                search.discover()
                seen.add(total)
                found.append((total, new, tree.add(index, entry.number, leaf.number)))
    statistics.frontier = len(found)
    return found


def depth_first(search: Exploration) -> None:
    """Explore each path to the bound on depth before its siblings.

    A state that is met again nearer to the start is expanded again, so that within
    the bound nothing is missed. Uses less memory than breadth-first search for the
    frontier, but paths are not the shortest.
    """
    statistics, tables = search.statistics, search.tables
    depths: dict[int, int] = {}
    cut = False
    for root, row in enumerate(search.roots):
        statistics.generated += 1
        path: Path = []
        locate = _locator(root, path)
        stack: list[Iterator[Successor]] = []
        first = (tables.fingerprint(row), row, None)
        pending: Successor | tuple[int, Row, None] | None = first
        while True:
            if pending is not None:
                cut |= _enter(search, depths, stack, path, pending, locate)
                if search.is_over():
                    search.bound = "first violation"
                    return
            if not stack:
                break
            pending = next(stack[-1], None)
            if pending is None:
                stack.pop()
                if path:
                    path.pop()
    if cut:
        raise BoundHit("depth")


def _locator(root: int, path: Path) -> Locate:
    def locate(last: tuple[Entry, Leaf] | None) -> Hit:
        return Hit(root, list(path) if last is None else [*path, last])

    return locate


def _enter(
    search: Exploration,
    depths: dict[int, int],
    stack: list[Iterator[Successor]],
    path: Path,
    successor: Successor | tuple[int, Row, None],
    locate: Locate,
) -> bool:
    """Go to a state if it is new or nearer than before; True if the bound cut it."""
    fingerprint, row = successor[0], successor[1]
    is_root = successor[2] is None
    if not is_root and successor[3].failed:  # type: ignore[misc]
        search.fail(successor, locate)  # type: ignore[arg-type]
        return False
    depth = len(stack) + 1
    known = depths.get(fingerprint)
    if known is not None and known <= depth:
        return False
    depths[fingerprint] = depth
    if not is_root:
        path.append((successor[2], successor[3]))  # type: ignore[misc,arg-type]
    statistics = search.statistics
    if known is None:
        search.discover()
        search.examine(row, locate)
    statistics.depth = max(statistics.depth, depth)
    search.tables.tick(depth + 1)
    if depth == search.bounds.depth:
        if not is_root:
            path.pop()
        return True
    stack.append(iter(search.expand(row, fingerprint, locate)))
    return False
