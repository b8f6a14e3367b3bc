"""What a campaign runs, and what it need not run again."""

from __future__ import annotations

from tests.shrink.test_passes import LIGHT, B, C, call, campaign, take, tell

from worldline.shrink.candidate import Candidate
from worldline.shrink.chunks import without
from worldline.shrink.matching import EXACT

LONG = [tell(B, C, "x"), take(C, B, "x"), call(C, "toggle"), *LIGHT]


def test_a_run_that_takes_the_place_of_the_best_was_tried_with_nothing():
    made = campaign(LONG)
    long, steps = made.best, made.best.steps
    assert made.attempt(without(steps, [steps[:1]]), EXACT)
    short = made.best.steps
    assert not made.attempt(short[:2], EXACT)
    tried = made.schedules
    made.best = long
    assert not made.attempt(steps[:2], EXACT)
    assert made.schedules == tried + 1


def test_a_candidate_is_run_once_and_keeps_its_number():
    made = campaign(LONG)
    steps = made.best.steps
    vain, smaller = Candidate(steps[:2], EXACT), Candidate(steps[3:], EXACT)
    assert made.first_of([vain, vain]) is None
    assert made.schedules == 1
    assert made.first_of([vain, smaller, vain]) == 1
    assert made.schedules == 2
