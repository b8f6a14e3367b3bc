"""The choice of a crew: only for work enough for several processes, and with memory."""

from __future__ import annotations

from typing import final

from worldline.engine.bounds import Meter
from worldline.engine.room import resident
from worldline.shrink.candidate import CandidateRunner, ShrunkRun
from worldline.shrink.crew import Crew
from worldline.shrink.forking import CAN_FORK

WORTH_CREW = 20_000
"""Events that one process executes before others are forked off it: half a second."""

WORTH_TELLING = 60
"""Events of a candidate from which on it takes longer to run than to tell others of it."""

_LOOK_EVERY = 64
"""Rounds between two looks at the memory of all processes."""

_GROWS = 1.5
"""What a process will need, by what it has when it is forked."""


@final
class Crews:
    """The crew of a campaign, if it has one now.

    Parameters
    ----------
    most
        Processes that may run candidates, this one too.

    Attributes
    ----------
    most
        The same, as far as there are memory and forks for it.
    """

    def __init__(self, meter: Meter, most: int) -> None:
        self._meter = meter
        self.most = most if CAN_FORK else 1
        self._crew: Crew | None = None
        self._runner: CandidateRunner | None = None
        self._rounds = 0

    def now(
        self, runner: CandidateRunner, best: ShrunkRun, events: float
    ) -> Crew | None:
        """Return the crew, forked if it is time; None where this process is alone.

        Parameters
        ----------
        events
            Of a candidate, as it was of late.
        """
        is_early = runner.executed < WORTH_CREW
        if self.most == 1 or is_early or events < WORTH_TELLING:
            return None
        if runner is not self._runner:  # the crew knows nothing of another system
            self.close()
        if self._crew is None:
            self._runner = runner
            self._fork(runner, best)
        self._rounds += 1
        if self._crew is not None and self._rounds % _LOOK_EVERY == 0:
            ceiling = self._meter.ceiling
            if ceiling is not None and self._crew.resident() > ceiling:
                self.give_up()
        return self._crew

    def close(self) -> None:
        """End the crew; another one may be forked."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None

    def give_up(self) -> None:
        """End the crew, for good."""
        self.close()
        self.most = 1

    def _fork(self, runner: CandidateRunner, best: ShrunkRun) -> None:
        ceiling = self._meter.ceiling
        if ceiling is not None:
            each = int(resident() * _GROWS)
            self.most = max(1, min(self.most, ceiling // each))
        if self.most == 1:
            return
        try:
            self._crew = Crew(runner, best, self.most - 1)
        except OSError:  # no more processes, or files
            self.give_up()
