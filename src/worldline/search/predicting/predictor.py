"""Predictions from one state after the other, with what is known of the handlers kept.

What a handler does does not depend on where a prediction begins, so one predictor keeps
its tables as long as it lives; and from the state it was asked of last, it goes on where
it stood.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import final

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.decisions import Decision
from worldline.engine.room import Room, give_back, memory_mb
from worldline.model.errors import UsageError
from worldline.model.faults import Faults
from worldline.model.filters import EventFilter
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.runs.start import Beginning
from worldline.search.cut import Cut
from worldline.search.engines import choose, threads_of
from worldline.search.predicting.auditing import Auditing
from worldline.search.predicting.by_cost import SearchByCost
from worldline.search.predicting.faults import predicted_system
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.path_trials import PathTrials
from worldline.search.predicting.report import PredictReport
from worldline.search.predicting.reporting import PredictionReporter
from worldline.search.question import Limits, SearchQuery, safety_alone
from worldline.search.stages import goals_of
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot

MEMORY_MB = 256
"""MiB that the tables of a predictor may take before it begins anew."""

_ENOUGH = 0.8
"""The share of that which is too much if no more can be given back."""


@final
@dataclass(frozen=True, slots=True)
class _About:
    """The subject of a prediction: the states that it begins in, and its filters."""

    states: tuple[Snapshot | None, ...]
    filters: frozenset[EventFilter]


@final
@dataclass(frozen=True, slots=True)
class _Stand:
    """A prediction that can go on."""

    about: _About
    query: SearchQuery
    by_cost: SearchByCost


@final
class Predictor:
    """Predicts from states of one system, one after the other.

    Parameters
    ----------
    system
        The system, with the faults that it declares.
    options
        The options of each prediction; its bounds are those of each time it is asked.
    memory
        MiB that the tables may take before they are given up.

    Attributes
    ----------
    onward
        The system with the faults that may happen in a prediction; where nothing is
        said of these, with a restart for each node that is down where the last began.
    anew
        How often it began with empty tables.
    """

    def __init__(
        self, system: System, options: PredictOptions, *, memory: int = MEMORY_MB
    ) -> None:
        self._wanted, self._judged = safety_alone(
            system, options.properties, "a prediction"
        )
        self._system = system
        self.onward = predicted_system(system, options.faults)
        self._trials = PathTrials(self.onward)
        self.anew = 0
        self._options = options
        self._chosen = choose(options.engine, by_cost=True)
        self._goals = goals_of(self.onward, options.until)
        self._memory = memory
        self._taken = 0.0
        self._auditing = Auditing()
        self._world: TabulatedWorld | None = None
        self._verdicts: dict[str, Decision] = {}
        self._knows: tuple[bool, bool, Faults] = False, False, self.onward.faults
        self._last: dict[bool, _Stand] = {}
        self._rooms: dict[int | None, Room] = {}  # by the bound that was given

    @property
    def trials(self) -> PathTrials:
        """Who tries known paths of `onward`."""
        if self._trials.system is not self.onward:
            self._trials = PathTrials(self.onward)
        return self._trials

    def predict(
        self,
        begin: Beginning,
        filters: Collection[EventFilter] = (),
        *,
        bounds: Bounds | None = None,
    ) -> PredictReport:
        """Predict from a state, further than the last time if it is the same.

        Parameters
        ----------
        begin
            The state, as one of `onward`.
        filters
            What nodes refuse: of that nothing happens but what happens instead, as often
            as it does. Such a prediction writes no trace; it is kept beside the last one
            without filters, which can go on.
        bounds
            How far to go, from the state on; None to go on by those of the options.
        """
        with held(), watched():
            begin = self._with_restarts(begin)
            about = _About(
                tuple(start.snapshot for start in begin.starts), frozenset(filters)
            )
            stand = self._going_on(about, bounds)
            if stand is None:
                self._forget(is_filtered=True)
                if not filters:
                    self._forget(is_filtered=False)
                stand = self._begun(begin, about, bounds or self._bounds())
                self._last[bool(filters)] = stand
            return self._answered(stand)

    def _with_restarts(self, begin: Beginning) -> Beginning:
        """Return a state in which who is down may come back, if nothing else is said."""
        down = len(begin.down(self.onward))
        onward = predicted_system(self._system, self._options.faults, down)
        if onward.faults != self.onward.faults:
            self.onward = onward
        return begin.charged(onward.faults)

    def forget(self) -> None:
        """Free what the last predictions hold of their states; the tables stay."""
        for is_filtered in (False, True):
            self._forget(is_filtered=is_filtered)

    def _forget(self, *, is_filtered: bool) -> None:
        last = self._last.pop(is_filtered, None)
        if last is not None:
            last.by_cost.search.unfinished = None

    def _going_on(self, about: _About, bounds: Bounds | None) -> _Stand | None:
        """Return the last prediction if it is about the same and can go on."""
        stand = self._last.get(bool(about.filters))
        if stand is None or stand.about != about:
            return None
        try:
            stand.by_cost.search.lift(bounds or self._further(stand.by_cost))
        except UsageError:  # it was ended in the midst of a step
            return None
        return stand

    def _begun(self, begin: Beginning, about: _About, bounds: Bounds) -> _Stand:
        """Return a prediction that has not searched yet, but for the way to a goal."""
        options = self._options
        meter = Meter(bounds, self._rooms.get(bounds.memory_mb))
        self._rooms[bounds.memory_mb] = meter.room
        limits = Limits(
            bounds=bounds,
            meter=meter,
            progress=options.progress,
            deadlock=False,
            keep_going=True,
            threads=threads_of(options.threads),
            exact=False,
            repeat_cost=options.price,
            filters=tuple(about.filters),
        )
        cut = Cut(self.onward, None, None)
        world = self._kept_world(begin)
        query = SearchQuery(
            self.onward,
            self._judged,
            begin,
            cut,
            world=world,
            verdicts=self._verdicts,
        )
        query.stage(self._goals, limits, choose(options.engine).run)
        stopped = query.staged.stopped
        search = stopped or query.search(limits)
        by_name = options.properties is not None
        by_cost = SearchByCost(search, self._chosen.run, by_name=by_name)
        return _Stand(about, query, by_cost)

    def _kept_world(self, begin: Beginning) -> TabulatedWorld:
        """Return the tables, new ones if those there are do not do, or take too much."""
        anywhere, partial, _ = self._knows
        anywhere |= begin.anywhere
        partial |= bool(begin.absent)
        knows = anywhere, partial, self.onward.faults
        if self._world is None or self._is_large() or knows != self._knows:
            self._world, self._verdicts = None, {}
            self._taken = memory_mb()
            self._auditing.begin_anew()
            self._knows = knows
            self._world = TabulatedWorld(
                self.onward, anywhere=anywhere, partial=partial
            )
            self.anew += 1
        return self._world

    def _is_large(self) -> bool:
        """Say whether the tables take too much, and not what searches have left behind."""
        if memory_mb() - self._taken <= self._memory:
            return False
        give_back()
        return memory_mb() - self._taken > _ENOUGH * self._memory

    def _answered(self, stand: _Stand) -> PredictReport:
        query, by_cost = stand.query, stand.by_cost
        options = self._options
        writer = query.writer(
            options.out,
            write=options.traces and not stand.about.filters,
            chosen=self._chosen,
            seed=options.seed,
        )
        before = by_cost.search.statistics.states
        if query.staged.stopped is None:
            by_cost.run(by_cost.search.bounds)
        else:
            by_cost.note(by_cost.search.statistics.depth - 1)
        judged = by_cost.search.statistics.states - before
        self._auditing.audit(query, by_cost, judged)
        return PredictionReporter(query, by_cost, writer, self._chosen).report(
            self._wanted
        )

    def _bounds(self) -> Bounds:
        options = self._options
        return Bounds(
            cost=options.max_cost,
            states=options.max_states,
            seconds=options.max_seconds,
            memory_mb=options.max_memory,
        )

    def _further(self, by_cost: SearchByCost) -> Bounds:
        """Return the bounds of a prediction that goes on."""
        options, statistics = self._options, by_cost.search.statistics
        cost = options.max_cost
        return Bounds(
            cost=None if cost is None else statistics.cost + cost,
            states=statistics.states + options.max_states,
            seconds=options.max_seconds,
            memory_mb=options.max_memory,
        )
