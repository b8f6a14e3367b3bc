"""The question of a search: where to begin, what to evaluate, what to leave out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from worldline.engine.bounds import Bounds, Meter, bound_that_ended
from worldline.engine.decisions import Decision
from worldline.engine.exploration import (
    Exploration,
    Options,
    StateCheck,
    Statistics,
)
from worldline.engine.profile import UNTIMED, Profile
from worldline.engine.room import memory_mb
from worldline.engine.symmetry import Symmetry
from worldline.engine.tables import Service
from worldline.engine.unfold import unfold
from worldline.model.arguments import check_path
from worldline.model.errors import UsageError
from worldline.model.filters import EventFilter
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import heard
from worldline.model.usercode.user_functions import check_function
from worldline.runs.prefix import Prefix, beginning_after
from worldline.runs.record import all_done
from worldline.runs.start import Beginning, Start, starts
from worldline.search.counterexample import Counterexamples
from worldline.search.cut import NAME, Cut
from worldline.search.engines import Chosen
from worldline.search.report import Progress
from worldline.search.stages import Staged, through_stages
from worldline.trace.format import StrPath
from worldline.worlds.instead import Blocking
from worldline.worlds.profiled import ProfiledWorld
from worldline.worlds.purity.audit import audit, audit_handlers
from worldline.worlds.purity.sample import HandlerName
from worldline.worlds.symmetry_check import SymmetryCheck
from worldline.worlds.tabulated import TabulatedWorld


def chosen_properties(system: System, names: Sequence[str] | None) -> list[Property]:
    """Return the properties of these names, each once; all without names."""
    if names is None:
        return list(system.properties)
    by_name = {declared.name: declared for declared in system.properties}
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"{system.name} has no property {name!r}",
                remedy=f"its properties are {', '.join(by_name) or 'none'}",
            )
    return [by_name[name] for name in dict.fromkeys(names)]


def safety_alone(
    system: System, names: Sequence[str] | None, what: str, *, timed: bool = False
) -> tuple[list[Property], list[Property]]:
    """Return the properties that are asked for, and those of them that a state shows.

    Parameters
    ----------
    what
        What judges no others, for the error.
    timed
        Whether it knows a time, at which a liveness property may be due.

    Raises
    ------
    UsageError
        If another one was named.
    """
    wanted = chosen_properties(system, names)
    judged = [
        prop
        for prop in wanted
        if prop.kind is not PropertyKind.LIVENESS or (timed and prop.confidence)
    ]
    if names is not None and len(judged) < len(wanted):
        raise UsageError(
            f"{what} says nothing of liveness properties"
            + (" without a confidence" if timed else ""),
            remedy="use 'worldline walk' for them, or name others",
        )
    return wanted, judged


def begun(
    system: System, from_: Prefix | StrPath | None, onward: System | None = None
) -> Beginning:
    """Return where a search begins: in the initial states, or after a recorded run.

    Parameters
    ----------
    onward
        The system that is searched, if it is one with other faults.
    """
    with watched(), heard():
        if from_ is not None:
            return beginning_after(system, Prefix.of(from_), onward)
        return Beginning(starts(onward or system))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits and settings of a search; see `exhaustive.check`.

    Attributes
    ----------
    meter
        Watches those bounds that depend on the machine, from the beginning on.
    repeat_cost
        What it costs more to take up what was put off; for a prediction.
    filters
        What nodes refuse meanwhile; for a prediction.
    """

    bounds: Bounds
    meter: Meter
    progress: Callable[[Progress], None] | None
    deadlock: bool
    keep_going: bool
    threads: int
    exact: bool
    repeat_cost: int | None = None
    filters: tuple[EventFilter, ...] = ()


@final
class SearchQuery:
    """The question to a system: where to begin and what to evaluate.

    Parameters
    ----------
    wanted
        The properties that were asked for.
    begin
        Where to begin.
    cut
        What to leave out.
    world, verdicts
        A world of the same system, whose tables know something already, and what it
        knows of properties, by name, which is added to.
    folded
        Whether to visit one only of all states that differ in names.
    profile
        Measures where the time goes.

    Attributes
    ----------
    absent
        The names of what nothing is known of where it begins. Then a deadlock would be
        none, as nobody knows what those nodes do; and a symmetry says nothing of them.
    """

    def __init__(
        self,
        system: System,
        wanted: list[Property],
        begin: Beginning,
        cut: Cut,
        *,
        world: TabulatedWorld | None = None,
        verdicts: dict[str, Decision] | None = None,
        folded: bool = False,
        profile: Profile | None = None,
    ) -> None:
        self.profile = profile
        self.system = system
        self.properties = wanted
        self.searched = [p for p in wanted if p.kind is not PropertyKind.LIVENESS]
        self.staged = Staged(begin)
        self.absent = begin.absent
        self.world = world or TabulatedWorld(
            system,
            profile or UNTIMED,
            anywhere=begin.anywhere,
            partial=bool(self.absent),
        )
        self._verdicts = {} if verdicts is None else verdicts
        self.is_staged = False
        self.cut = cut
        may_fold = folded and not self.absent
        self.alike = SymmetryCheck(self.world) if may_fold else None
        self.decisions: dict[str, Decision] = {}
        self.notes: tuple[str, ...] = ()

    @property
    def starts(self) -> list[Start]:
        """The states to begin with."""
        return self.staged.beginning.starts

    @property
    def has_begun(self) -> bool:
        """Whether it came to where it begins, and did not end on the way to a goal."""
        return self.staged.stopped is None

    def stage(
        self,
        goals: list[Property],
        limits: Limits,
        run: Callable[[Exploration], None],
    ) -> None:
        """Search to the goals, one after the other, and begin where that ends.

        All that differs in names is visited: a goal may single out a node.
        """

        def explore(starts: list[Start], goal: StateCheck) -> Exploration:
            plain = dataclasses.replace(limits, keep_going=False)
            search = self._exploration(starts, plain, None, goal)
            search.run(run)
            return search

        if not goals:
            return
        self.is_staged = True
        with watched():
            begin = self.staged.beginning
            self.staged = through_stages(self.world, begin, goals, explore)

    def search(self, limits: Limits) -> Exploration:
        """Return the search of what can follow."""
        symmetry = None if self.alike is None else self.alike.symmetry
        return self._exploration(self.starts, limits, symmetry)

    def _exploration(
        self,
        starts: list[Start],
        limits: Limits,
        symmetry: Symmetry | None,
        *goals: StateCheck,
    ) -> Exploration:
        world = self.world
        checks = [
            StateCheck(
                self._verdicts.setdefault(p.name, world.decision(p)),
                target=p.kind is PropertyKind.SOMETIMES,
                fatal=p.kind is PropertyKind.SAFETY,
            )
            for p in self.searched
        ]
        done = None
        if limits.deadlock and not self.absent:
            finished = self.system.done or all_done
            done = world.decision(
                Property("done", PropertyKind.SAFETY, finished, "predicate")
            )
        cut = None
        if self.cut.predicate is not None:
            cut = world.decision(self.cut.predicate)
        names = [p.name for p in self.searched]
        decisions = [check.decision for check in checks]
        self.decisions = dict(zip(names, decisions, strict=True))
        if done is not None:
            self.decisions["done"] = done
        if cut is not None:
            self.decisions[NAME] = cut
        progress = limits.progress
        return Exploration(
            world.tables,
            self._service(),
            [world.encode(s.snapshot) for s in starts if s.snapshot is not None],
            [*checks, *goals],
            bounds=limits.bounds,
            options=Options(
                prune=cut,
                done=done,
                keep_going=limits.keep_going,
                threads=limits.threads,
                exact=limits.exact,
                repeat_cost=limits.repeat_cost,
                instead=Blocking(world.stead, limits.filters)
                if limits.filters
                else None,
            ),
            progress=None if progress is None else reporter(progress),
            symmetry=symmetry,
            profile=self.profile or UNTIMED,
            meter=limits.meter,
        )

    def verify(self, search: Exploration) -> None:
        """Check on samples what the search took for granted; make its paths runs.

        If time is up meanwhile, that is the search's bound.
        """
        meter = search.meter.going_on()
        ended = bound_that_ended(lambda: self._check_samples(search, meter))
        search.bound = search.bound or ended
        if search.symmetry is not None:
            unfold(search)

    def verify_handlers(
        self, search: Exploration, handlers: Container[HandlerName]
    ) -> None:
        """Check on samples of a few handlers alone what the search took for granted."""
        look = search.meter.going_on().check
        ended = bound_that_ended(
            lambda: audit_handlers(self.world, handlers, look=look)
        )
        search.bound = search.bound or ended

    def _check_samples(self, search: Exploration, meter: Meter) -> None:
        self.notes = audit(self.world, self.cut.functions, look=meter.check)
        if self.alike is not None and search.symmetry is not None:
            self.alike.check_steps(meter.each(search.expanded.rows()))
            rows = meter.each(search.examined.rows())
            self.alike.check_verdicts(rows, self.decisions)

    def _service(self) -> Service:
        if self.profile is None:
            return self.world
        return ProfiledWorld(self.world, self.profile)

    def writer(
        self, out: Path | str | None, *, write: bool, chosen: Chosen, seed: int
    ) -> Counterexamples:
        """Return who writes what is found."""
        check_path("out", out)
        file = None if out is None else Path(out)
        return Counterexamples(
            self.world,
            self.staged.beginning,
            file,
            write=write,
            engine=chosen.engine,
            seed=seed,
        )


def reporter(
    progress: Callable[[Progress], None],
) -> Callable[[Statistics, float], None]:
    """Return what tells a user's function how far a search has come."""
    check_function(progress, "progress", arguments=1, like="a function of (progress)")
    return lambda statistics, seconds: progress(progress_of(statistics, seconds))


def progress_of(
    statistics: Statistics,
    seconds: float,
    *,
    walks: int = 0,
    walk_steps: int = 0,
    local_states: int = 0,
) -> Progress:
    """Return how far a search has come."""
    return Progress(
        states=statistics.states,
        generated=statistics.generated,
        depth=statistics.depth,
        frontier=statistics.frontier,
        seconds=seconds,
        memory_mb=memory_mb(),
        walks=walks,
        walk_steps=walk_steps,
        local_states=local_states,
    )
