"""Samples of a run: what its gauges show, and how much happens, every so often."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.instruments import Instruments
from worldline.model.kinds import Kind
from worldline.runs.explain import text_of
from worldline.worlds.simulation import Simulation

GaugeValue: TypeAlias = int | float | str | None
"""The value of a gauge in a file: a number, or a text."""

_UP = {Kind.START: 1, Kind.RESTART: 1, Kind.CRASH: -1}
"""By how many the nodes that are up change."""


class RunSample(NamedTuple):
    """A run at a time.

    Attributes
    ----------
    time
        Virtual seconds; what happens just then has happened.
    events, messages, lost
        Since the sample before: events, those of boot left out; messages that were
        sent; and those that were lost.
    up
        Nodes that are up.
    gauges
        The values of the gauges, in order of declaration.
    """

    time: float
    events: int
    messages: int
    lost: int
    up: int
    gauges: tuple[GaugeValue, ...]


class _Counts(NamedTuple):
    events: int = 0
    messages: int = 0
    lost: int = 0


@final
class Sampler:
    """Takes the samples of one run.

    An event may be later than several samples are due, and has happened when one hears
    of it. So each is taken of what was known before, as soon as time has gone on.

    Parameters
    ----------
    every
        Virtual seconds between two samples; the first is at 0.
    """

    def __init__(
        self, simulation: Simulation, instruments: Instruments, every: float
    ) -> None:
        self.samples: list[RunSample] = []
        self._simulation = simulation
        self._instruments = instruments
        self._every = every
        self._now = _Counts()
        self._told = _Counts()
        self._up = 0

    def go_on(self, time: float) -> None:
        """Take the samples before `time`, to which the run has come by an event."""
        while self._due < time:
            self._take()

    def note(self, events: int) -> None:
        """Note the last event, after the gauges: the run has had so many by now."""
        self._up += _UP.get(self._simulation.event.kind, 0)
        courier = self._simulation.courier
        self._now = _Counts(events, courier.sent, courier.lost)

    def end(self, time: float) -> None:
        """Take the samples up to the end of the run."""
        while self._due <= time:
            self._take()

    @property
    def _due(self) -> float:
        # A product, since sums of a tenth go astray.
        return len(self.samples) * self._every

    def _take(self) -> None:
        now, told = self._now, self._told
        self.samples.append(
            RunSample(
                time=self._due,
                events=now.events - told.events,
                messages=now.messages - told.messages,
                lost=now.lost - told.lost,
                up=self._up,
                gauges=tuple(map(_shown, self._instruments.gauges.values())),
            )
        )
        self._told = now


def _shown(value: Any) -> GaugeValue:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str) else str(text_of(value))
