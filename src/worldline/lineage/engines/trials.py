"""Executions of a subject: counted, never made twice, and within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from worldline.engine.bounds import BoundHit, Bounds, Meter
from worldline.injection.scope import NO_FAULTS, FaultSet
from worldline.injection.subject import CoverPoint, Goal, Run, Subject
from worldline.model.verdicts import Verdict


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBudget:
    """The bounds of a search; None means no limit.

    Attributes
    ----------
    seconds, memory_mb
        Without a meter, counted from when each search begins.
    meter
        Watches time and memory of all that is asked.
    """

    executions: int | None = None
    seconds: float | None = None
    memory_mb: int | None = None
    meter: Meter | None = None

    def begun(self) -> SearchBudget:
        """Return the budget of all that is asked from now on."""
        return replace(self, meter=self.started(), seconds=None)

    def started(self) -> Meter:
        """Return what watches time and memory of a search that begins now."""
        if self.meter is None:
            return Meter(Bounds(seconds=self.seconds, memory_mb=self.memory_mb))
        return self.meter if self.seconds is None else self.meter.within(self.seconds)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultsProgress:
    """The progress of a search.

    Attributes
    ----------
    waiting
        Good runs whose hazards are still to be looked at; None where a search has no
        such queue.
    phase
        What a search that makes no runs is doing; empty for one that does.
    """

    executions: int
    found: int
    seconds: float
    waiting: int | None = None
    phase: str = ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The result of a search.

    Attributes
    ----------
    falsifiers
        Fault sets under which a goal falls, in the order in which they were found.
    executions
        How many runs that took.
    bound
        What ended the search early: ``executions``, ``seconds``, ``memory``,
        ``interrupted``, or ``falsifiers`` where there are more than were asked for.
    unmet
        The cases that happened in no run, so that they were not put to the test.
    """

    verdict: Verdict
    falsifiers: tuple[FaultSet, ...] = ()
    executions: int = 0
    seconds: float = 0.0
    bound: str | None = None
    unmet: tuple[CoverPoint, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def vacuous(self) -> bool:
        """Whether nothing was shown for want of a case, not of time."""
        return (
            self.verdict is Verdict.UNKNOWN and self.bound is None and bool(self.unmet)
        )


@final
class FaultTrials:
    """Runs a subject, and remembers what broke it.

    Parameters
    ----------
    failure_free_goals
        Whether only what the run without faults keeps is a goal (the practice of the
        published tool), not all that is owed in any run.
    """

    def __init__(
        self,
        subject: Subject,
        budget: SearchBudget,
        progress: Callable[[FaultsProgress], None] | None = None,
        *,
        failure_free_goals: bool = False,
    ) -> None:
        self.subject = subject
        self.executions = 0
        self.falsifiers: list[FaultSet] = []
        self._budget = budget
        self._meter = budget.started()
        self._progress = progress
        self._began = time.monotonic()
        self._only: frozenset[Goal] | None = None
        self._met: set[str] = set()
        self.first = self.run(NO_FAULTS)
        if failure_free_goals:
            self._only = self.first.kept

    @property
    def seconds(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self._began

    def run(self, faults: FaultSet, waiting: int | None = None) -> Run:
        """Execute under faults.

        Raises
        ------
        BoundHit
            If the budget is used up. One run is always made: it says what the goals are.
        """
        if self.executions:
            most = self._budget.executions
            if most is not None and self.executions >= most:
                raise BoundHit("executions")
            self.check()
        run = self.subject.run(faults)
        self.executions += 1
        self._met |= run.met
        if self._progress is not None:
            self._progress(
                FaultsProgress(
                    executions=self.executions,
                    found=len(self.falsifiers),
                    seconds=self.seconds,
                    waiting=waiting,
                )
            )
        return run

    def check(self) -> None:
        """Raise `BoundHit` if time or memory is used up."""
        self._meter.check()

    def broken(self, run: Run) -> frozenset[Goal]:
        """Return the goals that a run fails."""
        if self._only is None:
            return run.broken
        return (self._only - run.kept) & run.owed

    def kept(self, run: Run) -> list[Goal]:
        """Return the goals that a run keeps, and that may fall under more faults.

        Where supports are incomplete anyway, a goal that is not owed is left alone: to
        undo it would show nothing (the optimization at the end of section 4.3).
        """
        kept = run.kept if self._only is None else run.kept & self._only
        if not self.subject.complete:
            kept &= run.owed
        return sorted(kept, key=repr)

    def outcome(self, bound: str | None, *, complete: bool) -> SearchResult:
        """Return the answer of a search that ended.

        Parameters
        ----------
        complete
            Whether the search leaves nothing out, if no bound was hit.
        """
        unmet = tuple(c for c in self.subject.cases if c.name not in self._met)
        if self.falsifiers:
            verdict = Verdict.VIOLATED
        elif bound is None and complete and not unmet:
            verdict = Verdict.HOLDS
        else:
            verdict = Verdict.UNKNOWN
        return SearchResult(
            verdict=verdict,
            falsifiers=tuple(self.falsifiers),
            executions=self.executions,
            seconds=self.seconds,
            bound=bound,
            unmet=unmet,
        )
