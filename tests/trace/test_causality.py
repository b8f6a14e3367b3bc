"""Who depends on whom: senders, clocks, causal pasts."""

from __future__ import annotations

import pytest
from tests.systems import VARIANTS
from tests.trace.runs import random_trace
from tests.trace.scenes import both_hold, granted_twice

from worldline.trace.causality import (
    causal_past,
    dependencies,
    lane_of,
    triggers,
    vector_clocks,
)


def test_a_delivery_names_the_step_that_sent_it():
    senders = {s.step: s.sent_in for s in both_hold().run if s.sent_in is not None}
    assert senders == {1: 0, 3: 2, 7: 4, 10: 2, 11: 10, 12: 7}


def test_a_message_that_was_flushed_is_not_taken_for_a_later_equal_one():
    senders = {s.step: s.sent_in for s in granted_twice().run if s.sent_in is not None}
    # What the server sent in step 10 died with the connection in step 11.
    assert senders == {2: 1, 3: 2, 6: 5, 10: 9, 15: 14, 17: 16, 18: 15, 19: 17}


def test_a_transport_error_depends_on_what_broke_the_connection():
    direct = dependencies(granted_twice())
    assert direct[7] == (5, 6)
    assert direct[12] == (9, 11)
    assert direct[13] == (11,)


def test_a_causal_past_leaves_out_what_is_concurrent():
    trace = both_hold()
    assert causal_past(trace, 11) == {-3, -2, -1, 0, 1, 2, 3, 4, 7, 10, 11}
    assert causal_past(trace, 4) == {-1, 4}
    assert causal_past(trace, 6) == {5, 6}


@pytest.mark.parametrize("variant", VARIANTS)
def test_vector_clocks_and_lamport_times_agree_with_the_causal_past(variant: str):
    trace = random_trace(VARIANTS[variant](), 11)
    clocks = vector_clocks(trace)
    for step, clock in zip(trace.steps, clocks, strict=True):
        past = causal_past(trace, step.step)
        for other, known in zip(trace.steps, clocks, strict=True):
            lane = lane_of(other)
            before = known[lane] <= clock.get(lane, 0)
            assert before == (other.step in past)
            if before and other is not step:
                assert other.lamport < step.lamport


def test_a_step_is_triggered_by_what_gave_the_occasion():
    found = triggers(granted_twice())
    assert {step: found[step] for step in (1, 4, 5, 9, 11)} == dict.fromkeys(
        (1, 4, 5, 9, 11)
    )
    assert {step: found[step] for step in (2, 6, 10, 19)} == {2: 1, 6: 5, 10: 9, 19: 17}
    assert {step: found[step] for step in (7, 12, 13)} == {7: 6, 12: 11, 13: 11}
    assert (found[8], found[14]) == (7, 12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trigger_is_in_the_causal_past(variant: str):
    trace = random_trace(VARIANTS[variant](), 12)
    for step, trigger in triggers(trace).items():
        assert trigger is None or trigger in causal_past(trace, step)
