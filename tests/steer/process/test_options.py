"""Options of predictions come to the predictor's process as they were given."""

from __future__ import annotations

import pytest
from tests.steer import words

import worldline as wl
from worldline.steer.process.forecasts import options_of, spelt_options
from worldline.steer.steering.modes import SteeringOptions

SYSTEM = words.system()


@pytest.mark.parametrize(
    "faults",
    [
        None,
        "resets=1",
        wl.Faults(),
        wl.Faults(resets=None, deaf=1, nodes=(words.A,), break_sockets=True),
        wl.Faults(partitions=1, cuts=((words.A,),)),
    ],
)
def test_faults_are_those_that_were_given(faults: wl.Faults | str | None):
    given = SteeringOptions(max_states=7, repeat_cost=None, faults=faults)
    assert options_of(SYSTEM, spelt_options(given)) == given


@pytest.mark.parametrize("properties", [None, [], ["few_words_are_bad"]])
def test_properties_are_those_that_were_named(properties: list[str] | None):
    given = SteeringOptions(properties=properties)
    assert options_of(SYSTEM, spelt_options(given)) == given
