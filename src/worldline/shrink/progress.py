"""Progress of a minimisation, reported at intervals, and the result of each pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class PassReport:
    """The result of one pass.

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
    """The progress of a minimisation.

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
