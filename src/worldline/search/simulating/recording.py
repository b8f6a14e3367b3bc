"""The events of a simulated run, as evidence of what it shows."""

from __future__ import annotations

from typing import final

from worldline.model.events import Event
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.runs.start import Start
from worldline.runs.witnessed import Witnessed
from worldline.worlds.simulation import Simulation


@final
class Recording:
    """The events of a run, as they become evidence."""

    def __init__(self, system: System) -> None:
        self._boots = len(system.ids) if system.boot == "before" else 0
        self._steps: list[tuple[Event, Outcome]] = []
        self._times: list[float] = []
        self._notes: dict[int, str] = {}

    def add(
        self, event: Event, outcome: Outcome, time: float, steer: str | None = None
    ) -> None:
        """Note an event, and why it happened in the place of another if it did."""
        self._steps.append((event, outcome))
        self._times.append(time)
        if steer is not None:
            self._notes[len(self._steps) - self._boots] = steer

    def witnessed(self, simulation: Simulation, ended: float) -> Witnessed:
        """Return the run up to a time, as somebody claims it who wants it confirmed."""
        failure = simulation.world.failure
        steps, boots = self._steps, self._boots
        boot = tuple((event, outcome.choices) for event, outcome in steps[:boots])
        return Witnessed(
            start=Start(boot, (), None, failure if len(steps) <= boots else None),
            expected=steps[boots:],
            end=None if failure else simulation.world.snapshot(),
            times=tuple(self._times),
            ended=ended,
            notes=self._notes,
        )
