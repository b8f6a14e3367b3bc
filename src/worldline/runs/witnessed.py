"""A run as a search claims it, which is still to be confirmed with the real handlers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from worldline.runs.confirm import Expected
from worldline.runs.start import Start
from worldline.worlds.world import Snapshot


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A run as a search claims it.

    Attributes
    ----------
    start
        Where it begins.
    expected
        The events from there, and what the search took each to do.
    end
        The state to which they lead; None where that is not known.
    times
        When each step happened, those before the run first; None without a clock.
    ended
        And when the run ended.
    notes
        Of steps that happened in the place of messages that were refused, by number, why.
    free
        The numbers of the steps that stand instead of others, which filters block.
    """

    start: Start
    expected: Expected
    end: Snapshot | None
    times: tuple[float, ...] | None = None
    ended: float | None = None
    notes: Mapping[int, str] | None = None
    free: frozenset[int] = frozenset()
