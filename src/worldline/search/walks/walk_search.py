"""The common part of all searches with random walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from worldline.engine.bounds import Bounds, Meter, bound_that_ended
from worldline.engine.exploration import Exploration, Options, StateCheck, Statistics
from worldline.model.system import System
from worldline.runs.restoring import refuse_absent
from worldline.runs.start import Start
from worldline.search.engines import choose
from worldline.search.question import begun, progress_of, reporter
from worldline.search.stages import Explore, Staged, through_stages
from worldline.search.walks.plan import Plan
from worldline.worlds.purity.audit import audit
from worldline.worlds.tabulated import TabulatedWorld

PlanT = TypeVar("PlanT", bound=Plan)


class WalkSearch(Generic[PlanT]):
    """The world of a search with walks, its beginning and stages, its meter and audit."""

    def __init__(self, system: System, plan: PlanT) -> None:
        # Before anything runs: what is wrong with it has nothing to do with the search.
        progress = plan.options.progress
        self._report = None if progress is None else reporter(progress)
        self._plan = plan
        self._meter = Meter(plan.bounds)
        self._staged = Staged(begun(system, plan.options.from_))
        refuse_absent(self._staged.beginning.absent, "random runs")
        anywhere = self._staged.beginning.anywhere
        self._world = TabulatedWorld(system, anywhere=anywhere)
        self._engine = choose(plan.options.engine)

    def _stage(self, explore: Explore) -> Exploration | None:
        """Search to the goals, and begin where that ends; return what stopped it."""
        begin, goals = self._staged.beginning, self._plan.goals
        if goals:
            self._staged = through_stages(self._world, begin, goals, explore)
        return self._staged.stopped

    def _exploring(
        self,
        starts: list[Start],
        checks: list[StateCheck],
        bounds: Bounds,
        options: Options,
    ) -> Exploration:
        """Return a search of every run from some states."""
        world = self._world
        roots = [start.snapshot for start in starts if start.snapshot is not None]
        return Exploration(
            world.tables,
            world,
            [world.encode(root) for root in roots],
            checks,
            bounds=bounds,
            options=options,
            progress=self._report,
            meter=self._meter,
        )

    def _audit(
        self, functions: Iterable[Callable[..., object]]
    ) -> tuple[list[str], str | None]:
        """Run a sample of what is in the tables again.

        Returns what of it could not be done, as notes, and what ended it early.
        """
        look, notes = self._meter.going_on().check, list[str]()
        return notes, bound_that_ended(
            lambda: notes.extend(audit(self._world, functions, look=look))
        )

    def _tell(
        self, walks: int, steps: int, statistics: Statistics, local_states: int = 0
    ) -> None:
        """Look at time and memory, and tell how far the walks have come."""
        self._meter.check()
        if self._plan.options.progress is not None:
            self._plan.options.progress(
                progress_of(
                    statistics,
                    self._meter.seconds,
                    local_states=local_states,
                    walks=walks,
                    walk_steps=steps,
                )
            )
