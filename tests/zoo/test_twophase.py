"""Two-phase commit: the state counts of the TLA+ specification.

States, transitions generated and depth as TLC and Stateright report them.
"""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.zoo import twophase


@pytest.mark.parametrize(
    ("n", "states", "generated", "depth"),
    [
        (1, 12, 20, 5),
        (2, 56, 154, 8),
        (3, 288, 1_146, 11),
        (4, 1_568, 8_258, 14),
        (5, 8_832, 58_146, 17),
        pytest.param(7, 296_448, 2_744_706, 23, marks=pytest.mark.nightly),
    ],
)
def test_it_has_the_published_counts(n: int, states: int, generated: int, depth: int):
    report = wl.check(twophase.system(n=n), traces=False)
    assert (report.states, report.generated, report.depth) == (states, generated, depth)
    report.expect_holds()


def test_committing_everywhere_takes_every_manager_three_steps_and_one_decision():
    """Each prepares, is noted and commits; aborting needs one message each."""
    report = wl.check(twophase.system(n=3), traces=False)
    steps = {known.name: known.steps for known in report.properties}
    assert steps["all_commit"] == 3 * 3 + 1
    assert steps["all_abort"] == 3 + 1
