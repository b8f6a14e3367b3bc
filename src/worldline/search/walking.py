"""A search with random walks, from its beginning to its answer.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007:
section 4 (the search) and 4.3 (live runs to search on from).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from worldline.engine.bounds import BoundHit, Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.expand import Expander
from worldline.engine.exploration import Check, Exploration, Hit, Options
from worldline.engine.tables import Row
from worldline.engine.walks import End, Ended, WalkOptions
from worldline.engine.walks import Walks as ReferenceWalks
from worldline.model.events import Event
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.search.certify import without_faults
from worldline.search.counterexample import DIRECTORY, Counterexamples
from worldline.search.engines import Engine, choose
from worldline.search.moving import Counted, Moving, Pace
from worldline.search.prefix import Prefix
from worldline.search.probe import Prober, UnsafeWalk, Walker
from worldline.search.question import begun, progress_of, reporter
from worldline.search.report import Progress
from worldline.search.stages import Staged, through_stages
from worldline.search.start import Start
from worldline.search.suspect import Dead, Spot, Suspects, Unresolved
from worldline.search.walk_answer import Tally, Unsafe, answer
from worldline.search.walk_report import WalkReport
from worldline.trace.format import Place
from worldline.worlds.audit import audit
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import DirectWalks

LIVE_RUNS = "live runs"
"""The bound of a search that has found as many live runs as were wanted."""

_PATIENCE = 100
"""Walks in a row without a new live run after which no more are looked for."""


def all_of(wanted: list[Property]) -> Property:
    """Return the property that all of some properties hold."""
    name = " and ".join(known.name for known in wanted)
    return Property(
        name,
        PropertyKind.LIVENESS,
        lambda view: all(known.judge(view).holds for known in wanted),
    )


def again(spots: list[Spot], found: Callable[[], int]) -> Iterator[Spot]:
    """Yield the spots in turn, with other walks, until many in a row find nothing.

    Parameters
    ----------
    found
        Says how much was found.
    """
    patience = max(len(spots), _PATIENCE)
    before, since = found(), 0
    for number in itertools.count(len(spots)):
        yield dataclasses.replace(spots[number % len(spots)], number=number)
        since = since + 1 if found() == before else 0
        before = found()
        if since == patience:
            return


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be searched, and how; see `walks.walk`.

    Attributes
    ----------
    wanted
        The properties that matter.
    seed, most_steps, weigh, threads
        How to walk; see `WalkOptions`.
    faults
        Whether faults happen in walks.
    from_, goals
        Where to begin.
    walks, most_states
        How many walks decide about a state, and the most states of a proof.
    emit_live
        How many live runs are wanted; with any, the search ends when it has them.
    """

    wanted: list[Property]
    seed: int
    most_steps: int
    weigh: Callable[[Event], int]
    threads: int
    bounds: Bounds
    engine: Engine
    progress: Callable[[Progress], None] | None
    faults: bool
    from_: Prefix | Place | None
    goals: list[Property]
    walks: int
    most_states: int
    emit_live: int


@final
class Search:
    """One search: what it is told, what it counts, what it found."""

    def __init__(self, system: System, plan: Plan) -> None:
        self._plan = plan
        self._world = TabulatedWorld(system)
        self._staged = Staged(begun(system, plan.from_))
        self._safety = [p for p in plan.wanted if p.kind is PropertyKind.SAFETY]
        self._live = [p for p in plan.wanted if p.kind is PropertyKind.LIVENESS]
        self._engine = choose("breadth-first", plan.engine)
        self._checks = [self._world.decision(p) for p in self._safety]
        self._all_live = all_of(self._live)
        self._goal = self._world.decision(self._all_live)
        self._counted = Counted(self._world)
        self._pace = Pace(self._counted)
        self._walkers: dict[int, Walker] = {}
        self._exploration = self._explore(self._staged)
        self._tally = Tally()

    def close(self) -> None:
        """Free what the walkers hold."""
        for walker in self._walkers.values():
            walker.close()

    def answer(self, out: Path | None, *, traces: bool) -> WalkReport:
        """Check on samples what the search took for granted; confirm what it found.

        Parameters
        ----------
        out
            The file of the first trace; a folder if live runs are wanted.
        """
        audit(self._world)
        plan, staged, tally = self._plan, self._staged, self._tally
        writer = Counterexamples(
            self._world,
            staged.beginning.starts,
            None if plan.emit_live else out,
            write=traces,
            engine=self._engine.engine,
            seed=plan.seed,
            folder=(out if plan.emit_live else None) or DIRECTORY,
        )
        tally.notes[:0] = [*staged.beginning.scope, *staged.notes]
        found = self._exploration, tally
        report = answer(*found, plan.wanted, writer, self._engine)
        return dataclasses.replace(
            report,
            seconds=report.seconds + staged.seconds,
            misses=self._pace.misses,
            hit_rate=self._pace.hit_rate,
            direct_steps=self._pace.moved,
        )

    def run(self) -> None:
        """Search to the depth, then walk."""
        begin = self._staged.beginning
        if any(start.failure is not None for start in begin.starts):
            return
        if self._plan.goals:
            self._stage()
            if self._staged.stopped is not None:
                self._exploration = self._staged.stopped
                self._tally.bound = self._staged.stopped.bound
                return
            self._exploration = self._explore(self._staged)
        search = self._exploration
        search.run(breadth_first)
        if search.bound not in (None, "depth"):  # a violation, time, Ctrl-C
            self._tally.bound = search.bound
            return
        suspects = self._suspects()
        try:
            self._walk_from(self._spots(), suspects)
        except BoundHit as hit:
            self._tally.bound = hit.bound
        except KeyboardInterrupt:
            self._tally.bound = "interrupted"
        self._tally.notes += suspects.notes

    def _stage(self) -> None:
        """Search to the goals, one after the other, and begin where that ends."""

        def explore(starts: list[Start], goal: Check, staged: Staged) -> Exploration:
            seconds = staged.left(self._plan.bounds).seconds
            search = self._exploring(starts, Bounds(seconds=seconds), Options(), goal)
            search.run(self._engine.run)
            return search

        begin = self._staged.beginning
        self._staged = through_stages(self._world, begin, self._plan.goals, explore)

    def _explore(self, staged: Staged) -> Exploration:
        """Return the search before the walks."""
        bounds, options = staged.left(self._plan.bounds), Options(periphery=True)
        return self._exploring(staged.beginning.starts, bounds, options)

    def _exploring(
        self, starts: list[Start], bounds: Bounds, options: Options, *goals: Check
    ) -> Exploration:
        world, progress = self._world, self._plan.progress
        roots = [s.snapshot for s in starts if s.snapshot is not None]
        checks = [Check(one, target=False, fatal=True) for one in self._checks]
        return Exploration(
            world.tables,
            world,
            [world.encode(root) for root in roots],
            [*checks, *goals],
            bounds=bounds,
            options=options,
            progress=None if progress is None else reporter(progress),
        )

    def _suspects(self) -> Suspects:
        plan = self._plan
        prober = Prober(
            self._world,
            self._goal,
            self._walker,
            walks=plan.walks,
            most_states=plan.most_states,
            run=self._engine.run,
        )
        return Suspects(
            prober,
            self._walker,
            Expander(self._world.tables, self._world),
            self._as_walked,
            plan.most_steps,
            self._look,
        )

    def _look(self) -> None:
        """Look at the clock, and tell how far the walks have come."""
        search, report = self._exploration, self._plan.progress
        search.meter.check()
        if report is not None:
            report(
                progress_of(
                    search.statistics,
                    search.meter.seconds,
                    walks=self._tally.paths,
                    walk_steps=self._tally.steps,
                )
            )

    def _walk_from(self, spots: list[Spot], suspects: Suspects) -> None:
        tally, wanted = self._tally, self._plan.emit_live
        spot: Spot | None = None
        try:
            for spot in spots:
                ended = self._walk_once(spot, suspects)
                if ended.end is not End.GOAL:
                    root = self._exploration.roots[spot.root]
                    found = suspects.examine(spot, root, ended)
                    if isinstance(found, Dead):
                        tally.dead = spot, found
                        return
                    tally.unresolved += isinstance(found, Unresolved)
                if wanted and len(tally.live_runs) == wanted:
                    tally.bound = LIVE_RUNS
                    return
            for spot in again(spots, lambda: len(tally.live_runs)) if wanted else ():
                self._walk_once(spot, suspects)
                if len(tally.live_runs) == wanted:
                    return
            if wanted:
                known = len(tally.live_runs)
                tally.notes.append(f"only {known} live runs were found, not {wanted}")
        except UnsafeWalk as met:
            assert spot is not None
            tally.unsafe = self._unsafe(met, spot)

    def _walk_once(self, spot: Spot, suspects: Suspects) -> Ended:
        """Walk from a spot; a run that becomes live is kept if it is wanted."""
        self._look()
        tally = self._tally
        ended = suspects.walk(spot)
        tally.paths += 1
        tally.steps += ended.steps
        if ended.end is End.GOAL:
            tally.live += ended.steps == 0 and spot.number < tally.periphery
            if self._plan.emit_live:
                path = suspects.path(spot)
                run = spot.root, [*spot.path, *path]
                if run not in tally.live_runs:
                    tally.live_runs.append(run)
        return ended

    def _spots(self) -> list[Spot]:
        """Return where to walk from: what differs in faults left only is one."""
        found: list[Spot] = []
        seen: set[int] = set()
        for row, locate in self._exploration.periphery:
            start = self._as_walked(row)
            fingerprint = self._world.tables.fingerprint(start)
            if fingerprint not in seen:
                seen.add(fingerprint)
                hit = locate(None)
                found.append(Spot(len(found), hit.root, hit.path, start))
        self._tally.periphery = len(found)
        return found

    def _as_walked(self, row: Row) -> Row:
        return row if self._plan.faults else without_faults(self._world, row)

    def _walker(self, most_steps: int) -> Walker:
        """Return who walks with a bound."""
        known = self._walkers.get(most_steps)
        if known is None:
            known = self._walkers[most_steps] = self._new_walker(most_steps)
        return known

    def _new_walker(self, most_steps: int) -> Walker:
        plan, world = self._plan, self._world
        options = WalkOptions(
            seed=plan.seed,
            most_steps=most_steps,
            weight=lambda entry: plan.weigh(entry.event),
            checks=tuple((one, False) for one in self._checks),
            goal=self._goal,
            threads=plan.threads,
            gives_up=self._pace.gives_up,
        )
        direct = DirectWalks(
            world,
            seed=plan.seed,
            most_steps=most_steps,
            weigh=plan.weigh,
            checks=self._safety,
            goal=self._all_live,
        )
        return Moving(self._over_tables(options), direct, self._pace)

    def _over_tables(self, options: WalkOptions) -> Walker:
        if self._engine.engine == "python":
            return ReferenceWalks(self._world.tables, self._counted, options)
        from worldline.engine.native.walks import Walks

        return Walks(self._world.tables, self._counted, options)

    def _unsafe(self, met: UnsafeWalk, spot: Spot) -> Unsafe:
        hit = Hit(spot.root, met.path)
        is_hit = met.ended.end is End.HIT
        return Unsafe(hit, self._safety[met.ended.what] if is_hit else None)
