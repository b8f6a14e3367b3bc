"""What is told of a minimisation: now and then how far it is, at the end what each pass did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


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
