"""A crew: processes that run candidates beside the one that they were forked off.

All take groups of candidates from one pipe, this process too, and write what came of
them to another. What they need to know of a group stands in memory that they share.
Nothing depends on who is fast: a process that waits for a group too long runs it as
well, so one that is stuck, or was killed, is not missed.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import os
import select
import signal
import struct
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn, final

from worldline.engine.room import resident
from worldline.model.usercode.divergence import watched
from worldline.shrink.candidate import Candidate, CandidateRunner, ShrunkRun
from worldline.shrink.crossing import Crossing
from worldline.shrink.forking import be_alone, fork
from worldline.shrink.steps import ShrunkStep, size_of

MOST_IN_GROUP = 16
"""Candidates that are run by one process without a look at the others."""

_ROOM = 1 << 25
"""Bytes for what is to be known; when they are full, a new crew is forked."""

_ROUND = struct.Struct("=q")
_CLAIM = struct.Struct("=qqqqqq")
_RESULT = struct.Struct(f"=qqq{MOST_IN_GROUP}q")


class Claim(NamedTuple):
    """The right to run a group; who reads it from the pipe has it."""

    round: int
    group: int
    run_at: int
    run_size: int
    group_at: int
    group_size: int


class Trial(NamedTuple):
    """What came of a candidate.

    Attributes
    ----------
    events
        How many were executed for it.
    is_smaller
        Whether what was executed is a smaller run than the best one.
    executed
        That run; None where it was another process.
    """

    events: int
    is_smaller: bool
    executed: tuple[ShrunkStep, ...] | None = None


@final
class CrewFull(Exception):
    """There is no room for more; another crew has to take over."""


def try_group(
    runner: CandidateRunner,
    candidates: Iterable[Candidate],
    best: ShrunkRun,
) -> Generator[Trial]:
    """Run candidates up to the first smaller one; `runner.executed` stays as it was."""
    for wanted, matching in candidates:
        before = runner.executed
        try:
            executed = runner.run(wanted, matching, best)
            events = runner.executed - before
        finally:
            runner.executed = before
        if executed is not None and size_of(executed) < best.size:
            yield Trial(events, is_smaller=True, executed=executed)
            return
        yield Trial(events, is_smaller=False)


@final
class Crew:
    """Processes that have been forked off this one, and wait for candidates.

    Parameters
    ----------
    runner
        Runs candidates, in each process its own.
    run
        The best run now.
    others
        How many processes there are beside this one.

    Attributes
    ----------
    size
        How many processes there are, this one too.
    pids
        The others.
    """

    def __init__(self, runner: CandidateRunner, run: ShrunkRun, others: int) -> None:
        self.size = 1 + others
        self._crossing = Crossing(runner.world, run)
        self._memory = mmap.mmap(-1, _ROOM)  # shared with those that are forked
        self._end = _ROUND.size
        self._round = 0
        self._run = 0, 0
        self._claims, self._offers = os.pipe()
        self._results, self._answers = os.pipe()
        for pipe in (self._claims, self._offers, self._results):
            os.set_blocking(pipe, False)
        self.pids: list[int] = []
        gc.freeze()  # else its pages would be copied when a child collects garbage
        for _ in range(others):
            pid = fork()
            if not pid:
                self._serve(runner)
            self.pids.append(pid)
        gc.unfreeze()

    # ------------------------------------------------------------------ this process

    def begin(self, best: ShrunkRun) -> None:
        """Begin a round: what is offered from now on is made of this run.

        Raises
        ------
        CannotCross
            If an event of the run cannot be told to the others.
        CrewFull
            If there is no room for it.
        """
        self._round += 1
        self._memory[: _ROUND.size] = _ROUND.pack(self._round)
        self._run = self._write(self._crossing.spell_run(best))

    def offer(
        self, group: int, candidates: Sequence[Candidate], best: ShrunkRun
    ) -> None:
        """Offer a group, `MOST_IN_GROUP` at most, to whoever takes it first.

        Raises
        ------
        CannotCross
            If one of its events cannot be told to the others.
        CrewFull
            If there is no room for it.
        """
        place = self._write(self._crossing.spell(candidates, best.steps))
        claim = Claim(self._round, group, *self._run, *place)
        with contextlib.suppress(BlockingIOError):
            os.write(self._offers, _CLAIM.pack(*claim))

    def claim(self) -> int | None:
        """Take a group that nobody has taken yet; None if there is none."""
        with contextlib.suppress(BlockingIOError):
            return Claim._make(_CLAIM.unpack(os.read(self._claims, _CLAIM.size))).group
        return None

    def answers(self, patience_s: float = 0.0) -> Iterator[tuple[int, list[Trial]]]:
        """Yield what came of groups of this round; wait for the first, if need be."""
        if patience_s:
            select.select([self._results], [], [], patience_s)
        while True:
            try:
                raw = os.read(self._results, _RESULT.size)
            except BlockingIOError:
                return
            number, group, smaller, *events = _RESULT.unpack(raw)
            if number == self._round:
                yield (
                    group,
                    [
                        Trial(count, is_smaller=at == smaller)
                        for at, count in enumerate(events)
                        if count >= 0
                    ],
                )

    def end_round(self) -> None:
        """Take back what was offered; what is being run ends soon, and counts nothing."""
        self._round += 1
        self._memory[: _ROUND.size] = _ROUND.pack(self._round)
        while self.claim() is not None:
            pass

    def resident(self) -> int:
        """Return the memory of all processes, in bytes; what they share counts for each."""
        return resident() + sum(_resident(pid) for pid in self.pids)

    def close(self) -> None:
        """End the processes."""
        for pid in self.pids:
            # They hold nothing that has to be put away.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in self.pids:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        self.pids.clear()
        for pipe in (self._claims, self._offers, self._results, self._answers):
            with contextlib.suppress(OSError):
                os.close(pipe)

    def _write(self, spelt: bytes) -> tuple[int, int]:
        begin, self._end = self._end, self._end + len(spelt)
        if self._end > _ROOM:
            raise CrewFull
        self._memory[begin : self._end] = spelt
        return begin, len(spelt)

    # ----------------------------------------------------------------- one of the crew

    def _serve(self, runner: CandidateRunner) -> NoReturn:
        """Run what is offered until nobody can offer any more."""
        status = 1
        try:
            be_alone()
            os.close(self._offers)
            with watched():
                self._work(runner)
            status = 0
        finally:
            # Nothing of the process that it was forked off is put away twice. What went
            # wrong here goes wrong there, too: the candidate is missed, and run again.
            os._exit(status)

    def _work(self, runner: CandidateRunner) -> None:
        best: ShrunkRun | None = None
        number = -1
        while True:
            select.select([self._claims], [], [])
            try:
                raw = os.read(self._claims, _CLAIM.size)
            except BlockingIOError:
                continue  # somebody else has it
            if not raw:
                return
            claim = Claim._make(_CLAIM.unpack(raw))
            if not self._is_now(claim):
                continue
            if best is None or claim.round != number:
                spelt = self._read(claim.run_at, claim.run_size)
                steps, places = self._crossing.read_run(spelt)
                best, number = runner.marked(steps, best, places), claim.round
            self._answer(runner, claim, best)

    def _answer(self, runner: CandidateRunner, claim: Claim, best: ShrunkRun) -> None:
        spelt = self._read(claim.group_at, claim.group_size)
        candidates = self._crossing.read(spelt, best.steps)
        events, smaller = [-1] * MOST_IN_GROUP, -1
        trials = try_group(runner, candidates, best)
        for at, trial in enumerate(trials):
            events[at] = trial.events
            if trial.is_smaller:
                smaller = at
            if not self._is_now(claim):
                return
        result = _RESULT.pack(claim.round, claim.group, smaller, *events)
        os.write(self._answers, result)

    def _is_now(self, claim: Claim) -> bool:
        return self._memory[: _ROUND.size] == _ROUND.pack(claim.round)

    def _read(self, at: int, size: int) -> bytes:
        return self._memory[at : at + size]


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return resident()
    return pages * os.sysconf("SC_PAGE_SIZE")
