"""Predictions from snapshots: each state once, and all who ask are told the same."""

from __future__ import annotations

import pytest
from tests.steer.steering.holders import FIRST, SECOND, SERVER, WATCH, system

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning, start_after
from worldline.search.predicting.predictor import Predictor
from worldline.steer.steering.inline import inline_steering
from worldline.steer.steering.modes import SteeringOptions
from worldline.steer.steering.predictions import SnapshotPredictions
from worldline.worlds.checkpoint import take
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation

ALL = (SERVER, FIRST, SECOND, WATCH)
OPTIONS = SteeringOptions(max_states=200)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Beginning]:
    """Where predictors were asked to begin."""
    begun: list[Beginning] = []
    predict = Predictor.predict

    def counted(self: Predictor, begin: Beginning, *args: object, **named: object):
        begun.append(begin)
        return predict(self, begin, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Predictor, "predict", counted)
    return begun


def begun(of: wl.System, *grabs: wl.NodeId) -> Beginning:
    """The state after some have grabbed, and before the server has heard of it."""
    world = DirectWorld(of)
    for event in world.boot_events():
        world.step(event)
    for node in grabs:
        world.step(Event(Kind.TIMER, node, name="grab"))
    return Beginning([start_after(of, (), (), take(world))])


def test_what_follows_a_state_is_predicted_once(asked: list[Beginning]):
    holders = system()
    predictions = SnapshotPredictions(holders, OPTIONS)
    found = predictions.of(SERVER, begun(holders), ALL)
    assert found.failures is not None
    assert [one.action for one in found.failures] == ["filter"]
    assert found.states > 1
    times = len(asked)
    assert predictions.of(SERVER, begun(holders), ALL) is found
    assert len(asked) == times
    assert predictions.of(WATCH, begun(holders), ALL).failures != found.failures
    assert predictions.of(SERVER, begun(holders, FIRST), ALL) is not found
    assert len(asked) > times


def test_what_was_forgotten_is_found_again(asked: list[Beginning]):
    holders = system()
    predictions = SnapshotPredictions(holders, OPTIONS, most=1)
    found = predictions.of(SERVER, begun(holders), ALL)
    predictions.of(SERVER, begun(holders, FIRST), ALL)
    times = len(asked)
    again = predictions.of(SERVER, begun(holders), ALL)
    assert len(asked) > times
    assert (again.failures, again.states) == (found.failures, found.states)


def test_a_known_path_is_tried_once_from_a_state(monkeypatch: pytest.MonkeyPatch):
    holders = system()
    predictions = SnapshotPredictions(holders, OPTIONS)
    (path,) = predictions.of(SERVER, begun(holders), ALL).paths
    later = begun(holders, FIRST)
    found = predictions.again(SERVER, later, path)
    assert found is not None
    assert found.filters
    monkeypatch.delattr(
        "worldline.search.predicting.path_trials.PathTrials.fails_again"
    )
    assert predictions.again(SERVER, later, path) is found


def test_runs_that_share_predictions_are_as_others(asked: list[Beginning]):
    holders = system()
    shared = SnapshotPredictions(holders, OPTIONS)
    counts, times = [], []
    for predictions in (None, shared, shared):
        steering = inline_steering(holders, OPTIONS, 0, predictions)
        conditions = Conditions(latency=latency_of("constant 10ms"))
        simulation = Simulation(holders, conditions, 0, companions=[steering])
        with simulation.world.series:
            while simulation.advance(60.0):
                pass
        counts.append(steering.total())
        times.append(len(asked))
    assert counts[0] == counts[1] == counts[2]
    assert counts[0].blocked > 0
    assert times[0] == times[1] - times[0] > 0
    assert times[2] == times[1]
