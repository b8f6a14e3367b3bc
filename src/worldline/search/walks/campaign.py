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
from pathlib import Path
from typing import final

from worldline.engine.bounds import Bounds, bound_that_ended
from worldline.engine.expand import Expander
from worldline.engine.exploration import Exploration, Hit, Options, StateCheck
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, WalkEnd
from worldline.model.counts import counted
from worldline.model.system import System
from worldline.runs.start import Start
from worldline.search.counterexample import Counterexamples
from worldline.search.stages import Staged, moved
from worldline.search.walks.certify import without_faults
from worldline.search.walks.dead_state import Dead, Spot, Suspects, Unresolved
from worldline.search.walks.live_prefix import (
    NOT_LIVE,
    PATIENCE,
    UnsafeLead,
    live_run,
)
from worldline.search.walks.plan import LivePlan
from worldline.search.walks.probe import Prober, UnsafeWalk
from worldline.search.walks.report import WalkReport
from worldline.search.walks.verdict import Tally, Unsafe, answer
from worldline.search.walks.walk_search import WalkSearch
from worldline.search.walks.walkers import Walkers
from worldline.search.walks.witnesses import reached_before, reached_on_walks, witnesses

LIVE_RUNS = "live runs"
"""The bound of a search that has found as many live runs as were wanted."""

_LONG_S = 10.0
"""Seconds of probing about which nothing is said."""

_PATIENCE = 100
"""Walks in a row without a new live run after which no more are looked for."""


def again(spots: list[Spot], count: Callable[[], int]) -> Iterator[Spot]:
    """Yield the spots in turn, with other walks, until many in a row find nothing.

    Parameters
    ----------
    count
        Says how much was found.
    """
    patience = max(len(spots), _PATIENCE)
    before, since = count(), 0
    for number in itertools.count(len(spots)):
        yield dataclasses.replace(spots[number % len(spots)], number=number)
        since = since + 1 if count() == before else 0
        before = count()
        if since == patience:
            return


@final
class Search(WalkSearch[LivePlan]):
    """One search: what it is told, what it counts, what it found."""

    def __init__(self, system: System, plan: LivePlan) -> None:
        super().__init__(system, plan)
        self._walkers = Walkers(
            self._world, plan, self._engine.engine, meter=self._meter
        )
        self._exploration = self._explore(self._staged)
        self._tally = Tally()

    def close(self) -> None:
        """Free what the walkers hold."""
        self._walkers.close()

    def answer(self, out: Path | None, *, traces: bool) -> WalkReport:
        """Check on samples what the search took for granted; confirm what it found.

        Parameters
        ----------
        out
            The file of the first trace; a folder if live runs are wanted.
        """
        notes, ended = self._audit([])
        self._tally.notes += notes
        self._tally.bound = self._tally.bound or ended
        plan, staged, tally = self._plan, self._staged, self._tally
        writer = Counterexamples(
            self._world,
            staged.beginning,
            None if plan.emit_live else out,
            write=traces,
            engine=self._engine.engine,
            seed=plan.options.seed,
            folder=out if plan.emit_live else None,
        )
        if tally.probing_s > max(_LONG_S, self._meter.seconds / 2):
            tally.notes.append(
                f"{tally.probing_s:.0f} s went into probes of states that may be dead: "
                "--probes and --certify say how much each may take"
            )
        tally.notes[:0] = [*staged.beginning.scope, *staged.all_notes]
        work = self._exploration, tally
        report = answer(*work, plan.wanted, writer, self._engine)
        pace = self._walkers.pace
        return dataclasses.replace(
            report,
            misses=pace.misses,
            hit_rate=pace.hit_rate,
            remembered_steps=pace.remembered,
            direct_steps=pace.direct,
        )

    def run(self) -> None:
        """Search to the depth, then walk."""
        begin = self._staged.beginning
        if any(start.failure is not None for start in begin.starts):
            return
        if self._plan.from_live:
            ended = bound_that_ended(self._begin_live)
            self._tally.bound = ended or self._tally.bound
            if self._tally.bound or self._tally.unsafe:
                return
        if self._plan.goals:
            stopped = self._stage(self._explore_to)
            if stopped is not None:
                self._exploration, self._tally.bound = stopped, stopped.bound
                return
        if self._plan.from_live or self._plan.goals:
            self._exploration = self._explore(self._staged)
        self._search_and_walk()
        while self._may_go_deeper():
            # As MaceMC raised it: NSDI 2007, section 4.1.
            depth = self._exploration.statistics.depth + 1
            self._exploration = self._explore(self._staged, depth)
            self._search_and_walk()

    def _begin_live(self) -> None:
        """Begin where a walk without faults becomes live."""
        begin, tally, walkers = self._staged.beginning, self._tally, self._walkers
        world, most_steps = self._world, self._plan.most_steps
        rows = [without_faults(world, row) for row in self._exploration.roots]
        try:
            hit = live_run(walkers.of(most_steps), rows, self._look)
        except UnsafeLead as lead:
            tally.unsafe = self._unsafe(lead.met, lead.spot)
            return
        if hit is None:
            tally.bound = NOT_LIVE
            tally.notes.append(
                f"none of {PATIENCE} walks became live within "
                f"{counted(most_steps, 'step')}: give more --max-steps"
            )
            return
        end = "the end of a live run"
        self._staged = Staged(moved(world, begin, hit, walkers.live, end))

    def _search_and_walk(self) -> None:
        search, tally = self._exploration, self._tally
        search.run(self._engine.run)
        safe = len(self._walkers.checks)
        tally.reached |= reached_before(search, self._plan.wanted, safe)
        if search.bound not in (None, "depth"):  # a violation, time, Ctrl-C
            tally.bound = search.bound
            return
        suspects = self._suspects()
        spots, before = self._spots(), tally.walks
        tally.live = 0

        def walk() -> None:
            self._walk_from(spots, suspects)
            walked = spots[: tally.walks - before]
            self._look_for_witnesses(walked, suspects.most_steps)

        ended = bound_that_ended(walk)
        tally.bound = ended or tally.bound
        tally.notes += suspects.notes
        tally.probing_s += suspects.probing_s

    def _may_go_deeper(self) -> bool:
        """Whether a budget is left that was given, and more can be walked from."""
        plan, tally = self._plan, self._tally
        budgets = plan.options.walks, plan.events, plan.bounds.seconds
        ending = tally.dead or tally.unsafe or tally.bound
        is_larger = self._exploration.bound == "depth" and tally.periphery > 0
        return any(budgets) and not ending and is_larger and not plan.emit_live

    def _explore_to(self, starts: list[Start], goal: StateCheck) -> Exploration:
        """Search for a state in which a goal is true."""
        search = self._exploring(starts, [*self._checks(), goal], Bounds(), Options())
        search.run(self._engine.run)
        return search

    def _explore(self, staged: Staged, depth: int | None = None) -> Exploration:
        """Return the search before the walks."""
        bounds = Bounds(depth=depth or self._plan.bounds.depth)
        options = Options(periphery=True, threads=self._plan.threads)
        sometimes = [
            StateCheck(self._world.decision(prop), target=True, fatal=False)
            for prop in witnesses(self._plan.wanted)
        ]
        checks = [*self._checks(), *sometimes]
        return self._exploring(staged.beginning.starts, checks, bounds, options)

    def _checks(self) -> list[StateCheck]:
        return [
            StateCheck(one, target=False, fatal=True) for one in self._walkers.checks
        ]

    def _suspects(self) -> Suspects:
        plan = self._plan
        prober = Prober(
            self._world,
            self._walkers.goal,
            self._walkers.of,
            walks=plan.probes,
            most_states=plan.most_states,
            run=self._engine.run,
            meter=self._meter,
        )
        return Suspects(
            prober,
            self._walkers.of,
            Expander(self._world.tables, self._world),
            self._as_walked,
            plan.most_steps,
            self._look,
        )

    def _look(self) -> None:
        tally = self._tally
        self._tell(tally.walks, tally.steps, self._exploration.statistics)

    def _walk_from(self, spots: list[Spot], suspects: Suspects) -> None:
        tally, wanted = self._tally, self._plan.emit_live
        spot: Spot | None = None
        try:
            for spot, ended in suspects.walk_each(spots):
                self._count(spot, ended, suspects)
                if ended.end is not WalkEnd.GOAL:
                    root = self._exploration.roots[spot.root]
                    suspect = suspects.examine(spot, root, ended)
                    if isinstance(suspect, Dead):
                        tally.dead = spot, suspect
                        return
                    tally.unresolved += isinstance(suspect, Unresolved)
                tally.bound = self._plan.spent(tally.walks, tally.steps)
                if wanted and len(tally.live_runs) == wanted:
                    tally.bound = LIVE_RUNS
                if tally.bound is not None:
                    return
            for spot in again(spots, lambda: len(tally.live_runs)) if wanted else ():
                ((_, ended),) = suspects.walk_each([spot])
                self._count(spot, ended, suspects)
                if len(tally.live_runs) == wanted:
                    return
            if wanted:
                total = len(tally.live_runs)
                tally.notes.append(f"only {total} live runs were found, not {wanted}")
        except UnsafeWalk as met:
            assert spot is not None
            tally.unsafe = self._unsafe(met, spot)

    def _look_for_witnesses(self, spots: list[Spot], most_steps: int) -> None:
        plan = dataclasses.replace(self._plan, most_steps=most_steps)
        reached_on_walks(
            self._world,
            plan,
            self._engine.engine,
            spots,
            self._tally.reached,
            self._meter,
        )

    def _count(self, spot: Spot, ended: Ended, suspects: Suspects) -> None:
        """Count a walk from a spot; if it became live, it is kept if it is wanted."""
        suspects.refuse_unsafe(spot, ended)
        tally = self._tally
        tally.walks += 1
        tally.steps += ended.steps
        if ended.end is WalkEnd.GOAL:
            tally.live += ended.steps == 0 and spot.number < tally.periphery
            if self._plan.emit_live:
                path = suspects.path(spot)
                run = spot.root, [*spot.path, *path]
                if run not in tally.live_runs:
                    tally.live_runs.append(run)

    def _spots(self) -> list[Spot]:
        """Return where to walk from: what differs in faults left only is one."""
        spots: list[Spot] = []
        seen: set[int] = set()
        for row, locate in self._exploration.periphery:
            start = self._as_walked(row)
            fingerprint = self._world.tables.fingerprint(start)
            if fingerprint not in seen:
                seen.add(fingerprint)
                hit = locate(None)
                spots.append(Spot(len(spots), hit.root, hit.path, start))
        self._tally.periphery = len(spots)
        return spots

    def _as_walked(self, row: Row) -> Row:
        return row if self._plan.faults else without_faults(self._world, row)

    def _unsafe(self, met: UnsafeWalk, spot: Spot) -> Unsafe:
        hit = Hit(spot.root, met.path)
        is_hit = met.ended.end is WalkEnd.HIT
        return Unsafe(hit, self._walkers.safety[met.ended.what] if is_hit else None)
