"""The interface of what runs round by round under faults, with states that meet again.

A `worldline.injection.subject.Subject` makes whole runs; a stepper makes one round
at a time, so that runs which come to the same state need not be told apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol, TypeAlias

from worldline.injection.scope import Fault, Scope
from worldline.injection.subject import CoverPoint, Pulse

RoundState: TypeAlias = Hashable
"""All that the future depends on: states that are equal have the same futures."""

Injection: TypeAlias = tuple[Fault, ...]
"""The faults that are decided in one round."""


class Stepper(Protocol):
    """A system whose rounds can be repeated from any state."""

    @property
    def scope(self) -> Scope:
        """The question."""

    @property
    def executions(self) -> int:
        """How often code of the system ran, for a node or a round."""

    @property
    def cases(self) -> Sequence[CoverPoint]:
        """What has to happen in some run for a HOLDS to mean anything."""

    def first(self) -> RoundState:
        """Return the state before round 1."""

    def after(
        self,
        state: RoundState,
        round_: int,
        *,
        every: bool,
        room: int | None,
        pulse: Pulse = lambda: None,
    ) -> Iterable[tuple[RoundState, Injection]]:
        """Return the states that a round can lead to, with what is injected for each.

        Parameters
        ----------
        every
            Whether to return every smallest injection that leads to a state. If not,
            one with the fewest faults is enough.
        room
            How many faults an injection may have; None means any number.
        pulse
            Called whenever code of the system is about to run.
        """

    def breaks(self, state: RoundState, round_: int) -> bool:
        """Say whether something that is promised after a round does not hold."""

    def met(self, state: RoundState, round_: int) -> set[str]:
        """Return the names of the cases that have happened, as far as a state shows.

        A case may be one of all the rounds that were played, and not of this state.
        """
