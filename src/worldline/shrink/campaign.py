"""A campaign: the best run so far, and whoever proposes better ones.

What decides is counted, never timed: the same run and the same options give the same
result. Time and Ctrl-C only end it earlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from worldline.engine.bounds import BoundHit, Meter
from worldline.shrink.candidate import CandidateRunner, ShrunkRun, Wanted
from worldline.shrink.matching import Matching
from worldline.shrink.steps import ShrunkStep, size_of


@final
@dataclass(frozen=True, slots=True)
class PassReport:
    """What one pass came to.

    Attributes
    ----------
    name
        The pass.
    externals, deliveries
        The size of the best run after it.
    schedules, events
        Candidates that it ran, and the events that were executed for them.
    seconds
        How long it took.
    """

    name: str
    externals: int
    deliveries: int
    schedules: int
    events: int
    seconds: float


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ShrinkProgress:
    """How far a minimisation has come.

    Attributes
    ----------
    deliveries, externals
        The size of the smallest run so far.
    schedules, events
        Candidates that were run, and the events that were executed.
    """

    deliveries: int
    externals: int
    schedules: int
    events: int
    seconds: float


_TELL_EVERY = 64
"""Candidates between two reports of progress."""


@final
class Campaign:
    """Shrinks one run.

    Parameters
    ----------
    runner
        Runs candidates.
    run
        The run to begin with.
    meter
        Ends it when time or memory is used up, or Ctrl-C was pressed.
    most_events
        Events to execute, about; None for no limit.
    progress
        Is called now and then.

    Attributes
    ----------
    best
        The smallest run so far.
    schedules
        Candidates that were run.
    reports
        What each pass came to, in order.
    """

    def __init__(
        self,
        runner: CandidateRunner,
        run: ShrunkRun,
        meter: Meter,
        *,
        most_events: int | None = None,
        progress: Callable[[ShrinkProgress], None] | None = None,
    ) -> None:
        self.runner = runner
        self.best = run
        self.schedules = 0
        self.reports: list[PassReport] = []
        self.meter = meter
        self._most = most_events
        self._progress = progress
        self._tried: set[tuple[Matching, tuple[int, ...]]] = set()
        """What the best run was tried with; it is cleared with that."""

    def attempt(
        self,
        wanted: Sequence[ShrunkStep],
        matching: Matching,
        *,
        sideways: bool = False,
    ) -> bool:
        """Run a candidate; say whether it is smaller than the best run, which it becomes.

        Parameters
        ----------
        wanted
            Steps of the best run, in any order, or new ones.
        sideways
            Whether a run that is as large takes its place as well.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        key = matching, tuple(step.place for step in wanted)
        steps = self.best.steps
        is_known = all(s.place >= 0 and steps[s.place] is s for s in wanted)
        if is_known and key in self._tried:
            return False
        self.check()
        self.schedules += 1
        executed = self.runner.run(wanted, matching, self.best)
        if executed is not None and self._takes(executed, sideways=sideways):
            self.best = self.runner.marked(executed, self.best)
            self._tried.clear()
            return True
        if is_known:
            self._tried.add(key)
        return False

    def probe(
        self, wanted: Sequence[Wanted], matching: Matching, base: ShrunkRun, most: int
    ) -> tuple[ShrunkStep, ...] | None:
        """Run a candidate that takes no place; return what was executed, if it violates.

        Parameters
        ----------
        base
            The run of which it is made.
        most
            Deliveries, after which it is given up.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        self.check()
        self.schedules += 1
        return self.runner.run(wanted, matching, base, most=most)

    def take(self, run: ShrunkRun) -> None:
        """Let a smaller run be the best one."""
        self.best = run
        self._tried.clear()

    def _takes(self, executed: tuple[ShrunkStep, ...], *, sideways: bool) -> bool:
        size = size_of(executed)
        if size != self.best.size or not sideways:
            return size < self.best.size
        return any(
            one.known is not other.known
            for one, other in zip(executed, self.best.steps, strict=True)
        )

    def check(self) -> None:
        """Raise `BoundHit` if a limit is reached."""
        self.meter.check()
        if self._most is not None and self.runner.executed >= self._most:
            raise BoundHit("events")
        if self._progress is not None and self.schedules % _TELL_EVERY == 0:
            self._progress(
                ShrinkProgress(
                    deliveries=self.best.size.deliveries,
                    externals=self.best.size.externals,
                    schedules=self.schedules,
                    events=self.runner.executed,
                    seconds=self.meter.seconds,
                )
            )

    def run(self, name: str, apply: Callable[[Campaign], None]) -> bool:
        """Run one pass; say whether the best run is smaller now."""
        size, schedules = self.best.size, self.schedules
        executed, began = self.runner.executed, self.meter.seconds
        try:
            apply(self)
        finally:
            self.reports.append(
                PassReport(
                    name,
                    self.best.size.externals,
                    self.best.size.deliveries,
                    self.schedules - schedules,
                    self.runner.executed - executed,
                    self.meter.seconds - began,
                )
            )
        return self.best.size < size


class ShrinkPass(Protocol):
    """Proposes candidates of one sort.

    Attributes
    ----------
    name
        In reports.
    """

    @property
    def name(self) -> str: ...

    def apply(self, campaign: Campaign) -> None:
        """Propose candidates until none of them is smaller."""


Stages: TypeAlias = Sequence[Sequence[ShrinkPass]]
"""Passes, the cheap ones first."""


def shrink(campaign: Campaign, stages: Stages) -> None:
    """Run passes until none makes the run smaller.

    After each success of a dear stage the cheaper ones have their turn again.

    Raises
    ------
    BoundHit
        If a limit is reached; the best run so far is the campaign's.
    """
    number = 0
    while number < len(stages):
        size = campaign.best.size
        for each in stages[number]:
            if campaign.run(each.name, each.apply) and number:
                break
        number = 0 if campaign.best.size < size else number + 1
