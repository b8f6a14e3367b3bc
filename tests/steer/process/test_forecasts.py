"""Forecasts of a process: a host knows of whom nothing was known, whatever was found."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.steer.steering.holders import FIRST, SECOND, SERVER, WATCH, system

from worldline.steer.process.answers import AnswerCodec, PredictorAnswer
from worldline.steer.process.forecasts import ProcessForecasts
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.steer.steering.modes import SteeringOptions
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation


def test_who_is_absent_is_known_where_nothing_was_found() -> None:
    holders = system()
    snapshots, taken = list[NeighbourhoodSnapshot](), list[SnapshotForecast]()
    answer = AnswerCodec(holders, ["filter"]).encode(PredictorAnswer(False, 7, ()))
    companion = Snapshots(holders, taken=snapshots.append)
    conditions = Conditions(latency=latency_of("constant 10ms"))
    simulation = Simulation(holders, conditions, 0, companions=[companion])
    with simulation.world.series:
        while simulation.advance(30.0):
            pass
    of_client = [one for one in snapshots if one.node == holders.index[FIRST]]

    def ask(who: Any, question: bytes, take: Callable[[bytes], None]) -> None:
        take(answer)

    predictor: Any = SimpleNamespace(ask=ask)
    forecasts = ProcessForecasts(holders, SteeringOptions(), predictor)
    beside: Any = SimpleNamespace(me=FIRST, later=lambda _, answered: answered())
    forecasts.ask(beside, of_client[-1], taken.append)
    (forecast,) = taken
    assert (forecast.states, forecast.findings) == (7, ())
    assert set(forecast.absent) == {SECOND.name, WATCH.name}
    assert SERVER.name not in forecast.absent
