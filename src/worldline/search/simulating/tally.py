"""The question to every seed, and what the run of one came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

from worldline.model.properties import Property
from worldline.model.system import System
from worldline.runs.alarms import Alarms
from worldline.search.simulating.sampling import RunSample
from worldline.trace.records import SpanRecord
from worldline.worlds.companions import Companion
from worldline.worlds.conditions import Conditions
from worldline.worlds.weather import WeatherEvent

MakeCompanions: TypeAlias = Callable[[System, int], Sequence[Companion]]
"""Makes the companions of a run, for a system and the seed of the run."""

FAILED = -1
"""Stands for a handler that failed, in the place of a property."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question to every seed.

    Attributes
    ----------
    wanted
        The safety and sometimes properties to judge, and the liveness properties that
        have a confidence.
    seconds, events
        Where a run ends.
    interval
        Virtual seconds between two judgements of what is about all nodes at once; None
        to judge all after each event.
    sample
        Virtual seconds between two samples; None to take none.
    companions
        Returns, for the system and a seed, what stands beside the nodes in the run of that
        seed: new objects for each run, which do the same with the same seed. None where
        nothing does.
    tell
        Returns what is to be known of them when their run is over. It can be pickled.
    """

    system: System
    conditions: Conditions
    wanted: list[Property]
    seconds: float
    events: int | None
    interval: float | None
    sample: float | None = None
    companions: MakeCompanions | None = None
    tell: Callable[[Sequence[Companion]], Any] | None = None

    def companions_of(self, seed: int) -> Sequence[Companion]:
        """Return what stands beside the nodes in the run of a seed."""
        return () if self.companions is None else self.companions(self.system, seed)


@final
@dataclass(slots=True)
class SeedTally:
    """The run of one seed, in numbers.

    Attributes
    ----------
    seed
        Which one.
    events, sent, lost
        What happened, boot left out; messages that were sent, and those that were lost.
    virtual
        When it ended, in virtual seconds.
    violated
        The number of the property that became false, or `FAILED`.
    reached
        The `sometimes` properties that were true, by number, with the events until then.
    bound
        What ended it early.
    alarms
        Of liveness properties, by number: the spans in which they were false, counted.
    spans
        The same, one by one; of a detailed run.
    samples
        What was sampled, in order of time.
    seldom
        The numbers of the properties that were judged at intervals alone.
    befell
        The weather whose time came, and whether it ever found what it befalls.
    told
        What is to be known of the companions; see `Question`.
    """

    seed: int
    events: int = 0
    sent: int = 0
    lost: int = 0
    virtual: float = 0.0
    violated: int | None = None
    reached: dict[int, int] = field(default_factory=dict)
    bound: str | None = None
    alarms: dict[int, Alarms] = field(default_factory=dict)
    spans: dict[int, tuple[SpanRecord, ...]] = field(default_factory=dict)
    samples: list[RunSample] = field(default_factory=list)
    seldom: tuple[int, ...] = ()
    befell: dict[WeatherEvent, bool] = field(default_factory=dict)
    told: Any = None
