"""A round: candidates of one best run, run by a crew, told in their order."""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator, Iterable
from typing import final

from worldline.shrink.candidate import Candidate, CandidateRunner, ShrunkRun
from worldline.shrink.crew import MOST_IN_GROUP, Crew, Trial, try_group

_EVENTS = 250
"""Events of a group, about: what takes less to run than to tell is not worth it."""

_AHEAD = 2
"""Groups for each process that are offered and have not come back."""

_FAR_AHEAD = 32
"""Groups for each process by which others may be ahead of one that is waited for."""

_PATIENCE = 3.0
"""How long a group is waited for: so many times as long as one takes here."""


@final
class Round:
    """Runs candidates of one best run; to be closed.

    Parameters
    ----------
    crew
        Runs them, together with this process.
    candidates
        Taken as they are needed, some of them in vain.

    Raises
    ------
    CannotCross, CrewFull
        If the crew cannot be told what to run.
    """

    def __init__(
        self,
        crew: Crew,
        runner: CandidateRunner,
        best: ShrunkRun,
        candidates: Iterable[Candidate],
    ) -> None:
        self._crew = crew
        self._runner = runner
        self._best = best
        self._left = iter(candidates)
        self._groups: list[list[Candidate]] = []
        self._done: dict[int, list[Trial]] = {}
        self._seconds, self._events, self._tried = 0.0, 0, 0
        crew.begin(best)

    def trials(self) -> Generator[Trial]:
        """Yield what comes of each candidate, up to the first smaller one."""
        try:
            for number in itertools.count():
                self._offer(number)
                if number == len(self._groups):
                    return
                while number not in self._done:
                    self._help(number)
                yield from self._done[number]
                self._groups[number].clear()
        finally:
            self._crew.end_round()

    def _offer(self, first: int) -> None:
        """Offer groups until there are enough for everybody."""
        most = first + _FAR_AHEAD * self._crew.size
        waiting = len(self._groups) - len(self._done)
        while waiting <= _AHEAD * self._crew.size and len(self._groups) < most:
            group = list(itertools.islice(self._left, self._group_size()))
            if not group:
                return
            self._crew.offer(len(self._groups), group, self._best)
            self._groups.append(group)
            waiting += 1

    def _group_size(self) -> int:
        if not self._tried:
            return 1
        each = max(1, self._events // self._tried)
        return max(1, min(MOST_IN_GROUP, _EVENTS // each))

    def _help(self, number: int) -> None:
        """Run a group, or wait for one; it may not be the one with this number."""
        self._done.update(self._crew.answers())
        if number in self._done:
            return
        group = self._crew.claim()
        if group is None:
            ends = time.monotonic() + _PATIENCE * max(0.001, self._seconds)
            while number not in self._done and (left := ends - time.monotonic()) > 0:
                self._done.update(self._crew.answers(left))
            group = None if number in self._done else number
        if group is not None:
            self._run(group)
            self._offer(number)

    def _run(self, number: int) -> None:
        began = time.monotonic()
        group = self._groups[number]
        trials = try_group(self._runner, group, self._best)
        done = self._done[number] = list(trials)
        self._seconds = time.monotonic() - began
        self._tried += len(done)
        self._events += sum(trial.events for trial in done)
