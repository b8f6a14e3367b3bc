"""A campaign: the best run so far, and the source of better ones.

What decides is counted, never timed: the same run and the same options give the same
result. Time and Ctrl-C only end it earlier.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import final

from worldline.engine.bounds import BoundHit, Meter
from worldline.model.errors import InternalError
from worldline.shrink.candidate import Candidate, CandidateRunner, ShrunkRun
from worldline.shrink.crew import Crew, CrewFull, Trial, try_group
from worldline.shrink.crews import Crews
from worldline.shrink.crossing import CannotCross
from worldline.shrink.matching import Matching
from worldline.shrink.progress import PassReport, ShrinkProgress
from worldline.shrink.proposals import Proposals, TriedKey
from worldline.shrink.round import Round
from worldline.shrink.steps import ShrunkStep, size_of
from worldline.shrink.wishes import Wanted

_NEWEST = 1 / 16
"""The share of the newest candidate in what one costs of late."""

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
    threads
        Processes that run candidates, from when there is enough to do; no result depends
        on it. `close` ends them.
    progress
        Is called now and then, and whenever the best run has become another.

    Attributes
    ----------
    runner
        The one of the best run: a pass may have changed the system.
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
        threads: int = 1,
        progress: Callable[[ShrinkProgress], None] | None = None,
    ) -> None:
        self.runner = runner
        self._best = run
        self.schedules = 0
        self.reports: list[PassReport] = []
        self.meter = meter
        self._most = most_events
        self._progress = progress
        self._crews = Crews(meter, threads)
        self._events = 0.0  # of a candidate, of late
        self._tried: set[TriedKey] = set()
        """What the best run was tried with: it says where its steps are."""

    @property
    def best(self) -> ShrunkRun:
        return self._best

    @best.setter
    def best(self, run: ShrunkRun) -> None:
        if run is not self._best:
            self._tried.clear()
        self._best = run

    def close(self) -> None:
        """End the processes that were begun; from now on there are no others."""
        self._crews.give_up()

    def attempt(self, wanted: Sequence[ShrunkStep], matching: Matching) -> bool:
        """Run a candidate; say whether it is smaller than the best run, which it becomes.

        Parameters
        ----------
        wanted
            Steps of the best run, in any order, or new ones.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        return self._first_of([Candidate(wanted, matching)], None) == 0

    def first_of(self, candidates: Iterable[Candidate]) -> int | None:
        """Run candidates up to the first smaller one, which becomes the best run.

        Parameters
        ----------
        candidates
            Made of the present best run, each for itself: more of them may be taken than
            are run, so to take one may change nothing that the others are made of. The
            first in their order counts, whichever is finished first.

        Returns
        -------
        int | None
            Its number, from 0; candidates after it count as never run. None if none is
            smaller.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        crew = self._crews.now(self.runner, self.best, self._events)
        return self._first_of(candidates, crew)

    def attempt_with(
        self, runner: CandidateRunner, wanted: Sequence[ShrunkStep], matching: Matching
    ) -> bool:
        """Run a candidate of another system; go on with that if it is smaller.

        Parameters
        ----------
        runner
            That of the other system, in the present one's place from then on.
        wanted
            Steps that it knows.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        self.check()
        self.schedules += 1
        runner.executed = self.runner.executed
        executed = runner.run(wanted, matching, None)
        self.runner.executed = runner.executed
        if executed is None or size_of(executed) >= self.best.size:
            return False
        self.runner, self.best = runner, runner.marked(executed, None)
        return True

    def executed_of(
        self,
        wanted: Sequence[Wanted],
        matching: Matching,
        base: ShrunkRun,
        *,
        most: int | None = None,
    ) -> tuple[tuple[ShrunkStep, ...], bool]:
        """Run a candidate of any run, and leave the best one as it is.

        Parameters and result are those of `CandidateRunner.executed_of`.

        Raises
        ------
        BoundHit
            If a limit is reached.
        """
        self.check()
        self.schedules += 1
        return self.runner.executed_of(wanted, matching, base, most=most)

    def _first_of(
        self, candidates: Iterable[Candidate], crew: Crew | None
    ) -> int | None:
        proposals = Proposals(candidates, self.best.steps, self._tried)
        if crew is not None:
            try:
                shared = Round(crew, self.runner, self.best, proposals.fresh())
                return self._first_smaller(shared.trials(), proposals)
            except CrewFull:
                self._crews.close()
            except CannotCross:
                self._crews.give_up()
        trials = try_group(self.runner, proposals.fresh(), self.best)
        return self._first_smaller(trials, proposals)

    def _first_smaller(
        self, trials: Generator[Trial], proposals: Proposals
    ) -> int | None:
        """Count trials up to the first smaller run, which becomes the best."""
        with contextlib.closing(trials):
            for trial in trials:
                proposal = proposals.next_told()
                self.check()
                self.schedules += 1
                self.runner.executed += trial.events
                self._events += (trial.events - self._events) * _NEWEST
                if trial.is_smaller:
                    executed = trial.executed or self._executed(proposal.candidate)
                    self.best = self.runner.marked(executed, self.best)
                    self._tell()
                    return proposal.number
                if proposal.key is not None:
                    self._tried.add(proposal.key)
        return None

    def _executed(self, candidate: Candidate) -> tuple[ShrunkStep, ...]:
        """Return the run of a candidate that another process has run, and counted."""
        before = self.runner.executed
        executed = self.runner.run(*candidate, self.best)
        self.runner.executed = before
        if executed is None:
            raise InternalError(
                "a run violates something in one process and nothing in another: "
                "handlers may depend on an ignored field"
            )
        return executed

    def check(self) -> None:
        """Raise `BoundHit` if a limit is reached."""
        self.meter.check()
        if self._most is not None and self.runner.executed >= self._most:
            raise BoundHit("events")
        if self.schedules % _TELL_EVERY == 0:
            self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(
                ShrinkProgress(
                    deliveries=self.best.size.deliveries,
                    externals=self.best.size.externals,
                    schedules=self.schedules,
                    events=self.runner.executed,
                    seconds=self.meter.seconds,
                )
            )
