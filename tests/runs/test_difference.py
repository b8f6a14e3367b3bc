"""Where two traces part."""

from __future__ import annotations

import dataclasses

import pytest
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold

from worldline.runs.difference import first_difference
from worldline.trace.format import line_of


def test_a_trace_does_not_differ_from_itself():
    assert first_difference(both_hold(), both_hold()) is None


@pytest.mark.parametrize("variant", share(list(VARIANTS), every=4, first=2))
def test_all_steps_before_the_first_that_differs_are_equal(variant: str):
    one, other = (random_trace(VARIANTS[variant](), seed, 40) for seed in (1, 2))
    found = first_difference(one, other)
    assert found is not None
    lines = [
        {step.step: line_of(step) for step in trace.steps} for trace in (one, other)
    ]
    assert lines[0].get(found.step) != lines[1].get(found.step)
    numbers = [step.step for step in one.steps if step.step < found.step]
    assert [lines[0][n] for n in numbers] == [lines[1][n] for n in numbers]


def test_another_event_and_another_outcome_are_told_apart():
    trace = both_hold()
    other = dataclasses.replace(
        trace,
        steps=tuple(
            dataclasses.replace(step, changes={}) if step.step == 11 else step
            for step in trace.steps
        ),
    )
    found = first_difference(trace, other)
    assert found is not None
    assert (found.step, found.what) == (11, "changes")
    assert (found.here, found.other) == ("holds: False → True", "none")
    other = dataclasses.replace(trace, steps=trace.steps[:-1])
    found = first_difference(trace, other)
    assert found is not None
    assert (found.step, found.what) == (12, "event")
    assert found.here == "deliver Granted() from server at bob"
    assert found.other == "nothing: the trace has no such step"
