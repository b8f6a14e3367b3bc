"""One predictor for many states: it goes on where it stood, and keeps what it knows."""

from __future__ import annotations

import pytest
from tests.search.predicting.counters import A, Counter, below, not_both, two

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning, Start, starts
from worldline.search.engines import choose
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.predictor import Predictor
from worldline.worlds.direct import DirectWorld

ENGINES = sorted({"python", choose("auto", by_cost=True).engine})


def predictor(
    *properties: wl.Property, memory: int = 256, **options: object
) -> Predictor:
    told = {"traces": False, "faults": "declared", **options}
    return Predictor(two(*properties), PredictOptions.of(**told), memory=memory)


def later(one: Predictor, steps: int) -> Beginning:
    """The state after a node has counted so often."""
    world = DirectWorld(one.onward)
    for event in world.boot_events():
        world.step(event)
    done = [
        event for event, _ in world.prepare((wl.events.call(A, Counter.up),) * steps)
    ]
    assert len(done) == steps
    return Beginning([Start((), (), world.snapshot(), None)])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_state_goes_on_to_a_higher_cost(engine: str):
    one = predictor(below(9), max_states=10, engine=engine)
    begin = Beginning(starts(one.onward))
    seen = [one.predict(begin) for _ in range(4)]
    assert [report.states for report in seen] == [10, 20, 30, 36]
    assert [report.bound for report in seen] == ["states", "states", "states", None]
    assert seen[-1].verdict is wl.Verdict.HOLDS
    whole = predictor(below(9), engine=engine).predict(begin)
    assert (whole.generated, whole.put_off) == (seen[-1].generated, seen[-1].put_off)
    assert whole.cost == seen[-1].cost


@pytest.mark.parametrize("engine", ENGINES)
def test_a_finding_is_kept_and_has_the_cost_at_which_it_was_found(engine: str):
    one = predictor(not_both, below(9), max_cost=4, repeat_cost=1, engine=engine)
    begin = Beginning(starts(one.onward))
    reports = [one.predict(begin) for _ in range(3)]
    assert [report.cost for report in reports] == [4, 8, 12]
    for report in reports:
        (found,) = report.predictions
        assert (found.property, found.cost, found.steps) == ("not_both", 3, 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_another_state_begins_anew_and_has_nothing_to_learn(engine: str):
    one = predictor(below(9), engine=engine)
    cold = one.predict(Beginning(starts(one.onward)))
    assert one._world is not None
    tables = one._world.tables
    known = len(tables.leaves)
    warm = one.predict(later(one, 2))
    assert (cold.states, warm.states) == (36, 4 * 6)
    assert (len(tables.leaves), one.anew) == (known, 1)
    other = predictor(below(9), engine=engine)
    assert other.predict(later(other, 2)).states == warm.states


@pytest.mark.parametrize("engine", ENGINES)
def test_a_prediction_with_filters_is_kept_beside_the_one_without(engine: str):
    one = predictor(below(9), max_states=10, engine=engine)
    begin = Beginning(starts(one.onward))
    only_b = EventFilter(A, Kind.CALL, "", "up")
    seen = []
    for _ in range(3):
        seen.append(one.predict(begin).states)
        seen.append(one.predict(begin, [only_b], bounds=Bounds(states=4)).states)
    assert seen == [10, 4, 20, 4, 30, 4]
    assert one.predict(begin, [only_b]).states == 6
    assert one.predict(begin).states == 36
    assert one.anew == 1


def test_tables_that_take_too_much_are_given_up():
    one = predictor(below(9), memory=-10_000)
    for steps in range(3):
        assert one.predict(later(one, steps)).states == (6 - steps) * 6
    assert one.anew == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_after_a_bound_that_cuts_a_step_it_begins_anew(engine: str):
    one = predictor(below(9), max_memory=1, engine=engine)
    begin = Beginning(starts(one.onward))
    for _ in range(2):
        report = one.predict(begin)
        assert (report.bound, report.verdict) == ("memory", wl.Verdict.UNKNOWN)


def test_who_is_down_in_one_state_comes_back_in_no_other():
    one = predictor(below(9), faults=None, max_states=50)
    up = Beginning(starts(one.onward))
    world = DirectWorld(two(below(9)).replace(faults=wl.Faults(crashes=1)))
    for event in world.boot_events():
        world.step(event)
    world.prepare((wl.events.crash(A),))
    down = Beginning([Start((), (), world.snapshot(), None)])
    said = [one.predict(begin) for begin in (up, down, up)]
    restarts = ["restarts" in report.assumptions[1] for report in said]
    assert (restarts, one.anew) == ([False, True, False], 3)
    assert "a is down, and 1 restart is left" in said[1].notes
    assert said[0].states == said[2].states
