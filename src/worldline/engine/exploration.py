"""One exhaustive exploration: what it is told, what it has seen, what it found.

The order in which states are visited is a strategy's business: `breadth_first` and
`depth_first` share everything here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from worldline.engine.bounds import BoundHit, Bounds, Meter, bound_that_ended
from worldline.engine.decisions import Decision
from worldline.engine.expand import Expander, Path, Replacing, Successor
from worldline.engine.garbage import few_collections
from worldline.engine.profile import REST, UNTIMED, Untimed
from worldline.engine.room import Container
from worldline.engine.sample import Sample
from worldline.engine.symmetry import Symmetry
from worldline.engine.tables import Entry, Leaf, Row, Service, Tables
from worldline.model.errors import UsageError
from worldline.model.verdicts import UNSEEN

_TICK = 512
"""States expanded between two reports of progress."""

_FOR_GOOD = ("memory", "interrupted", "fingerprints")
"""Bounds that may end a search in the midst of a step."""

_GLANCE = 16
"""States expanded between two looks at the clock."""

SAMPLE = 200
"""States that are kept, at most, to check a declared symmetry on."""


@final
@dataclass(frozen=True, slots=True)
class StateCheck:
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
    """The place where something to report was found.

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
    """Settings of an exploration.

    Attributes
    ----------
    prune
        States for which it is true are not expanded.
    done
        If given, a state in which only faults can happen and which is not done is a
        deadlock.
    keep_going
        Whether to go on after something fatal was found.
    threads
        How many may work at once; no result depends on it.
    exact
        Whether whole states are kept and compared, not only their fingerprints.
    periphery
        Whether to keep the states beyond which nothing new was seen; only
        breadth-first strategies do.
    repeat_cost
        What it costs more to take a state up again for the own steps that were pruned
        in it; None: it is not taken up again. Only `worldline.engine.consequence` asks.
    instead
        Says what stands in the place of which events; None if all may happen.
    """

    prune: Decision | None = None
    done: Decision | None = None
    keep_going: bool = False
    threads: int = 1
    exact: bool = False
    periphery: bool = False
    repeat_cost: int | None = 6
    instead: Replacing | None = None


@final
class Statistics:
    """Counts of what a search has seen so far.

    Attributes
    ----------
    states, generated
        Distinct states; initial states plus every transition produced.
    depth
        States on the longest shortest path (depth-first, and by cost: on the longest
        path by which a state was first met).
    frontier
        States waiting to be expanded.
    pruned
        States not expanded because `Options.prune` said so.
    left_out
        Transitions among those generated that were not looked up, since the same two
        steps in another order lead to the same state.
    cost
        By cost: all states of at most this cost were met and judged.
    executed
        By cost: own steps that were taken first somewhere, by their keys.
    put_off
        By cost: states in which own steps were pruned, ever; those that were taken up
        again are among them.
    held
        By cost: distinct states met, also those that the bound on states keeps from
        counting.
    bytes
        By cost: what the search holds of its states, keys and what waits, after the
        last cost. It depends on the engine.
    """

    def __init__(self) -> None:
        self.states = 0
        self.generated = 0
        self.depth = 0
        self.frontier = 0
        self.pruned = 0
        self.left_out = 0
        self.cost = 0
        self.executed = 0
        self.put_off = 0
        self.held = 0
        self.bytes = 0


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
    symmetry
        If given, of all states that differ in names only one is visited.
    profile
        For a strategy to have its own work timed.
    meter
        Watches time and memory, if that began before.

    Attributes
    ----------
    examined, expanded
        Some of the states that were, kept if there is a symmetry.
    hits
        For each check that reported something, where. With a symmetry, `unfold`
        turns what is found into paths of the system itself.
    unseen
        For each check, in how many states it was neither true nor false; once it has
        reported something, that says nothing more.
    failures
        For each kind of failure met, where.
    deadlock
        Where a deadlock was found.
    next_cost
        Where a bound on cost ended the search, the least cost of a state that waits.
    bound
        The limit that ended the search, if one did.
    large
        Tables that grow with the space; memory is kept for when they double.
    periphery
        With `Options.periphery`, and unless another bound than that on depth, or a
        violation, ended the search: the states at the bound, then level by level those
        before it by which no other was reached first; each level in order of
        fingerprints. With how they were reached.
    unfinished
        What a strategy that can go on has left where it stands; see `lift`. None gives
        back the memory at once.
    """

    def __init__(
        self,
        tables: Tables,
        service: Service,
        roots: list[Row],
        checks: list[StateCheck],
        *,
        bounds: Bounds,
        options: Options,
        progress: Callable[[Statistics, float], None] | None = None,
        symmetry: Symmetry | None = None,
        profile: Untimed = UNTIMED,
        meter: Meter | None = None,
    ) -> None:
        self.profile = profile
        self.tables = tables
        self.service = service
        self.expander = Expander(tables, service, options.instead)
        self.roots = roots
        self.checks = checks
        self.bounds = bounds
        self.options = options
        self.statistics = Statistics()
        self.symmetry = symmetry
        self.examined, self.expanded = Sample(SAMPLE), Sample(SAMPLE)
        self.meter = meter or Meter(bounds)
        self.large: list[Container] = [one.numbers for one in tables.interners]
        self.hits: dict[int, Hit] = {}
        self.unseen = [0] * len(checks)
        self.failures: dict[str, Hit] = {}
        self.deadlock: Hit | None = None
        self.bound: str | None = None
        self.next_cost = 0
        self.periphery: list[tuple[Row, Locate]] = []
        self.unfinished: Any = None
        self._progress = progress
        self._countdown = 1

    @property
    def exhausted(self) -> bool:
        """Whether every reachable state was expanded."""
        return self.bound is None

    def run(self, strategy: Callable[[Exploration], None]) -> None:
        """Explore until the space is exhausted, a bound is hit or something is found.

        Ctrl-C ends the search with the bound ``interrupted`` and what it learned.
        """
        explore = self.profile.timed(REST, strategy)
        with few_collections():
            ended = bound_that_ended(lambda: explore(self))
        self.bound = ended or self.bound
        if self.bound not in (None, "depth"):
            self.periphery = []

    def lift(self, bounds: Bounds) -> None:
        """Set other bounds, for a strategy that goes on where it stood when `run` again.

        Time and memory are counted from now on. `worldline.engine.consequence` can go
        on, in both engines; others would begin anew.

        Raises
        ------
        UsageError
            If the search ended where it cannot go on: in the midst of a step.
        """
        if self.bound in _FOR_GOOD:
            raise UsageError(
                f"a search that ended by {self.bound!r} cannot go on",
                remedy="begin a new one",
            )
        self.bounds, self.meter, self.bound = bounds, Meter(bounds), None

    def tick(self) -> None:
        """Count one expansion; look at the clock, and tell now and then how far it is."""
        self._countdown -= 1
        if self._countdown <= 0:
            self._countdown = _TICK
            self.look()
        elif self._countdown % _GLANCE == 0:
            self.check()

    def check(self) -> None:
        """Raise `BoundHit` if time or memory is used up, or Ctrl-C was pressed."""
        self.meter.check(self.large)

    def look(self) -> None:
        """Look at the clock and at memory, and tell how far the search has come."""
        self.check()
        if self._progress is not None:
            self._progress(self.statistics, self.meter.seconds)

    def row_after(self, hit: Hit) -> Row:
        """Return the state to which a path leads.

        A failed outcome leads nowhere: the state before it is returned.
        """
        return self.expander.follow(self.roots[hit.root], hit.path)

    def canonical(self, row: Row, fingerprint: int) -> tuple[Row, int]:
        """Return the row that is visited for a row, and its fingerprint."""
        if self.symmetry is None:
            return row, fingerprint
        least = self.symmetry.canonical(row)
        return least, fingerprint if least is row else self.tables.fingerprint(least)

    def identity(self, row: Row, fingerprint: int) -> Hashable:
        """Return what tells a state from all others."""
        return tuple(row) if self.options.exact else fingerprint

    def discover(self) -> None:
        """Count one more distinct state."""
        statistics, limit = self.statistics, self.bounds.states
        if limit is not None and statistics.states >= limit:
            raise BoundHit("states")
        statistics.states += 1

    def expand(self, row: Row, fingerprint: int, locate: Locate) -> list[Successor]:
        """Count and return the successors of a state, noting what ends there."""
        successors = self.successors(row, fingerprint, locate)
        self.statistics.generated += len(successors)
        return successors

    def successors(self, row: Row, fingerprint: int, locate: Locate) -> list[Successor]:
        """Return the successors of a state, noting what ends there."""
        self.tick()
        options = self.options
        if options.prune is not None and options.prune(row) is True:
            self.statistics.pruned += 1
            return []
        if self.symmetry is not None:
            self.expanded.add(fingerprint, row)
        successors = self.expander.successors(row, fingerprint)
        if options.done is not None and self.deadlock is None:
            only_faults = all(entry.fault for _, _, entry, _ in successors)
            if only_faults and options.done(row) is False:
                self.deadlock = locate(None)
        return successors

    def fail(self, successor: Successor, locate: Locate) -> None:
        """Note an outcome that is a failure, the first of its kind."""
        _, _, entry, leaf = successor
        kind: str = leaf.detail.failure.kind
        if kind not in self.failures:
            self.failures[kind] = locate((entry, leaf))

    def examine(self, row: Row, fingerprint: int, locate: Locate) -> None:
        """Evaluate all checks that have not reported yet."""
        if self.symmetry is not None:
            self.examined.add(fingerprint, row)
        for number, check in enumerate(self.checks):
            if number in self.hits:
                continue
            verdict = check.decision(row)
            if verdict is check.target:
                self.hits[number] = locate(None)
            elif verdict is UNSEEN:
                self.unseen[number] += 1

    def is_over(self) -> bool:
        """Say whether something was found that ends the search."""
        if self.options.keep_going:
            return False
        fatal = any(self.checks[number].fatal for number in self.hits)
        return fatal or bool(self.failures) or self.deadlock is not None


Locate: TypeAlias = Callable[["tuple[Entry, Leaf] | None"], Hit]
"""Returns where the search is, after one more step if one is given."""
