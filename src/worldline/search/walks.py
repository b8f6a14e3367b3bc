"""Liveness by random walks from the periphery of an exhaustive search.

`walk` is what users call. It finds runs after which what should become true in the
end no longer can; it never proves that there are none.

References
----------
Killian, Anderson, Jhala, Vahdat, "Life, Death, and the Critical Transition", NSDI 2007:
section 4 (the search), 4.1 (`suspect`, `critical`), 4.2 (`weights`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import final

from worldline.engine.bounds import BoundHit, Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.expand import Expander
from worldline.engine.exploration import Check, Exploration, Hit, Options, Statistics
from worldline.engine.tables import Row
from worldline.engine.walks import End, WalkOptions
from worldline.engine.walks import Walks as ReferenceWalks
from worldline.model.divergence import watched
from worldline.model.errors import UsageError
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.view import View
from worldline.search.certify import without_faults
from worldline.search.counterexample import Counterexamples
from worldline.search.engines import Engine, choose, processors
from worldline.search.probe import Prober, UnsafeWalk, Walker
from worldline.search.question import chosen_properties, reporter
from worldline.search.report import Progress
from worldline.search.start import starts
from worldline.search.suspect import Dead, Spot, Suspects, Unresolved
from worldline.search.walk_answer import Tally, Unsafe, answer
from worldline.search.walk_report import WalkReport
from worldline.search.weights import weigher
from worldline.worlds.audit import audit
from worldline.worlds.tabulated import TabulatedWorld


def walk(
    system: System,
    *,
    depth: int = 6,
    max_steps: int = 10_000,
    walks: int = 60,
    seed: int = 0,
    unbiased: bool = False,
    weights: Mapping[str, int] | None = None,
    walk_faults: bool = False,
    certify: int = 20_000,
    max_seconds: float | None = None,
    properties: list[str] | None = None,
    engine: Engine = "auto",
    workers: int | None = None,
    out: Path | str | None = None,
    traces: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> WalkReport:
    """Search for runs after which the system can never become live.

    Every run is searched to a depth, and from each state beyond which nothing new was
    seen a random walk goes on until all liveness properties hold at once. Of one that
    does not get there, the critical transition is looked for.

    Parameters
    ----------
    depth, max_steps
        States on a path of the search, the initial one counted; events on a walk,
        doubled by itself where that was not enough.
    walks, certify
        How many walks decide whether a state is dead, and how many states may be
        visited to prove it instead; 0 for no proofs.
    unbiased, weights
        Whether all events are as likely, and the weights of some: by the name of a
        message class, timer or call, or by a kind of event.
    walk_faults
        Whether the faults that are left happen in walks, too.
    seed, workers
        Same seed, same result, with any engine on any number of threads.
    """
    _refuse_too_little(depth=depth, max_steps=max_steps, walks=walks)
    wanted = _wanted(system, properties)
    options = WalkOptions(
        seed=seed,
        most_steps=max_steps,
        weight=weigher(system, unbiased=unbiased, weights=weights),
        threads=workers or processors(),
    )
    bounds = Bounds(depth=depth, seconds=max_seconds)
    report = None if progress is None else reporter(progress)
    search = _Search(system, wanted, options, bounds, engine, report, walk_faults)
    with watched(), contextlib.closing(search):
        search.run(walks, certify)
        return search.answer(None if out is None else Path(out), traces=traces)


def all_of(wanted: list[Property]) -> Callable[[View], bool]:
    """Return the predicate that says whether all of some properties hold."""
    return lambda view: all(known.judge(view).holds for known in wanted)


def _refuse_too_little(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise UsageError(f"{name}={number} is too little", remedy="give at least 1")


def _wanted(system: System, names: list[str] | None) -> list[Property]:
    wanted = chosen_properties(system, names)
    if not any(known.kind is PropertyKind.LIVENESS for known in wanted):
        raise UsageError(
            f"{system.name} has no liveness property to search for",
            remedy="declare one with @wl.liveness, or use check",
        )
    return wanted


@final
class _Search:
    """One search: what it is told, what it counts, what it found."""

    def __init__(
        self,
        system: System,
        wanted: list[Property],
        options: WalkOptions,
        bounds: Bounds,
        engine: Engine,
        progress: Callable[[Statistics, float], None] | None,
        faults: bool,
    ) -> None:
        self._wanted = wanted
        self._world = TabulatedWorld(system)
        with watched():
            self._starts = starts(system)
        self._safety = [p for p in wanted if p.kind is PropertyKind.SAFETY]
        self._live = [p for p in wanted if p.kind is PropertyKind.LIVENESS]
        self._options = options
        self._faults = faults
        self._engine = choose("breadth-first", engine)
        self._goal = self._world.decision(all_of(self._live))
        self._checks = [self._world.decision(p) for p in self._safety]
        self._walkers: dict[int, Walker] = {}
        roots = [start for start in self._starts if start.snapshot is not None]
        self._exploration = Exploration(
            self._world.tables,
            self._world,
            [self._world.encode(s.snapshot) for s in roots if s.snapshot is not None],
            [Check(one, target=False, fatal=True) for one in self._checks],
            bounds=bounds,
            options=Options(periphery=True),
            progress=progress,
        )
        self._tally = Tally()

    def close(self) -> None:
        """Free what the walkers hold."""
        for walker in self._walkers.values():
            walker.close()

    def answer(self, out: Path | None, *, traces: bool) -> WalkReport:
        """Check on samples what the search took for granted; confirm what it found."""
        audit(self._world)
        writer = Counterexamples(
            self._world,
            self._starts,
            out,
            write=traces,
            engine=self._engine.engine,
            seed=self._options.seed,
        )
        found = self._exploration, self._tally
        return answer(*found, self._wanted, writer, self._engine)

    def run(self, walks: int, most_states: int) -> None:
        """Search to the depth, then walk."""
        search = self._exploration
        if any(start.failure is not None for start in self._starts):
            return
        search.run(breadth_first)
        if search.bound not in (None, "depth"):  # a violation, time, Ctrl-C
            self._tally.bound = search.bound
            return
        prober = Prober(
            self._world,
            self._goal,
            self._walker,
            walks=walks,
            most_states=most_states,
            run=self._engine.run,
        )
        suspects = Suspects(
            prober,
            self._walker,
            Expander(self._world.tables, self._world),
            self._as_walked,
            self._options.most_steps,
            search.meter.check,
        )
        try:
            self._walk_from(self._spots(), suspects)
        except BoundHit as hit:
            self._tally.bound = hit.bound
        except KeyboardInterrupt:
            self._tally.bound = "interrupted"
        self._tally.notes += suspects.notes

    def _walk_from(self, spots: list[Spot], suspects: Suspects) -> None:
        tally = self._tally
        spot: Spot | None = None
        try:
            for spot in spots:
                self._exploration.meter.check()
                ended = suspects.walk(spot)
                tally.paths += 1
                tally.steps += ended.steps
                if ended.end is End.GOAL:
                    tally.live += ended.steps == 0
                    continue
                root = self._exploration.roots[spot.root]
                found = suspects.examine(spot, root, ended)
                if isinstance(found, Dead):
                    tally.dead = spot, found
                    return
                tally.unresolved += isinstance(found, Unresolved)
        except UnsafeWalk as met:
            assert spot is not None
            tally.unsafe = self._unsafe(met, spot)

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
        return row if self._faults else without_faults(self._world, row)

    def _walker(self, most_steps: int) -> Walker:
        """Return who walks with a bound."""
        known = self._walkers.get(most_steps)
        if known is None:
            given = self._options
            options = WalkOptions(
                seed=given.seed,
                most_steps=most_steps,
                weight=given.weight,
                checks=tuple((one, False) for one in self._checks),
                goal=self._goal,
                threads=given.threads,
            )
            known = self._walkers[most_steps] = self._new_walker(options)
        return known

    def _new_walker(self, options: WalkOptions) -> Walker:
        if self._engine.engine == "python":
            return ReferenceWalks(self._world.tables, self._world, options)
        from worldline.engine.native.walks import Walks

        return Walks(self._world.tables, self._world, options)

    def _unsafe(self, met: UnsafeWalk, spot: Spot) -> Unsafe:
        hit = Hit(spot.root, met.path)
        is_hit = met.ended.end is End.HIT
        return Unsafe(hit, self._safety[met.ended.what] if is_hit else None)
