"""Predictions inside a simulation: at once by this machine's time, later by the virtual."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import final

from worldline.model.system import System
from worldline.model.usercode.interrupts import passed_on
from worldline.search.predicting.paths import KnownPath
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.companion import Steering
from worldline.steer.steering.forecasting import Forecaster, SnapshotForecast
from worldline.steer.steering.modes import SteeringOptions
from worldline.steer.steering.predictions import SnapshotPredictions
from worldline.steer.steering.reporting import Findings
from worldline.worlds.companions import Beside


@final
class InlinePredictor:
    """Predicts where it is asked, bounded in states, and answers after a virtual time.

    Parameters
    ----------
    latency
        Virtual seconds from a snapshot to its prediction.
    """

    def __init__(self, forecaster: Forecaster, latency: float) -> None:
        self._forecaster, self._latency = forecaster, latency

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""
        return self._forecaster.onward

    def ask(
        self,
        beside: Beside,
        snapshot: NeighbourhoodSnapshot,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Predict what may follow a snapshot."""
        with passed_on():
            for forecast in self._forecaster.forecasts(snapshot):
                if forecast.is_known:
                    answer(forecast)  # trying known paths takes no time to speak of
                else:
                    beside.later(self._latency, partial(answer, forecast))

    def hand(
        self,
        beside: Beside,
        path: KnownPath,
        snapshot: NeighbourhoodSnapshot | None,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Try a path that another node has found."""
        index = self._forecaster.onward.index[beside.me]
        with passed_on():
            forecast = self._forecaster.tried(index, path, snapshot)
        if forecast is not None:
            answer(forecast)


def inline_steering(
    system: System,
    options: SteeringOptions,
    seed: int,
    predictions: SnapshotPredictions | None = None,
    taken: Callable[[NeighbourhoodSnapshot], None] | None = None,
) -> Steering:
    """Return what stands beside the nodes of a simulation, and does what options say.

    Parameters
    ----------
    predictions
        Made with the same options, where other runs have asked for some already.
    taken
        Takes each snapshot, whatever becomes of it.
    """
    predictor: InlinePredictor | None = None
    if options.mode.predicts:
        forecaster = Forecaster(system, options, predictions)
        predictor = InlinePredictor(forecaster, options.latency)
    return Steering(system, options, predictor, Findings(seed), taken)
