"""Random runs from the beginning, with every property judged at each step.

A deep bug that a search in order of depth never comes to is often a random run away: the
model checker TLC has its simulation mode for that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import final

from worldline.engine.bounds import BoundHit, Bounds, Meter, bound_that_ended
from worldline.engine.exploration import (
    Exploration,
    Hit,
    Options,
    StateCheck,
    Statistics,
)
from worldline.engine.garbage import few_collections
from worldline.engine.room import MIB, give_back
from worldline.engine.schedulers.weighted import Weighted
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, Reached, WalkEnd
from worldline.model.network.mailbox import Capability
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.runs.start import Start
from worldline.search.counterexample import Counterexamples
from worldline.search.cut import Cut
from worldline.search.vacuity import unjudged
from worldline.search.walks.coverage import Covering
from worldline.search.walks.handover import Counted, Moving, Pace
from worldline.search.walks.nearness import RUNS, STEPS, Nearest, nearest
from worldline.search.walks.plan import RunsPlan
from worldline.search.walks.portfolio import PortfolioTurn, turns
from worldline.search.walks.report import WalkReport
from worldline.search.walks.runs_verdict import Runs, answer
from worldline.search.walks.verdict import Unsafe
from worldline.search.walks.walk_search import WalkSearch
from worldline.search.walks.walkers import walker
from worldline.search.walks.witnesses import witnesses
from worldline.worlds.tabulated import TabulatedWorld

_WORTH, _LASTING = 0.25, 50_000
"""The share of their memory, and the steps over them, for which tables are filled anew."""

NOTHING = "nothing can happen"
"""The bound of runs of which none can take a step: all that are left are like them."""

_LOOK = 256
"""Walks between two looks at the clock, and reports of progress."""

TABLES_SHARE = 0.8
"""The share of the process's memory that tables may have."""


@final
class RandomRuns(WalkSearch[RunsPlan]):
    """One search with random runs: what it is told, what it counts, what it found."""

    def __init__(self, system: System, plan: RunsPlan) -> None:
        super().__init__(system, plan)
        self._tables_meter = _meter_of_tables(self._meter, plan.bounds)
        self._counted = Counted(self._world)
        self._pace = Pace(self._counted)
        self._safety = [p for p in plan.wanted if p.kind is PropertyKind.SAFETY]
        self._sometimes = witnesses(plan.wanted)
        self._runs = Runs()
        self._cut = Cut(system, None, None)
        self._turns = self._all_turns()
        self._covering = Covering()
        self._walker = self._new_walker()
        self._reached: dict[int, Reached] = {}
        self._tabled = 0  # steps over tables when these were empty
        self._unaudited: dict[str, None] = {}  # notes, in order; tables may share some

    def close(self) -> None:
        """Free what the walker holds."""
        self._walker.close()

    def run(self) -> None:
        """Come to where the runs begin, then run."""
        self._runs.failed_start = _failed(self._staged.beginning.starts)
        if self._runs.failed_start is None:
            self._runs.stopped = self._stage(self._explore_to)
        if self._runs.failed_start is None and self._runs.stopped is None:
            with few_collections():
                self._runs.bound = bound_that_ended(self._walk)

    def answer(self, out: Path | None, *, traces: bool) -> WalkReport:
        """Check on samples what the runs took for granted; confirm what they found."""
        with few_collections():  # as there is as much in memory as before
            self._audit_tables()
        writer = Counterexamples(
            self._world,
            self._staged.beginning,
            out,
            write=traces,
            engine=self._walks_with,
            seed=self._plan.options.seed,
            drawn=self._plan.options.drawn(),
        )
        self._add_up()
        staged = self._staged
        assumed = [
            f"assuming {getattr(a, '__name__', 'assume')} in every state"
            for a in self._cut.assumed
        ]
        idle = unjudged(self._world.system, self._plan.wanted)
        scope = [*idle, *assumed, *staged.beginning.scope, *staged.all_notes]
        return answer(
            self._runs,
            self._plan.wanted,
            writer,
            self._covering.coverage(self._world, is_whole=not self._pace.direct),
            self._reached,
            self._nearest,
            self._way,
            seconds=self._meter.seconds,
            pace=self._pace,
            notes=[*filter(None, [self._engine.note]), *scope, *self._unaudited],
        )

    def _audit_tables(self) -> str | None:
        """Run a sample of what is in the tables again; return what ended that early."""
        notes, ended = self._audit(self._cut.functions)
        self._unaudited.update(dict.fromkeys(notes))
        return ended

    def _add_up(self) -> None:
        """Take note of what the walks over the present tables came by."""
        taken = self._walker.taken(self._runs.walks)
        self._covering.add(self._world, self._roots(), taken)
        for number, where in self._walker.reached.items():
            self._reached[number] = min(where, self._reached.get(number, where))

    def _nearest(self, wanted: list[Property]) -> dict[str, Nearest]:
        """Return how near the first runs came to what must be true sometimes."""
        if not wanted or not self._runs.walks:
            return {}
        turn = next(self._all_turns())
        self._walker.use(turn.scheduler, turn.max_steps)
        roots = self._roots()
        runs, left = {}, STEPS
        for number in range(min(self._runs.walks, turn.walks, RUNS)):
            root = roots[number % len(roots)]
            path = self._walker.path(root, number)[:left]
            runs[number], left = (root, path), left - len(path)
            if not left:
                break
        return nearest(self._world, wanted, runs)

    def _way(self, where: Reached) -> Hit:
        """Return how a walk came to a place: it is made once more, as far as that."""
        first, turns = 0, self._all_turns()
        turn = next(turns)
        while where.walk >= first + turn.walks:
            first, turn = first + turn.walks, next(turns)
        self._walker.use(turn.scheduler, turn.max_steps)
        roots = self._roots()
        root = where.walk % len(roots)
        path = self._walker.path(roots[root], where.walk)
        return Hit(root, path[: where.steps])

    def _all_turns(self) -> Iterator[PortfolioTurn]:
        ordered = Capability.ORDERED in self._world.system.network.capabilities
        most = self._plan.options.max_steps
        return turns(self._plan.scheduler, most, ordered=ordered)

    def _roots(self) -> list[Row]:
        starts = self._staged.beginning.starts
        return [self._world.encode(s.snapshot) for s in starts if s.snapshot]

    @property
    def _walks_with(self) -> str:
        """The engine of the runs: the reference asks what the kernel does not know."""
        scheduler = self._plan.scheduler
        has_twin = scheduler is None or scheduler.native is not None
        return self._engine.engine if has_twin else "python"

    def _new_walker(self) -> Moving:
        plan = self._plan
        return walker(
            self._world,
            engine=self._walks_with,
            scheduler=Weighted(),
            weigh=plan.weigh,
            seed=plan.options.seed,
            most_steps=0,
            threads=plan.threads,
            checks=self._safety,
            watches=self._sometimes,
            goal=self._cut.predicate,
            counted=self._counted,
            pace=self._pace,
            meter=self._meter,
            tables_meter=self._tables_meter,
            ran=self._covering.ran,
        )

    def _explore_to(self, starts: list[Start], goal: StateCheck) -> Exploration:
        """Search for a state in which a goal is true."""
        world, cut = self._world, self._cut.predicate
        decisions = [world.decision(prop) for prop in self._safety]
        checks = [StateCheck(one, target=False, fatal=True) for one in decisions]
        options = Options(prune=None if cut is None else world.decision(cut))
        search = self._exploring(starts, [*checks, goal], Bounds(), options)
        search.run(self._engine.run)
        return search

    def _walk(self) -> None:
        for turn in self._turns:
            first = self._runs.walks
            most = first + turn.walks
            if self._plan.options.walks is not None:
                most = min(most, self._plan.options.walks)
            self._walk_turn(range(first, most), turn)
            if self._is_over():
                return
            starts = self._staged.beginning.starts
            if not self._runs.steps and self._runs.walks >= len(starts):
                self._runs.budget = NOTHING
                return

    def _walk_turn(self, numbers: range, turn: PortfolioTurn) -> None:
        """Walk as often as it is the turn of one scheduler."""
        while self._runs.walks < numbers.stop and not self._is_over():
            self._walker.use(turn.scheduler, turn.max_steps)
            roots, left = self._roots(), range(self._runs.walks, numbers.stop)
            try:
                for ended in self._ends(roots, left):
                    self._count(ended, roots, turn)
                    if self._is_over():
                        return
            except (BoundHit, MemoryError) as hit:
                is_memory = isinstance(hit, MemoryError) or hit.bound == "memory"
                if not is_memory or not self._pace.has_tables:
                    raise
                # The walks that are left come to the same ends wherever they walk.
                self._make_room()

    def _make_room(self) -> None:
        """Begin with empty tables, or leave them if that is not worth while."""
        self._add_up()
        lasted, self._tabled = self._pace.steps - self._tabled, self._pace.steps
        if self._audit_tables() == "interrupted":
            raise BoundHit("interrupted")
        self._walker.close()
        anywhere = self._staged.beginning.anywhere
        self._world = TabulatedWorld(self._world.system, anywhere=anywhere)
        self._counted = Counted(self._world)
        self._pace.begin_anew(self._counted)
        self._walker = self._new_walker()
        give_back()
        ceiling = self._tables_meter.ceiling or 0
        try:
            self._tables_meter.need(int(ceiling * _WORTH))
        except BoundHit:
            lasted = 0
        if lasted < _LASTING:
            self._pace.leave_tables()

    def _ends(self, roots: list[Row], numbers: range) -> Iterator[Ended]:
        if len(roots) == 1:
            return self._walker.walk(roots[0], numbers)
        rows = [roots[number % len(roots)] for number in numbers]
        return self._walker.walk_each(rows, numbers.start)

    def _count(self, ended: Ended, roots: list[Row], turn: PortfolioTurn) -> None:
        runs = self._runs
        # A path may need room in the tables. A walk that is not counted is made again.
        if ended.end in (WalkEnd.HIT, WalkEnd.FAILED):
            root = ended.walk % len(roots)
            path = self._walker.path(roots[root], ended.walk)
            prop = self._safety[ended.what] if ended.end is WalkEnd.HIT else None
            runs.found = Unsafe(Hit(root, path), prop)
            runs.found_by = turn.scheduler.name
        runs.walks += 1
        runs.steps += ended.steps
        runs.by_scheduler[turn.scheduler.name] += ended.steps
        runs.budget = self._plan.spent(runs.walks, runs.steps)
        if runs.walks % _LOOK == 0:
            self._tell(runs.walks, runs.steps, Statistics(), self._local_states())

    def _local_states(self) -> int:
        """Return how many states of single nodes are known."""
        layout, interners = self._world.system.layout, self._world.tables.interners
        nodes = range(len(self._world.system.ids))
        distinct = {id(one): one for n in nodes for one in [interners[layout.local(n)]]}
        return sum(map(len, distinct.values()))

    def _is_over(self) -> bool:
        return self._runs.found is not None or self._runs.budget is not None


def _failed(starts: list[Start]) -> Start | None:
    return next((start for start in starts if start.failure is not None), None)


def _meter_of_tables(meter: Meter, bounds: Bounds) -> Meter:
    """Return what watches over tables: they may have a share of the memory."""
    if meter.ceiling is None:
        return meter
    most = max(1, int(meter.ceiling * TABLES_SHARE / MIB))
    return Meter(dataclasses.replace(bounds, memory_mb=most))
