"""The live states of CrystalBall's bugs: as far from a violation as the page says."""

from __future__ import annotations

import pytest
from benchmarks.live_starts import MOST, PAGE, STARTS, row, rows

from worldline.zoo import cross_checks

NEAR = {"randtree-cb7": 1}
"""Where the scenario has less than three events, how many."""

QUICK = ("bulletprime-cb1", "chord-cb2", "randtree-cb7")


def told() -> dict[str, str]:
    """Return the lines of the page's table by the names of the bugs."""
    page = PAGE.read_text("utf-8")
    part = page.split("<!-- live_starts.py: begin -->")[1]
    lines = part.split("<!-- live_starts.py: end -->")[0].strip().splitlines()
    assert lines[:2] == list(rows([]))
    return {line.split("`")[1]: line for line in lines[2:]}


def test_each_bug_of_crystalball_has_a_start_and_a_line_of_the_page():
    cases = cross_checks().items()
    published = [bug for bug, case in cases if case.paper == "crystalball"]
    assert list(STARTS) == list(told()) == published


def test_a_violation_is_three_events_away_wherever_the_scenario_has_them():
    for bug, line in told().items():
        cells = line.split(" | ")
        needed, with_every = int(cells[4]), int(cells[6])
        assert with_every <= needed
        assert with_every >= 3 or with_every == NEAR[bug]


@pytest.mark.parametrize(
    "bug",
    [b if b in QUICK else pytest.param(b, marks=pytest.mark.nightly) for b in STARTS],
)
def test_the_page_has_what_a_search_comes_to(bug: str):
    assert row(bug) == told()[bug]


@pytest.mark.nightly
@pytest.mark.parametrize("bug", STARTS)
def test_without_the_bug_there_is_nothing_to_find(bug: str):
    for every in (False, True):
        found = STARTS[bug].search(every=every, present=False)
        assert found.steps is None
        assert 0 < found.states <= MOST
